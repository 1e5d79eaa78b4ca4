"""The scripted agent and its throwaway world."""
