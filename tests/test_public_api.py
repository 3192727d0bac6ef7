"""What programs may import is sorted, complete and really there."""

import ast
from importlib import import_module
from pathlib import Path

import agent_shell
from tests.requirements import requirement

PACKAGE = Path(agent_shell.__file__)


def _names_for_type_checkers() -> set[str]:
    """What the package imports under TYPE_CHECKING, so that its lazy names have types."""
    return {
        alias.asname or alias.name
        for node in ast.walk(ast.parse(PACKAGE.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("agent_shell.")
        for alias in node.names
    }


@requirement("exports:discover")
def test_the_public_names_are_sorted_and_importable() -> None:
    names = agent_shell.__all__

    assert names == sorted(names)
    for name in names:
        assert getattr(agent_shell, name) is not None


def test_every_lazy_name_is_public_and_has_a_type() -> None:
    public = set(agent_shell.__all__) - {"__version__"}

    assert public == _names_for_type_checkers()


def test_importing_the_package_imports_no_room() -> None:
    assert not [
        node
        for node in ast.parse(PACKAGE.read_text("utf-8")).body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("agent_shell.")
    ]


@requirement("exports:mcp-package")
def test_the_mcp_package_re_exports_loader_manager_and_client() -> None:
    mcp = import_module("agent_shell.mcp")

    for name in (
        "MCPManager",
        "MCPServerConnection",
        "connect_to_server",
        "discover_and_load_mcp_tools",
    ):
        assert getattr(mcp, name) is not None
