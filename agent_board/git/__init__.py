"""Git as the board needs it: whose checkout a directory is, worktrees made and removed without losing work, changes."""
