"""Where the files of `config/` are: in the wheel, or beside the package in a checkout."""

from pathlib import Path


def default_config_folder() -> Path:
    """The folder with default.toml, mcp.schema.json and the examples."""
    package = Path(__file__).resolve().parent.parent
    in_wheel = package / "default_config"
    return in_wheel if in_wheel.is_dir() else package.parent / "config"
