"""What the tests of API answers share: an answerer of the fake server, and what it left."""

import json
from collections import Counter
from pathlib import Path

from fake_openai import answer_to, requests_of, toy_options
from posbias.queries.api_answerer import make_api_answerer
from posbias.queries.logged_answerer import LoggedAnswerer

PROMPTS = [f"p{number}" for number in range(10)]
REQUESTS = requests_of(*PROMPTS)
ALL = {prompt: answer_to(prompt) for prompt in PROMPTS}


def answerer(path: Path, counts: Counter | None = None, **changes) -> LoggedAnswerer:
    """Return an answerer of the server above; changes: of its options."""
    found = Counter() if counts is None else counts
    return make_api_answerer(toy_options(**changes), path, 5, found)


def batch_answerer(path: Path, counts: Counter | None = None, **changes) -> LoggedAnswerer:
    """Return one that asks through the batch endpoint."""
    return answerer(path, counts, mode="batch", **changes)


def by_prompt(answers) -> dict:
    """Return answers by the prompt that they answer."""
    return {answer.key.split("|")[0].removeprefix("doc-"): answer for answer in answers}


def texts(answers) -> dict[str, str | None]:
    """Return the text of each answer by its prompt."""
    return {prompt: answer.text for prompt, answer in by_prompt(answers).items()}


def logged(path: Path) -> list[dict]:
    """Return the records of a log."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
