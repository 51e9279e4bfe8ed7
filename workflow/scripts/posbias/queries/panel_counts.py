"""What a panel read and what it left out, counted over the records of its scores."""

from collections.abc import Iterable, Mapping

import numpy as np

from posbias.corpus.segments import POSITIONS


class PanelCounts:
    """Pairs scored per member, and the tokens that it cut from them.

    members: names of the panel's members.
    """

    def __init__(self, members: Iterable[str]) -> None:
        self._scored = dict.fromkeys(members, 0)
        self._cut = {name: np.zeros(3, dtype=int) for name in self._scored}

    def add(self, record: Mapping) -> None:
        """Count a candidate's record: `position`, `raw` and `cut` by member."""
        target = POSITIONS.index(record["position"])
        for name in self._scored:
            raw = record["raw"].get(name)
            self._scored[name] += 0 if raw is None else len(raw)
            cut = record["cut"].get(name)
            if cut is not None:
                self._cut[name] += (sum(n > 0 for n in cut), sum(cut), cut[target] > 0)

    @property
    def pairs_scored(self) -> int:
        """(query, segment) pairs scored by all members."""
        return sum(self._scored.values())

    def cut(self) -> dict[str, dict[str, int]]:
        """Return per member: pairs scored, pairs cut, tokens cut, pairs of target segments cut."""
        return {
            name: {
                "pairs": pairs,
                "pairs_cut": int(self._cut[name][0]),
                "tokens_cut": int(self._cut[name][1]),
                "targets_cut": int(self._cut[name][2]),
            }
            for name, pairs in self._scored.items()
        }
