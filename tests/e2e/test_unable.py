"""An agent that is missing or can't run: one sentence before anything is made, and a fix in it."""

import os
from pathlib import Path

import pytest

from tests.conftest import PiHome
from tests.support import acts, command
from tests.support.model_server import ModelServer, say

OLD_NODE = """#!/bin/sh
case "$1" in
--version|-v) echo v20.11.1 ;;
*) echo "SyntaxError: The requested module 'node:module' does not provide an export named 'enableCompileCache'" >&2
   exit 1 ;;
esac
"""


def _old_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "old-node"
    folder.mkdir()
    (folder / "node").write_text(OLD_NODE)
    (folder / "node").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.usefixtures("pi_home")
def test_a_node_that_is_too_old(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _old_node(tmp_path, monkeypatch)
    done = command.run("dispatch", "--agent", "pi", "Hello", cwd=project)
    assert done.code == 1
    assert "Node" in done.err
    assert "22.19" in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert acts.listed() == {}


def test_an_agent_that_is_not_here(project: Path, no_agents: Path) -> None:
    done = command.run("dispatch", "--agent", "pi", "Hello", cwd=project)
    assert done.code == 1
    assert "install" in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert acts.listed() == {}


def test_the_real_pi_is_found_with_its_version(pi_home: PiHome) -> None:
    checks = command.run("doctor", "--json").json["checks"]
    assert [check["status"] for check in checks if check["name"] == "agent pi"] == ["ok"]
    assert "1.6.0" in next(check["found"] for check in checks if check["name"] == "agent pi")


def test_pi_is_the_default_where_it_is(project: Path, pi_home: PiHome, model_server: ModelServer) -> None:
    model_server.script(say("Done."))
    done = command.ok("dispatch", "--json", "--wait", "Hello", cwd=project)
    assert acts.show(done.json["viewId"])["agent"] == "pi"
