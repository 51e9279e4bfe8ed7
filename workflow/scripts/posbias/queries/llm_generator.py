"""Queries by a language model in two stages (retriever study, section 3.1.2 and appendix A).

Stage 1 chooses once a document who asks, how hard and how long; stage 2 writes one query for each
of its segments with that choice. A document whose choice cannot be read is dropped, as is a query
whose reply cannot be read; every loss is counted by its reason.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from posbias.corpus.segments import POSITIONS, Segment, segments_of
from posbias.errors import ConfigError, DataError
from posbias.queries.answer_place import place_of_answer
from posbias.queries.candidates import Candidate, length_class
from posbias.queries.chat import Answerer, ChatAnswer, ChatRequest
from posbias.queries.passing_failures import allowed_share, check_failures
from posbias.queries.personas import PersonaChoices
from posbias.queries.prompts import (
    CHOOSING,
    Setting,
    prompt_hashes,
    query_prompt,
    setting_prompt,
)
from posbias.queries.reply import UnreadableReply, read_query, read_setting

STAGES = ("stage_1", "stage_2")
COUNTED = ("calls", "input_tokens", "cached_tokens", "output_tokens")


class Choice(NamedTuple):
    """What stage 1 decides on: a document and the personas near it."""

    document: dict
    personas: list[str]

    @property
    def key(self) -> str:
        return f"{self.document['doc_id']}|{CHOOSING}"

    def request(self) -> ChatRequest:
        return ChatRequest(self.key, setting_prompt(self.document["text"], self.personas))


class Aim(NamedTuple):
    """What stage 2 asks for: a query of that setting, about that segment of the document."""

    document: dict
    segment: Segment
    setting: Setting

    @property
    def key(self) -> str:
        return f"{self.document['doc_id']}|{self.segment.position}"

    def request(self) -> ChatRequest:
        text, segment = self.document["text"], self.segment
        prompt = query_prompt(
            text, text[segment.start : segment.end], segment.position, self.setting
        )
        return ChatRequest(self.key, prompt)


def aims_of(document: dict, setting: Setting) -> list[Aim]:
    """Return what stage 2 asks for about one document, by position."""
    segments = segments_of(document["doc_id"], document["text"])
    return [Aim(document, segment, setting) for segment in segments]


class Requests(Sequence[ChatRequest]):
    """Requests whose prompts are put together when they are looked at, and not kept."""

    def __init__(self, subjects: Sequence[Choice | Aim]) -> None:
        self.subjects = subjects

    def __len__(self) -> int:
        return len(self.subjects)

    def __getitem__(self, place: int) -> ChatRequest:
        return self.subjects[place].request()


class LlmGenerator:
    """Asks an answerer for one query a segment, a number of documents at a time."""

    def __init__(
        self,
        answerer: Answerer,
        personas: PersonaChoices,
        name: str,
        outcomes: Counter,
        dollars: Callable[[Counter], float] = lambda used: 0.0,
        documents_at_once: int = 1000,
        allowed_failures: float = 0.0,
    ) -> None:
        """name: of the generator in its candidates; outcomes: the answerer's own counts.

        dollars: the price of calls by their tokens; documents_at_once: whose texts and answers
        are held together: a provider that takes whole batches needs many, memory grows with it;
        allowed_failures: share of the requests, 0 to 1, that may end by faults which pass, such as
        timeouts, and be dropped; more of them end the run once all others were tried.
        """
        at_once = documents_at_once
        if not isinstance(at_once, int) or isinstance(at_once, bool) or at_once < 1:
            raise ConfigError(f"{name}: documents_at_once must be a whole number, is {at_once!r}.")
        self.answerer, self.personas, self.name = answerer, personas, name
        self.outcomes, self.dollars, self.documents_at_once = outcomes, dollars, at_once
        self.allowed_failures = allowed_share(name, allowed_failures)
        self.last_failure = ""
        self.failures: Counter = Counter()
        self.usage: dict[str, Counter] = {stage: Counter() for stage in STAGES}
        self.finishes: dict[str, Counter] = {stage: Counter() for stage in STAGES}
        self.places: dict[str, Counter] = {position: Counter() for position in POSITIONS}
        self.lengths: dict[str, Counter] = defaultdict(Counter)
        self.difficulties: Counter = Counter()
        self.characters: set[str] = set()
        self.without_reasoning = 0

    def generate(self, documents: Iterable[dict], dropped: Counter) -> Iterator[Candidate]:
        """Yield candidates in the order of documents and positions; count in `dropped` the rest.

        A query that repeats an earlier one of its document, but for case and spaces, is dropped.
        Raises DataError if the personas are not those of the documents, or the answerer's answers
        not those of its requests; PosbiasError at the end if more requests than allowed ended by
        a fault that passes: their queries would be missing for good.
        """
        pairs = self.personas.follow(documents)
        while chunk := [Choice(*pair) for pair in islice(pairs, self.documents_at_once)]:
            yield from self._queries(self._aims(chunk, dropped), dropped)
        asked = sum(used["calls"] for used in self.usage.values())
        check_failures(self.name, self.failures, asked, self.allowed_failures, self.last_failure)

    def _aims(self, chunk: Sequence[Choice], dropped: Counter) -> list[Aim]:
        """Return what there is to ask for after stage 1."""
        aims = []
        for choice, answer in zip(chunk, self._ask("stage_1", chunk), strict=True):
            try:
                setting = read_setting(answer, choice.personas)
            except UnreadableReply as reason:
                dropped[f"document: {reason}"] += 1
                continue
            self.difficulties[setting.difficulty] += 1
            self.characters.add(setting.persona)
            aims += aims_of(choice.document, setting)
        return aims

    def _queries(self, aims: Sequence[Aim], dropped: Counter) -> Iterator[Candidate]:
        seen: dict[str, set[str]] = defaultdict(set)
        for (document, segment, setting), answer in zip(
            aims, self._ask("stage_2", aims), strict=True
        ):
            try:
                reply = read_query(answer)
            except UnreadableReply as reason:
                dropped[f"{segment.position} query: {reason}"] += 1
                continue
            if reply.query.casefold() in seen[segment.doc_id]:
                dropped[f"{segment.position} query: repeated"] += 1
                continue
            seen[segment.doc_id].add(reply.query.casefold())
            place = place_of_answer(document["text"], segment.start, segment.end, reply.answer)
            self.places[segment.position][place.kind] += 1
            self.lengths[setting.length][length_class(reply.query)] += 1
            self.without_reasoning += reply.reasoning is None
            yield Candidate(
                query_id=f"{segment.doc_id}-{segment.position}-0",
                doc_id=segment.doc_id,
                position=segment.position,
                bin=document["bin"],
                query=reply.query,
                answer=reply.answer,
                answer_start=place.start,
                answer_end=place.end,
                persona=setting.persona,
                difficulty=setting.difficulty,
                length=length_class(reply.query),
                reasoning=reply.reasoning,
                generator=self.name,
            )

    def _ask(self, stage: str, subjects: Sequence[Choice | Aim]) -> list[ChatAnswer]:
        """Return the answers in the order of what is asked about, and count what they cost."""
        answers: dict[str, ChatAnswer | None] = {subject.key: None for subject in subjects}
        if len(answers) < len(subjects):
            twice = Counter(subject.key for subject in subjects).most_common(1)[0][0]
            raise DataError(
                f"{twice}: asked twice; a document id stands in the corpus twice, make it again."
            )
        for answer in self.answerer.answers(Requests(subjects)):
            if answers.get(answer.key, answer) is not None:
                raise DataError(
                    f"{self.answerer.name}: an answer to {answer.key}, which was not asked or has "
                    "been answered; mend the answerer."
                )
            answers[answer.key] = answer
            used = (1, answer.input_tokens, answer.cached_tokens, answer.output_tokens)
            self.usage[stage].update(dict(zip(COUNTED, used, strict=True)))
            self.finishes[stage][answer.finish] += 1
            if answer.passing:
                self.failures[answer.reason] += 1
                self.last_failure = answer.error
        missing = [key for key, answer in answers.items() if answer is None]
        if missing:
            raise DataError(
                f"{self.answerer.name}: no answer to {missing[0]} and {len(missing) - 1} more; "
                "mend the answerer."
            )
        return list(answers.values())

    def summary(self) -> dict[str, Any]:
        """Return what was asked, what it cost, and how the queries fit what was asked for.

        length_asked: classes of length asked for, by the class of the query; answer_place: where
        the answers stand, by position.
        """
        return {
            "answerer": self.answerer.name,
            "prompts_sha256": prompt_hashes(),
            "personas_sha256": self.personas.sha256,
            "personas_known": len(self.personas.personas),
            "personas_chosen": len(self.characters),
            "usage": {
                stage: {**{what: used[what] for what in COUNTED}, "dollars": self.dollars(used)}
                for stage, used in self.usage.items()
            },
            "finish": {stage: dict(sorted(ends.items())) for stage, ends in self.finishes.items()},
            "outcomes": dict(sorted(self.outcomes.items())),
            "failed_for_passing_reasons": dict(sorted(self.failures.items())),
            "difficulty": dict(sorted(self.difficulties.items())),
            "length_asked": {
                asked: dict(sorted(found.items())) for asked, found in sorted(self.lengths.items())
            },
            "answer_place": {p: dict(sorted(kinds.items())) for p, kinds in self.places.items()},
            "without_reasoning": self.without_reasoning,
        }
