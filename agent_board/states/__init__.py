"""Pure rules: events → evidence → state, question, summary, explanation."""
