"""The files: records, paths, locks, logs, watching. Knows nothing of agents, runs or screens."""
