"""The screen: Textual widgets around a pure model of rows, groups and filters."""
