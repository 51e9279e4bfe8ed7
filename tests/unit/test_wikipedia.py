"""From a MediaWiki dump to clean paragraphs, and dumps that cannot be read."""

import bz2
from collections import Counter
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.corpus.wikipedia import (
    article_from_sections,
    clean_paragraph,
    paragraph_fault,
    read_dump,
)
from posbias.errors import DataError

PROSE = "Anarchism is a political philosophy that is sceptical of all authority."


def page(title: str, text: str, namespace: int = 0, number: int = 1) -> str:
    return (
        f"<page><title>{escape(title)}</title><ns>{namespace}</ns><id>{number}</id>"
        f"<revision><id>1</id><text>{escape(text)}</text></revision></page>"
    )


def dump(*pages: str) -> bytes:
    head = '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/">'
    return bz2.compress(f"{head}{''.join(pages)}</mediawiki>".encode())


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("'''Bold''' and ''italic''.", "Bold and italic."),
        ("It's a dog's life.", "It's a dog's life."),
        ("Plato (; , ) was Greek.", "Plato was Greek."),
        ("Plato ( ) was Greek.", "Plato was Greek."),
        ("Plato (; born 428 BC) was Greek.", "Plato (born 428 BC) was Greek."),
        ('Apollo (; , Phoibos, "bright") rose.', 'Apollo (Phoibos, "bright") rose.'),
        ("Two  spaces\tand\xa0one more .", "Two spaces and one more."),
        ("A list , with gaps ; here : done .", "A list, with gaps; here: done."),
        ("   ", ""),
        ("naïve Ångström 北京", "naïve Ångström 北京"),
    ],
)
def test_cleaning(raw, clean):
    assert clean_paragraph(raw) == clean


@given(st.text(st.sampled_from("ab .,;:()'\xa0\n\t1é")))
def test_clean_text_has_single_spaces_and_no_margins(raw):
    text = clean_paragraph(raw)
    assert text == text.strip()
    assert "  " not in text and "\n" not in text and "\xa0" not in text and "''" not in text


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (PROSE, None),
        (f'He said "{PROSE}"', None),
        (PROSE[:59], "short"),
        (f"* {PROSE}", "list or heading"),
        (f"# {PROSE}", "list or heading"),
        (f"== {PROSE}", "list or heading"),
        (f"Category: {PROSE}", "list or heading"),
        (f"thumb {PROSE}", "list or heading"),
        (f"{{{{cite}}}} {PROSE}", "markup"),
        (f"See [[{PROSE}", "markup"),
        (f"a | b {PROSE}", "markup"),
        (f"<ref> {PROSE}", "markup"),
        (f"See https://example.org. {PROSE}", "markup"),
        (f"{PROSE} And so on", "no sentence end"),
    ],
)
def test_what_is_not_prose_says_why(text, fault):
    assert paragraph_fault(text, 60) == fault


def test_sections_of_references_are_left_out_and_counted():
    dropped = Counter()
    sections = [
        ("Introduction", f"{PROSE}\n\nshort line\n"),
        (" See Also ", f"{PROSE} Not this."),
        ("References", f"{PROSE} Nor this."),
        ("History", f"{PROSE} Twice.\n=== Early years ===\n{PROSE} Thrice."),
    ]
    article = article_from_sections("Anarchism", sections, 60, dropped)
    assert article.paragraphs == (PROSE, f"{PROSE} Twice.", f"{PROSE} Thrice.")
    assert dropped == {"section: references and links": 2, "paragraph: short": 1}


@pytest.mark.parametrize(
    ("sections", "reason"),
    [
        ([("Introduction", "#REDIRECT [[Other]]")], "article: redirect"),
        ([("Introduction", "\n #Redirect Other\n")], "article: redirect"),
        ([("Introduction", " "), ("A", "#redirect [[Other]]")], "article: redirect"),
        ([("Introduction", "short")], "article: no prose"),
        ([("Notes", PROSE)], "article: no prose"),
        ([], "article: no prose"),
    ],
)
def test_articles_without_prose_are_counted(sections, reason):
    dropped = Counter()
    assert article_from_sections("A", sections, 60, dropped) is None
    assert dropped[reason] == 1


def test_prose_about_redirection_is_no_redirect():
    text = "Redirected light is light that a mirror or a lens has sent to another place."
    assert article_from_sections("Light", [("Introduction", text)], 60, Counter()) is not None


def test_reads_articles_in_the_order_of_the_dump(tmp_path):
    path = tmp_path / "dump.xml.bz2"
    link = "'''Zebra''' is an [[animal|African animal]] with stripes &amp; hooves, say experts."
    path.write_bytes(
        dump(
            page("Zebra", f"{link}<ref>Smith</ref>\n\n== History ==\n{PROSE}\n\n* a list"),
            page("Talk:Zebra", PROSE, namespace=1),
            page("Old name", "#REDIRECT [[Zebra]]"),
            page("Ånglish & more", f"{PROSE} 北京."),
        )
    )
    dropped = Counter()
    articles = list(read_dump(path, 60, dropped))
    assert [article.title for article in articles] == ["Zebra", "Ånglish & more"]
    assert articles[0].paragraphs == (
        "Zebra is an African animal with stripes & hooves, say experts.",
        PROSE,
    )
    assert articles[1].paragraphs == (f"{PROSE} 北京.",)
    assert dropped["article: redirect"] == 1


def test_an_empty_dump_has_no_articles(tmp_path):
    path = tmp_path / "dump.xml.bz2"
    path.write_bytes(dump())
    assert list(read_dump(path, 60, Counter())) == []


def many_pages() -> list[str]:
    return [page(f"Title {n}", f"{PROSE} Number {n * 7919}.", number=n) for n in range(300)]


@pytest.mark.parametrize(
    "content",
    [
        dump(*many_pages())[:-200],
        dump(*many_pages())[:1000],
        b"",
        b"no bz2 at all",
        bz2.compress(b"<mediawiki><page></mediawiki>"),
        bz2.compress(b"no xml"),
        bz2.compress(b""),
    ],
    ids=["cut", "cut early", "empty", "no bz2", "broken xml", "no xml", "nothing inside"],
)
def test_a_dump_that_cannot_be_read_is_named_with_a_remedy(tmp_path, content):
    path = tmp_path / "dump.xml.bz2"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"dump\.xml\.bz2: cannot be read as .* fetch the file"):
        list(read_dump(path, 60, Counter()))


def test_a_missing_dump_is_named(tmp_path):
    with pytest.raises(DataError, match=r"nowhere\.bz2: cannot be read"):
        list(read_dump(tmp_path / "nowhere.bz2", 60, Counter()))
