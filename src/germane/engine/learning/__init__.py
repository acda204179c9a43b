"""What an index learns from clicks: models for a second stage, their versions, the gate, and drift."""
