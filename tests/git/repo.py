"""Real repositories for tests: tiny ones, in every layout, and the user's checkout in one number."""

import hashlib
import os
import subprocess
from pathlib import Path

from agent_board.git.create import create
from agent_board.git.repository import identify
from agent_board.git.worktrees import RemovalPlan, plan_removal, worktree_root

_ENV = {
    "GIT_AUTHOR_DATE": "2024-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2024-01-01T00:00:00Z",
    "GIT_OPTIONAL_LOCKS": "0",
}


def git(where: Path, *arguments: str, ok: tuple[int, ...] = (0,), given: str | None = None) -> str:
    """Run the real git as a user does."""
    line = ["git", "-c", "protocol.file.allow=always", *arguments]
    done = subprocess.run(line, cwd=where, capture_output=True, text=True, input=given, env={**os.environ, **_ENV})
    assert done.returncode in ok, f"git {arguments}: {done.stderr}"
    return done.stdout.strip()


def make_repo(path: Path, files: dict[str, str] | None = None) -> Path:
    """A repository with one commit on main."""
    path.mkdir(parents=True)
    git(path, "init", "-q", "-b", "main", "--template=")
    (path / ".git" / "info").mkdir()
    write(path, {"README.md": "one\n", "src/app.py": "print('app')\n", ".gitignore": ".env\n*.log\nbuild/\n"})
    write(path, files or {})
    git(path, "add", "-A")
    git(path, "commit", "-q", "-m", "Begin")
    return path


def write(where: Path, files: dict[str, str]) -> None:
    """Write files, folders included."""
    for name, text in files.items():
        (where / name).parent.mkdir(parents=True, exist_ok=True)
        (where / name).write_text(text)


def commit(where: Path, files: dict[str, str], message: str = "More") -> str:
    """Commit these files; the new commit's id."""
    write(where, files)
    git(where, "add", "-A")
    git(where, "commit", "-q", "-m", message)
    return git(where, "rev-parse", "HEAD")


def dirty(repo: Path) -> Path:
    """Make it a checkout that somebody is working in: staged, changed, new and ignored files."""
    write(repo, {"README.md": "one\ntwo\n", "notes.txt": "mine\n", "staged.txt": "s\n", ".env": "TOKEN=1\n"})
    git(repo, "add", "staged.txt")
    return repo


def snapshot(repo: Path) -> dict[str, str]:
    """Everything about the user's checkout that must not change: files, modes, index, status, HEAD, config of his."""
    found = {}
    for folder, folders, names in os.walk(repo):
        folders[:] = [name for name in folders if name != ".git" and not (Path(folder, name) / ".git").is_file()]
        for name in names:
            path = Path(folder, name)
            body = os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
            found[str(path.relative_to(repo))] = f"{path.lstat().st_mode:o} {hashlib.sha256(body).hexdigest()}"
    index = repo / ".git" / "index"
    if index.is_file():
        found["index"] = hashlib.sha256(index.read_bytes()).hexdigest()
    found["status"] = git(repo, "status", "--porcelain=v2", "--branch", "--untracked-files=all")
    found["head"] = (repo / ".git" / "HEAD").read_text() if (repo / ".git").is_dir() else ""
    found["stash"] = git(repo, "stash", "list")
    return found


def add_worktree(repo: Path, name: str = "task", **options) -> Path:
    """A worktree as the board makes one."""
    place = identify(str(repo))
    assert place.head is not None
    path = os.path.join(worktree_root(place), name)
    options = {"view": "v1", **options}
    warnings = create(place, path=path, branch=name, base=place.head, **options)
    assert warnings == []
    return Path(path)


def planned(worktree: Path, repo: Path | None = None) -> RemovalPlan:
    """The plan for removing it."""
    return plan_removal(str(worktree), repository=str(repo) if repo else None)


def branches(repo: Path) -> set[str]:
    """Names of the local branches."""
    return set(git(repo, "for-each-ref", "--format=%(refname:short)", "refs/heads").split())


def kinds(plan: RemovalPlan) -> set[str]:
    """In which ways something would be lost though the branch stays."""
    return {str(loss.kind) for loss in plan.lost}
