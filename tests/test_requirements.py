"""Every promise that is built has a test, and every test's promise exists."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.requirements import BARS, BUILT, CASES, REQUIREMENTS, SEED

TESTS = Path(__file__).parent


def _ids_of(decorator: ast.expr) -> Iterator[str]:
    match decorator:
        case ast.Call(func=ast.Name(id="requirement"), args=arguments):
            for argument in arguments:
                assert isinstance(argument, ast.Constant)
                assert isinstance(argument.value, str)
                yield argument.value
        case _:
            return


def _marks() -> dict[str, set[str]]:
    """Promise → the tests that carry it, read from the files without running them.

    A bar of speed is shown by its measure.
    """
    found: dict[str, set[str]] = {}
    for file in [*sorted(TESTS.rglob("test_*.py")), TESTS / "bench" / "measures.py"]:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            for decorator in node.decorator_list:
                for promise in _ids_of(decorator):
                    where = f"{file.relative_to(TESTS)}::{node.name}"
                    found.setdefault(promise, set()).add(where)
    return found


def test_the_three_tables_share_no_id() -> None:
    assert len(REQUIREMENTS) == len(SEED) + len(CASES) + len(BARS)


def test_every_built_promise_has_a_test() -> None:
    built = {name for name, promise in REQUIREMENTS.items() if promise.stands == BUILT}

    assert sorted(built - _marks().keys()) == []


def test_every_mark_names_a_promise() -> None:
    unknown = {name: tests for name, tests in _marks().items() if name not in REQUIREMENTS}

    assert unknown == {}


def test_what_is_not_built_says_why() -> None:
    for name, promise in REQUIREMENTS.items():
        assert promise.stands == BUILT or len(promise.stands) > len("not yet"), name
