"""Learning to re-rank from clicks: training, model versions, the gate that accepts a new model, and drift detection."""
