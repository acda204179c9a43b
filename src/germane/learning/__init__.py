"""Learning from clicks: samples, candidates and their tuning, the gate, and drift."""
