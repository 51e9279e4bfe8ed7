"""The registry of article sources: a new kind is one entry here and one in the config's schema."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from posbias.assets import find_asset
from posbias.corpus.tables import BATCH_ROWS, Rows, find_tables, read_table, text_batch
from posbias.corpus.wikipedia import Article, article_from_sections, read_dump
from posbias.errors import ConfigError, DataError


class ArticleSource(Protocol):
    """Articles as clean paragraphs, or as rows of whole texts; both count in `dropped` what was
    left out."""

    paths: Sequence[Path]

    def articles(self, dropped: Counter) -> Iterator[Article]: ...

    def rows(self, fields: Sequence[str], dropped: Counter) -> Iterator[Rows]: ...


@dataclass(frozen=True)
class Dump:
    """A MediaWiki dump; a whole text is its paragraphs with an empty line between them, and an
    article's id is its title."""

    paths: Sequence[Path]
    min_paragraph_chars: int

    def articles(self, dropped: Counter) -> Iterator[Article]:
        for path in self.paths:
            yield from read_dump(path, self.min_paragraph_chars, dropped)

    def rows(self, fields: Sequence[str], dropped: Counter) -> Iterator[Rows]:
        for path in self.paths:
            articles = read_dump(path, self.min_paragraph_chars, dropped)
            first = 1
            while some := list(islice(articles, BATCH_ROWS)):
                titles = [article.title for article in some]
                texts = ["\n\n".join(article.paragraphs) for article in some]
                columns = {"id": titles, "title": titles, "text": texts}
                yield Rows(path, first, text_batch({field: columns[field] for field in fields}))
                first += len(some)


@dataclass(frozen=True)
class Table:
    """Files with a row an article; a whole text is the row's, a paragraph one of its lines."""

    paths: Sequence[Path]
    columns: Mapping[str, str]
    min_paragraph_chars: int

    def articles(self, dropped: Counter) -> Iterator[Article]:
        seen: set[str] = set()
        for rows in self.rows(("title", "text"), dropped):
            for row, article in enumerate(rows.batch.to_pylist(), start=rows.first):
                title = " ".join((article["title"] or "").split())
                name = title.replace(" ", "_")  # as it stands in document ids
                if not title or name in seen:
                    raise DataError(
                        f"{rows.path}, row {row}: the title {title!r} is empty or stands twice. "
                        "documents.cut: sentences names articles by their titles; make them "
                        "unique, or take documents.cut: whole."
                    )
                seen.add(name)
                sections = [("", article["text"] or "")]
                found = article_from_sections(title, sections, self.min_paragraph_chars, dropped)
                if found:
                    yield found

    def rows(self, fields: Sequence[str], dropped: Counter) -> Iterator[Rows]:
        found = 0
        for path in self.paths:
            for rows in read_table(path, self.columns, fields):
                found += rows.batch.num_rows
                yield rows
        if not found:
            raise DataError(
                f"{', '.join(map(str, self.paths))}: no row was read; give files with a row for "
                "each article."
            )


def _dump(
    entry: Mapping[str, Any], asset: Mapping[str, str] | None, files: Sequence[Path], least: int
) -> ArticleSource:
    if asset is None:
        raise ConfigError(f"config, article_sources: no asset is called {entry.get('asset')!r}.")
    return Dump([find_asset(**asset)], least)


def _table(
    entry: Mapping[str, Any], asset: Mapping[str, str] | None, files: Sequence[Path], least: int
) -> ArticleSource:
    return Table(find_tables(entry["files"], files), entry["columns"], least)


KINDS: dict[str, Callable[..., ArticleSource]] = {"mediawiki_dump": _dump, "table": _table}


def make_article_source(
    entry: Mapping[str, Any],
    asset: Mapping[str, str] | None,
    files: Sequence[Path],
    min_paragraph_chars: int,
) -> ArticleSource:
    """Build the source that an entry of article_sources describes.

    asset: package, file and sha256 of a dump; files: folders that the patterns of a table are
    looked up in, without any the working directory; min_paragraph_chars: shorter paragraphs are
    left out where there are any. Raises ConfigError for an unknown kind or a pattern without
    files, AssetError for a missing dump.
    """
    kind = entry["kind"]
    if kind not in KINDS:
        raise ConfigError(
            f"config, article_sources: kind {kind!r} does not exist; known: {', '.join(KINDS)}."
        )
    return KINDS[kind](entry, asset, files, min_paragraph_chars)
