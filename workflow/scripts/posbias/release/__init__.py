"""Archives of measures: written once, checked whole, and all that figures need to be drawn."""
