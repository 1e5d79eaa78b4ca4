"""One file per coding agent: commands in, normalized events out."""
