"""What the screen shows, decided without a screen: rows, groups, filter, lines, selection."""
