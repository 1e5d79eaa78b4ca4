"""The board itself and what lies over it."""
