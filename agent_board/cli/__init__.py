"""The command line: thin commands over the same acts as the screen."""
