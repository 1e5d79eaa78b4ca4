"""The `agent-board` command."""


def main() -> int:
    """Run the command line; returns the exit code."""
    return 0
