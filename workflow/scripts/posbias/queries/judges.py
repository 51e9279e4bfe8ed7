"""The registry of judges: who says whether a segment answers a query (appendix B.3, Table 7).

A judge sees one query and one segment, and nothing of where the segment stands or which one the
query is aimed at. A new kind is one entry here and one block in the config.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from posbias.errors import ConfigError
from posbias.options import check_options
from posbias.queries.cloze import content_words
from posbias.queries.generators import Surroundings


class Pair(NamedTuple):
    """A query and a segment; `key` is unique among all pairs, and is not shown to the judge."""

    key: str
    query: str
    segment: str


class Verdict(NamedTuple):
    """Whether the segment answers the query; None where nothing could be read, and then why."""

    yes: bool | None
    reasoning: str | None = None
    unreadable: str | None = None


class Judge(Protocol):
    """Gives a verdict on each pair by itself."""

    name: str
    description: str  # who judged, as the table's note says it

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """Return the verdicts in the order of the pairs."""
        ...

    def summary(self) -> dict[str, Any]:
        """Return what is to be known about the judging, after it."""
        ...


class WordsJudge:
    """No language model: a segment with enough of the query's content words answers it.

    It stands in where none can be asked. Words are those of the cloze generator.
    """

    def __init__(
        self, name: str, stopwords: frozenset[str], least_share: float, min_word_chars: int = 1
    ) -> None:
        """least_share: of the query's distinct content words, above 0 and at most 1.

        min_word_chars: shorter words are not content words. Raises ConfigError for a number
        outside these.
        """
        share, chars = least_share, min_word_chars
        if not isinstance(share, int | float) or isinstance(share, bool) or not 0 < share <= 1:
            raise ConfigError(f"{name}: least_share must be in (0, 1], is {share!r}.")
        if not isinstance(chars, int) or isinstance(chars, bool) or chars < 1:
            raise ConfigError(f"{name}: min_word_chars must be a whole number, is {chars!r}.")
        self.name, self.stopwords = name, stopwords
        self.least_share, self.min_word_chars = share, chars
        self.description = (
            f"a rule in place of a language model, which says yes where at least {100 * share:g} % "
            "of the query's content words stand in the segment (and so to the target of nearly "
            "any query made of its own words)"
        )

    def _words(self, text: str) -> list[str]:
        return content_words(text, self.stopwords, self.min_word_chars)

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """Return the verdicts in the order of the pairs; none on a query without content words."""
        return [self._verdict(pair) for pair in pairs]

    def _verdict(self, pair: Pair) -> Verdict:
        wanted = self._words(pair.query)
        if not wanted:
            return Verdict(None, unreadable="the query has no content word")
        found = set(self._words(pair.segment))
        # Divided, not multiplied: 7 of 10 words are 0.7 of them, but 0.7 * 10 is more than 7.
        return Verdict(sum(word in found for word in wanted) / len(wanted) >= self.least_share)

    def summary(self) -> dict[str, Any]:
        return {"least_share": self.least_share, "min_word_chars": self.min_word_chars}


def _words(name: str, options: dict, around: Surroundings, place: str) -> Judge:
    from bm25s.stopwords import STOPWORDS_EN_PLUS

    own = {"name": name, "stopwords": frozenset(STOPWORDS_EN_PLUS)}
    check_options(place, WordsJudge, options, own=own)
    return WordsJudge(**own, **options)


def _openai(name: str, options: dict, around: Surroundings, place: str) -> Judge:
    from posbias.queries.api_answerer import make_api_answerer
    from posbias.queries.api_budget import Prices
    from posbias.queries.api_completion import Usage
    from posbias.queries.api_options import read_options
    from posbias.queries.llm_judge import LlmJudge

    allowed = options.pop("allowed_failures", 0.0)
    prices, outcomes = Prices(read_options(options, place)), Counter()
    answerer = make_api_answerer(options, _log(name, around, place), around.seed, outcomes, place)

    def dollars(used: Counter) -> float:
        tokens = (used[kind] for kind in ("input_tokens", "cached_tokens", "output_tokens"))
        return prices.dollars(Usage(*tokens))

    return LlmJudge(answerer, name, outcomes, dollars, allowed)


def _local_lm(name: str, options: dict, around: Surroundings, place: str) -> Judge:
    from posbias.queries.judging_lm import JudgingLm
    from posbias.queries.llm_judge import LlmJudge
    from posbias.queries.local_lm import LocalLm
    from posbias.queries.logged_answerer import LoggedAnswerer, Unpaid

    model = options.pop("model", None)
    if model not in around.models:
        known = ", ".join(around.models) or "none"
        raise ConfigError(f"{place}: model {model!r} is not one of those given ({known}).")
    given = {"name": model, "seed": around.seed}
    check_options(place, LocalLm, options, given=2, own=given)
    log = _log(name, around, place)
    local = JudgingLm.load(around.models[model], **given, **options)
    outcomes: Counter = Counter()
    return LlmJudge(LoggedAnswerer(Unpaid(local, local.settings), log, outcomes), name, outcomes)


def _log(name: str, around: Surroundings, place: str) -> Path:
    """Return a judge's log, which is never that of a generator of the same name: caps differ."""
    return around.log(f"audit-{name}", place)


JUDGES: dict[str, Callable[[str, dict, Surroundings, str], Judge]] = {
    "local_lm": _local_lm,
    "openai": _openai,
    "words": _words,
}


def check_judge(name: str, entry: Mapping[str, Any]) -> None:
    """Check the config entry of a judge before anything runs, as far as it needs no model.

    Raises ConfigError for an unknown kind, and for options that the kind cannot have.
    """
    place = f"config, analyses.audit.judges.{name}"
    options = dict(entry["options"])
    if entry["kind"] not in JUDGES:
        raise ConfigError(
            f"{place}: kind {entry['kind']!r} does not exist; known: {', '.join(sorted(JUDGES))}."
        )
    if entry["kind"] == "words":
        own = {"name": f"{place}.options", "stopwords": frozenset()}
        check_options(f"{place}.options", WordsJudge, options, own=own)
        WordsJudge(**own, **options)
    elif entry["kind"] == "openai":
        from posbias.queries.api_options import read_options

        options.pop("allowed_failures", None)
        read_options(options, f"{place}.options")
    elif "model" not in options:
        raise ConfigError(f"{place}.options: names no model, which it needs.")


def make_judge(name: str, entry: Mapping[str, Any], around: Surroundings) -> Judge:
    """Build the judge of a config entry `{kind, options}`.

    Raises ConfigError for an unknown kind, listing the known ones, and for what its options lack.
    """
    place = f"analyses.audit.judges.{name}"
    if entry["kind"] not in JUDGES:
        raise ConfigError(
            f"{place}: kind {entry['kind']!r} does not exist; known: {', '.join(sorted(JUDGES))}."
        )
    return JUDGES[entry["kind"]](name, dict(entry["options"]), around, f"{place}.options")
