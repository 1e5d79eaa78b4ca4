"""Pictures of the board, and how they are made."""
