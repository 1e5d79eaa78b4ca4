"""Capped logs: a head and two tail segments that take turns, nothing rewritten (DESIGN 4, FIELD-FAULTS 44)."""

import os
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_board.store.logs import CappedLog, segments, tail


def test_a_small_log_is_one_private_file(tmp_path: Path) -> None:
    log = CappedLog(str(tmp_path / "stdout.log"))
    log.write(b"one\n")
    log.write(b"two\n")
    log.close()
    assert (tmp_path / "stdout.log").read_bytes() == b"one\ntwo\n"
    assert os.stat(tmp_path / "stdout.log").st_mode & 0o777 == 0o600


def test_the_head_and_the_last_two_segments_stay(tmp_path: Path) -> None:
    path = str(tmp_path / "stdout.log")
    log = CappedLog(path, segment_bytes=10)
    for number in range(10):
        log.write(b"line %03d\n" % number)
    assert [os.path.basename(segment) for segment in segments(path)] == ["stdout.log", "stdout.log.8", "stdout.log.9"]
    assert (tmp_path / "stdout.log").read_bytes() == b"line 000\n"
    assert tail(path, 12) == b"08\nline 009\n"


def test_other_files_are_not_taken_for_segments(tmp_path: Path) -> None:
    for name in ("stdout.log", "stdout.log.bak", "stdout.log.1.2", "other.log.3"):
        (tmp_path / name).write_bytes(b"x")
    assert segments(str(tmp_path / "stdout.log")) == [str(tmp_path / "stdout.log")]


def test_a_log_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert segments(str(tmp_path / "none" / "x.log")) == []
    assert tail(str(tmp_path / "none" / "x.log"), 100) == b""


def test_a_refusing_disk_is_remembered_and_does_not_raise(tmp_path: Path) -> None:
    log = CappedLog(str(tmp_path / "gone" / "x.log"))
    log.write(b"lost\n")
    assert log.failed is not None


@settings(max_examples=50)
@given(st.lists(st.binary(min_size=1, max_size=40), max_size=40), st.integers(1, 300))
def test_size_is_bounded_and_the_tail_is_the_end_of_what_was_written(
    tmp_path_factory: object, pieces: list[bytes], most: int
) -> None:
    path = str(tmp_path_factory.mktemp("log") / "x.log")  # type: ignore[attr-defined]
    log = CappedLog(path, segment_bytes=32)
    for piece in pieces:
        log.write(piece)
    log.close()
    whole = b"".join(pieces)
    kept = [Path(segment).read_bytes() for segment in segments(path)]
    assert sum(map(len, kept)) <= 3 * 32
    assert whole.startswith(kept[0] if kept else b"")
    assert whole.endswith(b"".join(kept[1:]))
    if len(whole) <= 32:
        assert tail(path, most) == whole[-most:]
