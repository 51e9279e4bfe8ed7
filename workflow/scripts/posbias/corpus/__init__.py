"""From a Wikipedia dump to documents in length bins, each cut into three segments."""
