"""The parts of the board's screen, one file each."""
