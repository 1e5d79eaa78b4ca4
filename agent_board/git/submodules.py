"""Submodules of a new worktree: filled from what the repository has already, never from the network."""

import os
from collections.abc import Callable

from agent_board.git.call import CancelledError, GitError, git

_FILL_S = 600.0


def gitlinks(top: str) -> dict[str, str]:
    """The submodules that a checkout's index names: path → the commit that it is pinned to."""
    found = {}
    for entry in git(top, "ls-files", "--stage", "-z").fields:
        head, _, path = entry.partition("\t")
        mode, commit, _ = head.split(" ")
        if mode == "160000":
            found[path] = commit
    return found


def fill_submodules(
    top: str, common_dir: str, lock: int, cancelled: Callable[[], bool], progress: Callable[[str], None]
) -> list[str]:
    """Fill the submodules that the main checkout has, nested ones too; returns warnings about the others."""
    if not os.path.isfile(os.path.join(top, ".gitmodules")):
        return []
    names, urls, warnings = _names(top), _urls(common_dir), []
    for path, commit in gitlinks(top).items():
        if cancelled():
            raise CancelledError(f"Filling the submodules of {top} was called off.")
        name = names.get(path)
        if name is None or name not in urls:
            continue  # the user doesn't use it in his own checkout either
        store = f"{common_dir}/modules/{name}"
        if not _has(store, commit):
            warnings.append(f"The submodule {path} is empty in {top}; run there: git submodule update --init {path}")
            continue
        progress(f"filling the submodule {path}")
        try:
            _fill(top, path, (name, store, urls[name]), lock=lock, cancelled=cancelled)
        except CancelledError:
            raise
        except GitError as error:
            warnings.append(f"The submodule {path} is empty in {top} ({error.said}).")
            continue
        warnings += fill_submodules(os.path.join(top, path), store, lock, cancelled, progress)
    return warnings


def _fill(top: str, path: str, origin: tuple[str, str, str], *, lock: int, cancelled: Callable[[], bool]) -> None:
    """Clone from the main checkout's own copy, which links its objects, then name the true remote."""
    name, store, url = origin
    local = ("-c", "protocol.file.allow=always", "-c", f"submodule.{name}.url={store}")
    update = ("submodule", "update", "--init", "--checkout", "--", path)
    git(top, *local, *update, reads=False, timeout=_FILL_S, cancelled=cancelled, keep=(lock,))
    git(os.path.join(top, path), "remote", "set-url", "origin", url, reads=False)


def _has(store: str, commit: str) -> bool:
    if not os.path.isfile(f"{store}/HEAD"):
        return False
    return (
        git(
            store,
            f"--git-dir={store}",
            f"--work-tree={store}",
            "cat-file",
            "-e",
            f"{commit}^{{commit}}",
            ok=(0, 1, 128),
        ).code
        == 0
    )


def _names(top: str) -> dict[str, str]:
    """Submodule names by their paths, as .gitmodules gives them."""
    listed = git(top, "config", "-f", ".gitmodules", "-z", "--get-regexp", r"^submodule\..*\.path$", ok=(0, 1)).fields
    pairs = (entry.partition("\n") for entry in listed)
    return {path: key.removeprefix("submodule.").removesuffix(".path") for key, _, path in pairs}


def _urls(common_dir: str) -> dict[str, str]:
    """The remotes of the submodules that the user has initialised, by name."""
    listed = git(
        common_dir,
        f"--git-dir={common_dir}",
        f"--work-tree={common_dir}",
        "config",
        "-z",
        "--get-regexp",
        r"^submodule\..*\.url$",
        ok=(0, 1),
    ).fields
    pairs = (entry.partition("\n") for entry in listed)
    return {key.removeprefix("submodule.").removesuffix(".url"): url for key, _, url in pairs}
