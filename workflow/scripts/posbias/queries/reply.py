"""Reading the replies of a language model: strict in content, lenient in what stands around it.

A reply may put its JSON object into a code fence or between sentences. Anything else that is not
as asked makes it unreadable, for a reason that is counted.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from posbias.queries.chat import ChatAnswer
from posbias.queries.prompts import DIFFICULTIES, LENGTHS, Setting

_NUMBERED = re.compile(r"(?:persona|person|character|no\.?|#)?\s*(\d+)\s*[.:)]?", re.IGNORECASE)
_NUMBER_FIRST = re.compile(r"\s*\d+\s*[.:)]\s*")
_SINGLE_QUOTES = re.compile(r"\{\s*'")


class UnreadableReply(Exception):
    """A reply that gives nothing; the message is the reason, from a small set."""


class QueryReply(NamedTuple):
    """What stage 2 gives; reasoning is None where the model left it out."""

    query: str
    answer: str
    reasoning: str | None


def read_setting(answer: ChatAnswer, personas: Sequence[str]) -> Setting:
    """Return the choice of stage 1; raises UnreadableReply if one of its fields is no valid choice.

    The character must be one of the personas, but for case, spaces, a final full stop and the
    number before it, or be the number of one.
    """
    found = read_object(answer, ("Character", "Difficulty", "Query_Length"))
    return Setting(
        _persona(found["Character"], personas),
        _one_of(found["Difficulty"], DIFFICULTIES, "Difficulty"),
        _one_of(found["Query_Length"], LENGTHS, "Query_Length"),
    )


def read_query(answer: ChatAnswer) -> QueryReply:
    """Return query, answer and reasoning of stage 2; raises UnreadableReply."""
    found = read_object(answer, ("query", "answer"))
    reasoning = found.get("reasoning")
    if reasoning is not None and not isinstance(reasoning, str):
        raise UnreadableReply("reasoning is no text")
    return QueryReply(
        _text(found["query"], "query"),
        _text(found["answer"], "answer"),
        _spaced(reasoning or "") or None,
    )


def read_object(answer: ChatAnswer, keys: Sequence[str]) -> dict[str, Any]:
    """Return the one object of a reply that has all keys, in the spelling of `keys`.

    Keys may differ in case. An object may be repeated, but two different ones are one too many.
    Raises UnreadableReply.
    """
    if answer.finish == "error":
        raise UnreadableReply(f"the request failed ({answer.reason})")
    if answer.refusal:
        raise UnreadableReply("refused")
    if answer.finish == "content_filter":
        raise UnreadableReply("stopped by the content filter")
    text = answer.text or ""
    if not text.strip():
        raise UnreadableReply("empty reply")
    objects = [_with_keys(found, keys) for found in _objects(text)]
    whole = [found for found in objects if all(key in found for key in keys)]
    if any(found != whole[0] for found in whole[1:]):
        raise UnreadableReply("several different objects")
    if whole:
        return whole[0]
    if answer.finish == "length":
        raise UnreadableReply("cut before its object ended")
    if objects:
        missing = next(key for key in keys if key not in objects[0])
        raise UnreadableReply(f"{missing} is missing")
    if _SINGLE_QUOTES.search(text):
        raise UnreadableReply("single quotes in place of JSON's")
    raise UnreadableReply("no JSON object" if "{" not in text else "not valid JSON")


def _objects(text: str) -> list[dict]:
    """Return the JSON objects that a text holds, those inside another one left out."""
    decoder = json.JSONDecoder(object_pairs_hook=_unrepeated, parse_constant=_no_constant)
    objects = []
    at = text.find("{")
    while at >= 0:
        try:
            found, end = decoder.raw_decode(text, at)
            objects.append(found)
        except (json.JSONDecodeError, RecursionError):
            end = at + 1
        at = text.find("{", end)
    return objects


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if found.setdefault(key, value) != value:
            raise UnreadableReply("a key with two values")
    return found


def _no_constant(name: str) -> None:
    raise json.JSONDecodeError(f"{name} is no JSON", name, 0)


def _with_keys(found: dict, keys: Sequence[str]) -> dict:
    """Return an object whose keys are spelt as those asked for, and as the optional one."""
    spelling = {key.casefold(): key for key in (*keys, "reasoning")}
    return _unrepeated([(spelling.get(k.strip().casefold(), k), v) for k, v in found.items()])


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise UnreadableReply(f"{name} is no text")
    if not any(letter.isalnum() for letter in value):  # such as the dots of the form asked for
        raise UnreadableReply(f"{name} is empty")
    return _spaced(value)


def _one_of(value: Any, known: Sequence[str], name: str) -> str:
    wanted = re.sub(r"[\s-]+", "_", _text(value, name).casefold())
    if wanted not in known:
        raise UnreadableReply(f"{name} is none of those given")
    return wanted


def _persona(value: Any, personas: Sequence[str]) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    text = _text(value, "Character")
    for wanted in (text, _NUMBER_FIRST.sub("", text, count=1)):
        for persona in personas:
            if _same(wanted) == _same(persona):
                return persona
    number = _NUMBERED.fullmatch(text)
    if number and 1 <= int(number[1]) <= len(personas):
        return personas[int(number[1]) - 1]
    raise UnreadableReply("Character is none of those given")


def _same(text: str) -> str:
    return _spaced(text).rstrip(".").casefold()
