"""Articles of a MediaWiki dump as clean paragraphs."""

import bz2
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from posbias.errors import DataError

# Sections that hold references and link lists rather than prose.
APPARATUS = frozenset(
    (
        "references",
        "external links",
        "see also",
        "notes",
        "further reading",
        "bibliography",
        "sources",
        "footnotes",
        "works cited",
        "citations",
        "filmography",
        "discography",
        "gallery",
        "selected works",
    )
)
MARKUP = ("{{", "}}", "[[", "]]", "|", "<", ">", "http:", "https:", "__")


@dataclass(frozen=True)
class Article:
    """One article: its title and its paragraphs in reading order."""

    title: str
    paragraphs: tuple[str, ...]


def clean_paragraph(raw: str) -> str:
    """Strip bold and italic quotes, the brackets that a removed template left, and extra space."""
    text = re.sub(r"'{2,}", "", raw).replace("\xa0", " ")
    text = re.sub(r"\([\s;,:]*\)", "", text)
    text = re.sub(r"'{2,}", "", text)  # what stood around an empty bracket
    text = re.sub(r"\([\s;,:]+", "(", text)
    text = re.sub(r"\s+", " ", text)
    return re.sub(r" ([,.;:])", r"\1", text).strip()


def paragraph_fault(text: str, min_chars: int) -> str | None:
    """Say why a cleaned paragraph is not prose, or return None if it is."""
    if len(text) < min_chars:
        return "short"
    if text[0] in "*#:;!=" or text.startswith(("Category:", "File:", "Image:", "thumb")):
        return "list or heading"
    if any(mark in text for mark in MARKUP):
        return "markup"
    if text[-1] not in ".!?\"')”":
        return "no sentence end"
    return None


def article_from_sections(
    title: str, sections: list[tuple[str, str]], min_chars: int, dropped: Counter
) -> Article | None:
    """Join the prose of an article's sections; None, with the reason counted, if none is left."""
    first = next((text for _, text in sections if text.strip()), "")
    if first.lstrip().upper().startswith("#REDIRECT"):
        dropped["article: redirect"] += 1
        return None
    paragraphs = []
    for heading, text in sections:
        if heading.strip().lower() in APPARATUS:
            dropped["section: references and links"] += 1
            continue
        for line in re.sub(r"\n={2,}[^\n]*={2,}\s*(?=\n)", "\n", text).split("\n"):
            paragraph = clean_paragraph(line)
            if not paragraph:
                continue
            fault = paragraph_fault(paragraph, min_chars)
            if fault:
                dropped[f"paragraph: {fault}"] += 1
            else:
                paragraphs.append(paragraph)
    if not paragraphs:
        dropped["article: no prose"] += 1
        return None
    return Article(title, tuple(paragraphs))


def read_dump(path: Path, min_paragraph_chars: int, dropped: Counter) -> Iterator[Article]:
    """Yield the articles of a bz2 MediaWiki dump in the order of the dump.

    `dropped` counts what was left out, by reason. Raises DataError if the dump cannot be read.
    """
    from gensim.scripts.segment_wiki import extract_page_xmls, segment

    try:
        with bz2.open(path) as dump:
            for page in extract_page_xmls(dump):
                title, sections = segment(page)
                if not sections:
                    dropped["article: other namespace"] += 1
                    continue
                article = article_from_sections(title, sections, min_paragraph_chars, dropped)
                if article:
                    yield article
    except (OSError, EOFError, SyntaxError) as fault:
        raise DataError(
            f"{path}: cannot be read as a bz2 MediaWiki dump ({fault}); fetch the file again."
        ) from fault
