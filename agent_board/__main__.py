"""`python -m agent_board` is the same as the `agent-board` command."""

from agent_board.cli.main import main

raise SystemExit(main())
