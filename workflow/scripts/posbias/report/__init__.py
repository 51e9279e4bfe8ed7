"""Tables, figures and verdicts made from measures."""
