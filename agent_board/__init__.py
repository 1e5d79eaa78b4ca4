"""One screen for every background coding agent on this machine."""

__version__ = "0.1.0"
