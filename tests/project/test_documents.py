"""What the documents promise is what the files hold."""

import re
import tomllib

from packaging.requirements import Requirement

from tests.support.repository import ROOT, tracked

README = (ROOT / "README.md").read_text()
CI = (ROOT / ".ci" / "run").read_text()
LOCKS = ("requirements.lock", "requirements-dev.lock")

# Put together here, so that this file doesn't hold them itself.
FORBIDDEN = [
    *("pypi" + ".org", "python" + "hosted", "npmjs" + ".", "yarn" + "pkg", "debian" + ".org", "crates" + ".io"),
    *("/" + "work/", "/" + "root/", "/opt/" + "wheels", "/opt/" + "pypi"),
]


def _test_lines() -> list[str]:
    return re.findall(r"^.*&& \.venv/bin/pytest$", README, re.M)


def test_ci_runs_the_line_that_the_readme_shows() -> None:
    """`.ci/run` looks it up in the README and holds no copy that could differ."""
    (line,) = _test_lines()
    assert "grep -E '&& \\.venv/bin/pytest$' README.md" in CI
    assert line not in CI


def test_each_readme_command_is_one_line_on_python_and_git() -> None:
    (demo,) = re.findall(r"^.*&& \.venv/bin/agent-board demo$", README, re.M)
    for line in (demo, *_test_lines()):
        assert {step.split()[0] for step in line.split(" && ")} <= {
            *("python3", ".venv/bin/pip", ".venv/bin/agent-board", ".venv/bin/pytest"),
        }


def test_every_local_link_leads_somewhere() -> None:
    dead = []
    for path in ROOT.glob("*.md"):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text()):
            if not (ROOT / target).exists():
                dead.append(f"{path.name}: {target}")
    assert dead == []


def _pinned(lock: str) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9.-]+)==(\S+)", (ROOT / lock).read_text(), re.M))


def test_the_locks_fit_the_project() -> None:
    """Whoever changes a dependency makes the locks again."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = project["project"]["dependencies"] + project["dependency-groups"]["build"]
    tests = project["project"]["optional-dependencies"]["test"]
    for lock, lines in ((LOCKS[0], wanted), (LOCKS[1], wanted + tests)):
        pinned = _pinned(lock)
        for requirement in map(Requirement, lines):
            version = pinned.get(requirement.name.lower(), "")
            assert requirement.specifier.contains(version or "0"), f"{requirement} in {lock}: {version or 'nothing'}"


def test_every_pin_has_its_hashes() -> None:
    for lock in LOCKS:
        entries = re.split(r"^(?=[a-z0-9.-]+==)", (ROOT / lock).read_text(), flags=re.M)[1:]
        assert all("--hash=sha256:" in entry for entry in entries)


def test_no_machine_and_no_registry_is_named() -> None:
    """The project builds anywhere, from whatever registry the machine is set up for."""
    found = []
    for path in tracked():
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        lines = [line for line in text.splitlines() if " not in " not in line]  # a test may name what it forbids
        found += [f"{path.relative_to(ROOT)}: {word}" for word in FORBIDDEN if any(word in line for line in lines)]
    assert found == []
