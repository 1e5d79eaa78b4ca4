r"""The scripted agent: a real process that acts like a coding agent, with no account, no model and no network.

    python -I -S agent.py [--session FILE] [--model NAME] [--read-only] [--attach]

The prompt is stdin. stdout carries one JSON object a line (`type` and its fields, the adapter agents/demo.py reads
them); the lines that make up the conversation are appended to the session file too, the user's before the answer.
TERM and INT end it with 143 and 130.

**Directing it.** A line of the prompt that begins with `demo:` holds steps, separated by `;`, each a verb and its
argument; further lines beginning with `demo:` go on. Seconds are divided by `$AGENT_BOARD_DEMO_SPEED` (default 1).

    speed N        seconds are divided by N from here on
    wait S         nothing for S seconds; as the first step: no activity, so the row stays queued
    until NAME     nothing until the file NAME exists in the demo's world (a name without `/`) or at that absolute path
    say TEXT       an answer, streamed; `\n` in it is a new line (`ask` is the same word for a question)
    read PATH, edit PATH, run COMMAND, test      tools that really do it; `edit` adds one line, `test` runs ./test.sh
    work S         one tool after the other for S seconds
    report completed|failed|blocked SUMMARY [| QUESTION]     the report tool
    retry N [ERROR]    N failed tries, then it goes on;   fail [ERROR]   three tries used up, ends with that error
    cut [TEXT]     an answer cut by the length limit, the end
    permit TEXT [| CHOICE | CHOICE]   opens a request;   close [denied]   closes it
    refuse [TEXT]  (first step) words on stderr and exit 1 before the prompt is taken
    crash [TEXT]   words on stderr and exit 1;   exit N   ends with N and no settled line;   die   kills itself (KILL)
    settle         says that it has ended, and goes on with the steps
    stubborn       TERM and INT are ignored from here on;   hang   stays until it is ended
    spawn S [setsid]   a child that lives S seconds (not divided) and outlives the agent (its pid: the tool's result)
    flood KB       many lines of output;   line KB   one line that long

`demo: wait 1; say Looking.; edit notes.md; test; ask Keep the old name or drop it?` is a whole script. Without
directives the text chooses one, always the same for the same text: it reads, edits (only inside the demo's world, so
nobody's own files are touched), tests and ends with a report, a plain answer or, for a first prompt, now and then a
question; a reply goes on to completion.

Standard library only, and little of it: it starts as often as tests do.
"""

import json
import os
import signal
import sys
import time

if not __package__:  # started by path, isolated: the interpreter knows nothing of the package
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from agent_board.demo.channel import Channel, Terminal, now_ms
from agent_board.demo.script import (
    SCRIPTS,
    SPEED,
    WORLD,
    Step,
    chosen,
    deserted,
    directives,
    files_here,
    toggle_line,
    topic,
)

TOOLS = ("read", "edit", "run", "test", "work", "report")
MODEL = "demo-1"
FAILURE = "429 quota exhausted, resets at 18:00"


class End(Exception):
    """The script is over, with this exit code; `settled` tells whether the agent says so itself."""

    def __init__(self, code: int, settled: bool = False) -> None:
        self.code = code
        self.settled = settled


class Player:
    """Plays steps. Each `do_` method is a verb of the module's text."""

    child_pid: int | None = None
    """The command that is running, in a group of its own."""

    def __init__(self, channel: Channel, prompt: str, *, model: str, read_only: bool, speed: float) -> None:
        self.channel = channel
        self.prompt = prompt
        self.model = model
        self.read_only = read_only
        self.speed = speed
        self.world = os.environ.get(WORLD)
        self.in_world = bool(self.world) and os.getcwd().startswith(os.path.realpath(self.world or "/") + os.sep)
        self.calls = 0
        self.requests: list[str] = []
        self.rest: list[Step] = []
        self.settled = False

    def steps(self) -> list[Step]:
        """What to play: written in the prompt, known to the world, or chosen by the text."""
        written = directives(self.prompt)
        if written is None and self.world:
            try:
                with open(os.path.join(self.world, SCRIPTS), encoding="utf-8") as file:
                    written = directives(json.load(file).get(self.prompt.strip(), ""))
            except (OSError, ValueError):
                written = None
        if written is None:
            return chosen(self.prompt, self.channel.turns, self.in_world and not self.read_only)
        return written

    def play(self, steps: list[Step]) -> int:
        """Take the prompt, do the steps, say that it has ended; returns the exit code."""
        if steps and steps[0][0] == "refuse":
            sys.stderr.write((steps[0][1] or "demo agent: not logged in") + "\n")
            return 1
        if not self.channel.turns:
            self.channel.send("session", version=1, id=self.channel.session_id, cwd=os.getcwd(), at=now_ms())
        else:
            self.channel.show("", {}, json.dumps({"type": "session", "id": self.channel.session_id}).encode() + b"\n")
        self.channel.send("prompt", text=self.prompt, at=now_ms())
        self.channel.turns += 1
        code = 0
        try:
            for index, (verb, argument) in enumerate(steps):
                self.rest = steps[index + 1 :]
                self.step(verb, argument)
        except End as end:
            if not end.settled:
                return end.code
            code = end.code
        if not self.settled:
            self.channel.send("settled")
        return code

    def step(self, verb: str, argument: str) -> None:
        """Do one step. Raises End when it is the last, or makes no sense."""
        method = getattr(self, f"do_{verb}", None)
        if method is None:
            raise End(self.broken(f"demo agent: unknown step “{verb}”"))
        try:
            method(argument)
        except ValueError:
            raise End(self.broken(f"demo agent: {verb} can't use “{argument}”")) from None

    # ---- time

    def nap(self, seconds: float) -> None:
        """Wait in small pieces; the agent of a world that nobody owns any more ends by itself."""
        until = time.monotonic() + seconds / self.speed
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(left, 0.5))
            if self.world and left > 0.5 and deserted(self.world):
                raise End(1)

    def do_wait(self, argument: str) -> None:
        """Nothing for a while."""
        self.nap(float(argument))

    def do_speed(self, argument: str) -> None:
        """Go faster or slower."""
        self.speed = float(argument)

    def do_until(self, argument: str) -> None:
        """Nothing until a file is there."""
        path = os.path.join(self.world or "/", argument)
        turn = 0
        while not os.path.exists(path):
            time.sleep(0.02)
            turn += 1
            if self.world and turn % 25 == 0 and deserted(self.world):
                raise End(1)

    def do_hang(self, _: str) -> None:
        """Stay."""
        while True:
            self.nap(60 * self.speed)

    # ---- words

    def answer(self, text: str, stop: str, error: str | None = None) -> None:
        """Stream an answer and send it whole, with what it cost."""
        if not error:
            self.channel.send("answer-start")
        words = text.replace("\\n", "\n").split(" ")
        size = max(1, len(words) // 12)
        for start in range(0, len(words) if text else 0, size):
            self.channel.send("delta", text=" ".join(words[start : start + size]) + " ")
            self.nap(0.08)
        tokens = 1800 + 7 * len(self.prompt) % 900 + 640 * self.calls
        usage = {"input": tokens, "output": 12 + 3 * len(words), "cacheRead": tokens // 3 * self.calls, "cacheWrite": 0}
        cost = round((usage["input"] * 3 + usage["output"] * 15 + usage["cacheRead"] * 0.3) / 1e6, 6)
        self.channel.send(
            "answer",
            text=" ".join(words),
            stop=stop,
            error=error,
            model=self.model,
            usage={**usage, "costUsd": cost},
            at=now_ms(),
        )

    def do_say(self, argument: str) -> None:
        """An answer; it ends for a tool if one follows."""
        self.answer(argument, "tool" if any(verb in TOOLS for verb, _ in self.rest) else "stop")

    do_ask = do_say

    def do_cut(self, argument: str) -> None:
        """An answer that runs into the length limit."""
        self.answer(argument or "The first thing to change is the way in which the", "length")
        raise End(0, settled=True)

    def do_retry(self, argument: str) -> None:
        """Failed tries; the next one succeeds."""
        count, _, error = argument.partition(" ")
        self.tries(int(count or 1), error or "503 overloaded")
        self.channel.send("retry-end", ok=True)

    def tries(self, count: int, error: str) -> None:
        """Announce tries, each a little later."""
        for attempt in range(1, count + 1):
            self.channel.send("retry", attempt=attempt, most=3, error=error, delayMs=700 * attempt)
            self.nap(0.7 * attempt)

    def do_fail(self, argument: str) -> None:
        """All tries used up."""
        error = argument or FAILURE
        self.tries(3, error)
        self.channel.send("retry-end", ok=False, error=error)
        self.answer("", "error", error)
        raise End(1, settled=True)

    # ---- tools

    def tool(self, name: str, target: str | None) -> str:
        """Announce a call and return its id."""
        self.calls += 1
        call = f"call-{self.channel.turns}-{self.calls}"
        self.channel.send("tool", id=call, name=name, target=target, at=now_ms())
        return call

    def tool_end(self, call: str, name: str, result: str, is_error: bool = False) -> None:
        """Say what came of it."""
        self.channel.send("tool-end", id=call, name=name, error=is_error, result=result, at=now_ms())

    def do_read(self, argument: str) -> None:
        """Read a file."""
        call = self.tool("read", argument)
        self.nap(0.5)
        try:
            with open(argument, encoding="utf-8", errors="replace") as file:
                self.tool_end(call, "read", counted(len(file.readlines()), "line"))
        except OSError as error:
            self.tool_end(call, "read", f"{argument}: {error.strerror}", is_error=True)

    def do_edit(self, argument: str) -> None:
        """Add one line to a file below the directory worked in, or take it away again."""
        self.edit(argument, topic(self.prompt))

    def edit(self, argument: str, text: str) -> None:
        """The same with any text."""
        call = self.tool("edit", argument)
        self.nap(0.8)
        inside = os.path.realpath(argument).startswith(os.getcwd() + os.sep)
        if self.read_only or not inside:
            why = "writing is off in a read-only task" if self.read_only else f"{argument} is outside of the directory"
            return self.tool_end(call, "edit", why, is_error=True)
        try:
            result = toggle_line(argument, text)
        except OSError as error:
            return self.tool_end(call, "edit", f"{argument}: {error.strerror}", is_error=True)
        return self.tool_end(call, "edit", result)

    def do_run(self, argument: str) -> None:
        """Run a command in a shell."""
        self.run_command(argument, argument)

    def run_command(self, shown: str, command: str) -> None:
        """Run `command` in a group of its own, so that its end takes all of it along."""
        import subprocess

        call = self.tool("bash", shown)
        self.nap(0.3)
        process = subprocess.Popen(
            ["/bin/sh", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        Player.child_pid = process.pid
        output = process.communicate()[0].decode("utf-8", "replace").strip()
        Player.child_pid = None
        self.tool_end(call, "bash", output[-400:], is_error=process.returncode != 0)

    def do_test(self, _: str) -> None:
        """Run the directory's own test."""
        command = "./test.sh" if os.path.exists("test.sh") else "true"
        self.run_command(command, f"sleep {0.9 / self.speed:.2f} && {command}")

    def do_work(self, argument: str) -> None:
        """One tool after the other for a while. Its edits are tried out and taken back."""
        until = time.monotonic() + float(argument) / self.speed
        writes = self.in_world and not self.read_only
        names = files_here(writes)
        turn = 0
        while time.monotonic() < until:
            name = names[turn // 4 % len(names)]
            if turn % 2:
                self.do_test(name)
            elif writes:
                self.edit(name, f"{topic(self.prompt)}: first try")
            else:
                self.do_read(name)
            self.nap(0.6)
            turn += 1
        if writes and turn % 4 in (1, 2):
            self.edit(names[turn // 4 % len(names)], f"{topic(self.prompt)}: first try")

    def do_report(self, argument: str) -> None:
        """Call the report tool."""
        status, _, rest = argument.partition(" ")
        summary, _, question = rest.partition("|")
        call = self.tool("report", status)
        self.nap(0.2)
        self.channel.send("report", status=status, summary=summary.strip(), question=question.strip() or None)
        self.tool_end(call, "report", "noted")

    def do_permit(self, argument: str) -> None:
        """Ask for something that only the user can allow."""
        text, *choices = (part.strip() for part in argument.split("|"))
        self.requests.append(f"request-{self.channel.turns}-{len(self.requests) + 1}")
        kind = "choice" if choices else "permission"
        self.channel.send("request", id=self.requests[-1], kind=kind, text=text, choices=choices)

    def do_close(self, argument: str) -> None:
        """The oldest open request is settled."""
        self.channel.send("request-end", id=self.requests.pop(0), denied=argument == "denied")

    # ---- endings and trouble

    def broken(self, text: str) -> int:
        """Last words on stderr; the exit code that goes with them."""
        sys.stderr.write(text + "\n")
        return 1

    def do_crash(self, argument: str) -> None:
        """Break down."""
        raise End(self.broken(argument or "demo agent: unexpected end of input"))

    def do_exit(self, argument: str) -> None:
        """End at once."""
        raise End(int(argument or 0))

    def do_die(self, _: str) -> None:
        """End as if the system had run out of memory."""
        os.kill(os.getpid(), signal.SIGKILL)

    def do_settle(self, _: str) -> None:
        """Say that the run has ended."""
        self.channel.send("settled")
        self.settled = True

    def do_stubborn(self, _: str) -> None:
        """Deaf from here on."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def do_spawn(self, argument: str) -> None:
        """Leave a child behind."""
        import subprocess

        seconds, _, how = argument.partition(" ")
        null = subprocess.DEVNULL
        call = self.tool("bash", f"sleep {seconds} &")
        child = subprocess.Popen(
            ["sleep", seconds], stdin=null, stdout=null, stderr=null, start_new_session=how == "setsid"
        )
        self.tool_end(call, "bash", str(child.pid))

    def do_flood(self, argument: str) -> None:
        """Many lines."""
        text = "The quick brown fox jumps over the lazy dog. " * 22
        for _ in range(int(argument)):
            self.channel.send("delta", text=text)

    def do_line(self, argument: str) -> None:
        """One very long line."""
        call = self.tool("read", "large.json")
        self.tool_end(call, "read", "x" * (int(argument) * 1024))


def counted(number: int, noun: str) -> str:
    """1 line, 2 lines."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def chat(options: dict[str, str]) -> int:
    """The interactive form: one line is one prompt, an empty line or the end of input leaves."""
    channel = Terminal(options.get("session"))
    sys.stdout.write(
        f"demo agent, session {channel.session_id}, {counted(channel.turns, 'prompt')} so far. Empty line: leave.\n"
    )
    while True:
        sys.stdout.write("> ")
        sys.stdout.flush()
        try:
            prompt = sys.stdin.readline()
        except OSError:  # the terminal was taken away
            return 1
        if not prompt.strip():
            return 0
        player = make_player(channel, prompt.rstrip("\n"), options)
        player.play(player.steps())


def make_player(channel: Channel, prompt: str, options: dict[str, str]) -> Player:
    """A player as the options and the environment say."""
    speed = float(os.environ.get(SPEED) or 1)
    model = options.get("model") or MODEL
    return Player(channel, prompt, model=model, read_only="read-only" in options, speed=max(speed, 0.01))


def leave(number: int, _: object) -> None:
    """End when told to, with the command that is running."""
    if Player.child_pid:
        os.killpg(Player.child_pid, signal.SIGTERM)
    os._exit(128 + number)


def main(arguments: list[str]) -> int:
    """Read the options and the prompt, play; returns the exit code."""
    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGINT, leave)
    options: dict[str, str] = {}
    rest = iter(arguments)
    for argument in rest:
        name = argument.removeprefix("--")
        if name in ("session", "model"):
            options[name] = next(rest, "")
        elif name in ("read-only", "attach"):
            options[name] = ""
        else:
            sys.stderr.write(f"demo agent: unknown option {argument}\n")
            return 2
    if "attach" in options:
        return chat(options)
    prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
    player = make_player(Channel(options.get("session")), prompt, options)
    return player.play(player.steps())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
