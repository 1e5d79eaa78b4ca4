"""The settings: defaults without a file, and one sentence naming file and key when something is wrong."""

from pathlib import Path

import pytest

from agent_board.config import Settings, config_path, load_settings
from agent_board.errors import UsageError


@pytest.fixture
def file(home: Path) -> Path:
    path = Path(config_path())
    path.parent.mkdir(parents=True)
    return path


def test_the_file_is_where_the_desktop_says(monkeypatch, home: Path):
    assert config_path() == str(home / ".config/agent-board/config.toml")
    assert config_path({"HOME": "x"}).endswith("/.config/agent-board/config.toml")


def test_without_a_file_the_defaults_count(home: Path):
    assert load_settings() == Settings()
    options = Settings().options("/tmp")
    assert (options.default_agent, options.agents) == (None, {})


def test_everything_can_be_set(file: Path):
    file.write_text(
        'agent = "pi"\nglyphs = "ascii"\ntheme = "nord"\nmouse = false\nspinner = false\n'
        '[agents.pi]\nwrap = ["direnv", "exec", "."]\nstall_after_s = 60\n'
    )
    settings = load_settings()
    assert (settings.glyphs, settings.theme, settings.mouse, settings.spinner) == ("ascii", "nord", False, False)
    options = settings.options("/tmp")
    assert options.default_agent == "pi"
    assert options.agents["pi"].wrap == ("direnv", "exec", ".")
    assert options.agents["pi"].stall_after_s == 60


def test_the_deepest_directory_counts(file: Path, home: Path):
    (home / "src/api/deep").mkdir(parents=True)
    file.write_text(
        '[agents.pi]\nwrap = ["all"]\nstall_after_s = 5\nmode = "slow"\n'
        '[agents.pi.directories."~/src"]\nwrap = ["src"]\n'
        '[agents.pi.directories."~/src/api"]\nwrap = []\nstall_after_s = 7\nmode = "fast"\n'
    )
    settings = load_settings()

    def at(place: str) -> tuple[tuple[str, ...], float | None, str | None]:
        found = settings.options(str(home / place)).agents["pi"]
        return found.wrap, found.stall_after_s, found.mode

    assert at("") == (("all",), 5, "slow")
    assert at("src") == (("src",), 5, "slow")
    assert at("src/apiary") == (("src",), 5, "slow")
    assert at("src/api/deep") == ((), 7, "fast")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('colour = "red"', "colour"),
        ("[agents.pi]\nwarp = []", "agents.pi.warp"),
        ('mouse = "no"', "mouse"),
        ("mouse = 1", "mouse"),
        ('glyphs = "emoji"', "glyphs"),
        ('[agents.pi]\nwrap = "direnv exec ."', "agents.pi.wrap"),
        ("[agents.pi]\nstall_after_s = 0", "stall_after_s"),
        ("[agents.pi]\nstall_after_s = nan", "stall_after_s"),
        ("agent = 5", "agent"),
        ("agent", "not TOML"),
        ("x = '\udcff'", "utf-8"),
    ],
)
def test_what_is_wrong_is_one_sentence(file: Path, text: str, named: str):
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(UsageError) as raised:
        load_settings()
    sentence = str(raised.value)
    assert str(file) in sentence
    assert named in sentence
    assert "\n" not in sentence


def test_a_file_that_can_not_be_read(file: Path):
    file.mkdir()
    with pytest.raises(UsageError, match="can't be read"):
        load_settings()
