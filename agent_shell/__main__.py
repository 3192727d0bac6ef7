"""`python -m agent_shell` is the same program as `agent-shell`."""

import sys

from agent_shell.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
