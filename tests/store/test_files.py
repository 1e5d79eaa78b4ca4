"""Small files: replaced atomically, and read with three answers that are never mixed (DESIGN 4, AB-037, AB-095)."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_board.errors import BoardError
from agent_board.store.files import (
    MISSING,
    Unreadable,
    disk_errors,
    keep_unreadable,
    parse_json,
    read_json,
    write_bytes,
    write_json,
)


def test_a_written_object_comes_back_and_is_private(tmp_path: Path) -> None:
    path = str(tmp_path / "meta.json")
    write_json(path, {"version": 1, "name": "日本 \ud800 \u2028"}, sync=True)
    assert read_json(path) == {"version": 1, "name": "日本 \ud800 \u2028"}
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert sorted(os.listdir(tmp_path)) == ["home", "meta.json"]


def test_nothing_there_is_missing_also_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert read_json(str(tmp_path / "gone.json")) == MISSING
    assert read_json(str(tmp_path / "file" / "gone.json")) == MISSING


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b'{"version": 1, "na', "is torn or not JSON"),
        (b"\xff\xfe", "is torn or not JSON"),
        (b"[" * 100_000, "is torn or not JSON"),
        (b"[1]", "is not a JSON object"),
        (b'{"name": "x"}', "has no version"),
        (b'{"version": "1"}', "has no version"),
    ],
)
def test_what_cannot_be_understood_is_unreadable_never_missing(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "state.json"
    path.write_bytes(content)
    assert read_json(str(path)) == Unreadable(why)
    assert path.read_bytes() == content


def test_a_newer_version_is_told_apart() -> None:
    found = parse_json(b'{"version": 99}')
    assert isinstance(found, Unreadable)
    assert found.newer


def test_a_directory_in_place_of_a_file_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "meta.json").mkdir()
    assert isinstance(read_json(str(tmp_path / "meta.json")), Unreadable)


def test_unreadable_bytes_are_kept_beside(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_bytes(b"{torn")
    kept = keep_unreadable(str(path))
    assert Path(kept).read_bytes() == b"{torn"
    assert Path(kept).name.startswith("state.json.unreadable-")
    assert not path.exists()


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path: Path) -> None:
    """The process may write 10 bytes to a file and no more, as on a full disk."""
    path = tmp_path / "state.json"
    path.write_text("old")
    script = (
        "import resource, signal, sys\n"
        "from agent_board.store.files import write_bytes\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))\n"
        "try:\n    write_bytes(sys.argv[1], b'x' * 100, sync=True)\n"
        "except OSError as error:\n    print(error.errno)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip()
    assert path.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["home", "state.json"]


def test_a_reader_never_sees_half_a_file(tmp_path: Path) -> None:
    """A writer killed at any moment leaves the old or the new object (invariant 11)."""
    path = str(tmp_path / "state.json")
    write_json(path, {"version": 1, "n": 0, "pad": "x" * 50_000})
    script = (
        "import itertools, sys\n"
        "from agent_board.store.files import write_json\n"
        "for n in itertools.count():\n"
        "    write_json(sys.argv[1], {'version': 1, 'n': n, 'pad': 'x' * 50_000})\n"
        "    if n == 0: print('going', flush=True)\n"
    )
    writer = subprocess.Popen([sys.executable, "-c", script, path], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    writer.stdout.readline()
    for _ in range(300):
        found = read_json(path)
        assert isinstance(found, dict)
        assert len(found["pad"]) == 50_000
    writer.kill()
    writer.communicate()
    assert isinstance(read_json(path), dict)


def test_disk_errors_become_one_sentence() -> None:
    with (
        pytest.raises(BoardError, match=r"Can't save: No such file or directory \(/nowhere/x\)\."),
        disk_errors("save"),
    ):
        write_bytes("/nowhere/x", b"")


@given(st.binary(max_size=200))
def test_parsing_never_raises(data: bytes) -> None:
    found = parse_json(data)
    assert isinstance(found, Unreadable) or found["version"] <= 1


@given(st.dictionaries(st.text(max_size=8), st.integers() | st.text(max_size=20), max_size=6))
def test_any_object_survives_a_round_trip(tmp_path_factory: pytest.TempPathFactory, value: dict[str, object]) -> None:
    path = str(tmp_path_factory.mktemp("round") / "x.json")
    whole = {**value, "version": 1}
    write_json(path, whole)
    assert read_json(path) == json.loads(json.dumps(whole))
