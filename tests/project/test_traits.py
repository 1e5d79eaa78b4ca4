"""Sizes and manners of the code, counted: what grows past them must be cut in two, not excused."""

import ast
from pathlib import Path

import pytest

from tests.support.repository import ROOT, tracked

PRODUCT = [
    path
    for path in tracked()
    if path.suffix == ".py" and path.relative_to(ROOT).parts[0] in ("agent_board", "runner", "screenshots")
]
TESTS = [path for path in tracked() if path.suffix == ".py" and path.is_relative_to(ROOT / "tests")]
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _size(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _nodes() -> list[tuple[str, ast.AST]]:
    return [(_name(path), node) for path in PRODUCT for node in ast.walk(ast.parse(path.read_text()))]


NODES = _nodes()


@pytest.mark.parametrize("path", PRODUCT + TESTS, ids=_name)
def test_a_file_has_at_most_500_lines(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 500


def test_a_class_has_at_most_400_lines() -> None:
    assert [(where, n.name) for where, n in NODES if isinstance(n, ast.ClassDef) and _size(n) > 400] == []


def test_a_function_has_at_most_50_lines_and_nearly_all_have_30() -> None:
    functions = [(where, n) for where, n in NODES if isinstance(n, FUNCTION)]
    assert [(where, n.name) for where, n in functions if _size(n) > 50] == []
    sizes = sorted(_size(n) for _, n in functions)
    assert sizes[int(len(sizes) * 0.95)] <= 30


def test_everything_public_says_what_it_is_for() -> None:
    bare = []
    for path in PRODUCT:
        tree = ast.parse(path.read_text())
        bare += [f"{_name(path)}:{line}" for line in _undocumented(tree)]
    assert bare == []


def _undocumented(node: ast.Module | ast.ClassDef) -> list[int]:
    lines = [] if ast.get_docstring(node) or _is_private(node) else [getattr(node, "lineno", 1)]
    for child in node.body:
        if isinstance(child, ast.ClassDef) and not _is_private(child):
            lines += _undocumented(child)
        elif isinstance(child, FUNCTION) and not _is_private(child) and not _inherits(child):
            lines += [] if ast.get_docstring(child) else [child.lineno]
    return lines


def _is_private(node: ast.AST) -> bool:
    return getattr(node, "name", "").startswith("_")


def _inherits(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """An override or a second form of a function has its text where it was first written."""
    return any(ast.unparse(d).split(".")[-1] in ("override", "overload", "setter") for d in node.decorator_list)


def test_everything_is_annotated() -> None:
    bare = []
    for where, node in NODES:
        if isinstance(node, FUNCTION):
            arguments = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
            missing = [a.arg for a in arguments if a.annotation is None and a.arg not in ("self", "cls")]
            if missing or node.returns is None:
                bare.append(f"{where}:{node.lineno}")
    assert bare == []


def test_a_broad_except_is_rare() -> None:
    broad = [
        f"{where}:{node.lineno}"
        for where, node in NODES
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or ast.unparse(node.type) in ("Exception", "BaseException"))
        and not any(isinstance(step, ast.Raise) for step in node.body)
    ]
    assert len(broad) <= 3, broad


def test_the_package_itself_holds_the_version_only() -> None:
    """Whatever stands there would be paid for by every start of the runner."""
    body = ast.parse((ROOT / "agent_board" / "__init__.py").read_text()).body
    assert [type(statement) for statement in body] == [ast.Expr, ast.Assign]
    assert ast.unparse(body[1]).startswith("__version__ = ")
