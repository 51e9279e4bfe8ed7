"""The two prompts of query generation, in our own words (retriever study, App. A, Figs 4-5).

They ask for what the paper's prompts ask for, with the same keys and values, and are not the
paper's text. What all requests share comes first, then the document, and what differs between a
document's three queries last, so that a provider's cache of prompt beginnings holds the rest.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from string import Template

TEMPLATES = Path(__file__).parent / "templates"

DIFFICULTIES = {
    "high_school": "needs general knowledge only",
    "university": "needs some study of the field",
    "phd": "asks for what a specialist wants to know",
}
LENGTHS = {
    "short": "fewer than 10 words",
    "medium": "10 to 20 words",
    "long": "more than 20 words",
}
PLACES = {"begin": "beginning", "middle": "middle", "end": "end"}

# The last part of a request's key: the stage that chooses, or the position that is asked about.
CHOOSING = "stage1"
# What a small local model fills in, instead of writing JSON by itself. Reasons are left out.
FORMS = {
    CHOOSING: {
        "Character": None,
        "Difficulty": tuple(DIFFICULTIES),
        "Query_Length": tuple(LENGTHS),
    },
    **{position: {"query": None, "answer": None} for position in PLACES},
}


@dataclass(frozen=True)
class Setting:
    """Who asks the three queries of a document, and what kind of query they are."""

    persona: str
    difficulty: str
    length: str


@lru_cache
def _template(name: str) -> Template:
    return Template((TEMPLATES / f"{name}.txt").read_text(encoding="utf-8"))


def setting_prompt(document: str, personas: Sequence[str]) -> str:
    """Return the prompt of stage 1: which of the personas asks, how hard, how long."""
    people = "\n".join(f"{number}. {text}" for number, text in enumerate(personas, start=1))
    return _template("choose_setting").substitute(document=document, people=people)


def query_prompt(document: str, segment: str, position: str, setting: Setting) -> str:
    """Return the prompt of stage 2: one query that this segment alone answers."""
    return _template("write_query").substitute(
        document=document,
        persona=setting.persona,
        difficulty=setting.difficulty,
        difficulty_note=DIFFICULTIES[setting.difficulty],
        length=setting.length,
        length_note=LENGTHS[setting.length],
        place=PLACES[position],
        segment=segment,
    )


def form_of(key: str) -> dict[str, tuple[str, ...] | None]:
    """Return the form for the reply to the request of this key: its fields and their choices."""
    return FORMS[key.rpartition("|")[2]]


def prompt_hashes() -> dict[str, str]:
    """Return the SHA-256 of both prompts of a fixed example: equal hashes, equal wording."""
    setting = Setting("a baker", "phd", "short")
    prompts = {
        "setting": setting_prompt("alpha beta gamma", ["a baker", "a pilot"]),
        "query": query_prompt("alpha beta gamma", "beta", "middle", setting),
    }
    return {name: hashlib.sha256(p.encode("utf-8")).hexdigest() for name, p in prompts.items()}
