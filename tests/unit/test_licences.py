"""Licences: what is recognised as free, and that nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.report.licences import commercial_use, licence_rows, share_alike

CONFIG = {
    "assets": {
        "wikipedia": {"package": "gensim", "licence": "CC BY-SA 4.0"},
        "odd": {"package": "p", "licence": None},
    },
    "downloads": {
        "jina": {"repo": "j/j", "type": "model", "revision": "a" * 40, "licence": "CC BY-NC 4.0"},
        "posir": {"repo": "i/p", "type": "dataset", "revision": None, "licence": None},
        "mine": {"repo": "i/m", "type": "dataset", "path": "/data/mine", "licence": None},
    },
}


@pytest.mark.parametrize(
    ("licence", "use"),
    [
        ("Apache-2.0", "yes"), ("MIT", "yes"), ("mit", "yes"), ("BSD-3-Clause", "yes"),
        ("CC BY-SA 4.0", "yes"), ("cc-by-sa-3.0", "yes"), ("CC0-1.0", "yes"), ("odc-by", "yes"),
        ("CC BY-SA 3.0 and GFDL", "yes"), ("MIT by its card", "yes"), ("the MIT licence", "yes"),
        ("CC BY-NC 4.0", "no"), ("cc-by-nc-sa-4.0", "no"), ("CC BY-NC-ND 4.0", "no"),
        ("non-commercial use only", "no"), ("noncommercial", "no"), ("Research only", "no"),
        ("MIT, data CC BY-NC 4.0", "no"), ("MIT and CC_BY_NC", "no"),
        ("BigScience BLOOM RAIL 1.0", "restricted"), ("bigscience-bloom-rail-1.0", "restricted"),
        ("CreativeML OpenRAIL-M", "restricted"), ("CC BY-ND 4.0", "restricted"),
        ("MIT, with restrictions of use", "restricted"),
        (None, "not known"), ("", "not known"), ("other", "not known"), ("unknown", "not known"),
        ("Llama 3 community licence", "not known"), ("MIT and a licence of our own", "not known"),
        ("permitted", "not known"), ("mitre", "not known"),
    ],
)  # fmt: skip
def test_commercial_use(licence, use):
    assert commercial_use(licence) == use


@given(st.text(max_size=20))
def test_the_words_nc_are_never_missed(text):
    assert commercial_use(f"{text} NC") == commercial_use(f"MIT, NC-{text}") == "no"


@given(st.text("qwxyz ", max_size=20))
def test_what_is_not_recognised_is_not_called_free(text):
    assert commercial_use(text) == "not known"


@pytest.mark.parametrize(
    ("licence", "alike"),
    [
        ("CC BY-SA 4.0", "yes"), ("cc-by-nc-sa-4.0", "yes"), ("CC BY-SA 3.0 and GFDL", "yes"),
        ("GPL-3.0", "yes"), ("odbl", "yes"), ("MIT, data CC_BY_SA", "yes"), ("Share-Alike", "yes"),
        ("MIT", "no"), ("CC BY 4.0", "no"), ("CC BY-NC 4.0", "no"), ("CC0-1.0", "no"),
        ("Apache-2.0", "no"), (None, "not known"), ("", "not known"), ("usage", "not known"),
        ("BLOOM RAIL", "not known"), ("MIT and our own", "not known"),
    ],
)  # fmt: skip
def test_share_alike(licence, alike):
    assert share_alike(licence) == alike


def test_packaged_files_are_told_by_version_and_hash_where_known():
    config = {"assets": {"a": {"package": "p", "sha256": "f" * 64}, "b": {"package": "q"},
                         "c": {"package": "p"}}, "downloads": {}}  # fmt: skip
    rows = licence_rows(config, [], {}, {"p": "1.2"})
    assert [row["revision"] for row in rows] == [f"version 1.2, SHA-256 {'f' * 64}", "",
                                                 "version 1.2"]  # fmt: skip
    assert licence_rows(config, [], {})[0]["revision"] == f"SHA-256 {'f' * 64}"


def test_rows_of_all_that_a_config_names():
    used = ["wikipedia", "jina", "./own/corpus.jsonl", "./own/corpus.jsonl"]
    fetched = {"posir": {"revision": "b" * 40, "licence": "cc-by-4.0"}}
    rows = {row["name"]: row for row in licence_rows(CONFIG, used, fetched)}
    assert list(rows) == ["wikipedia", "odd", "jina", "posir", "mine", "./own/corpus.jsonl"]
    assert {name for name, row in rows.items() if row["used"]} == set(used)
    assert [row["kind"] for row in rows.values()] == [
        "package asset", "package asset", "model", "data set", "user's own", "user's own"
    ]  # fmt: skip
    assert [row["commercial_use"] for row in rows.values()] == [
        "yes", "not known", "no", "yes", "not known", "not known"
    ]  # fmt: skip
    # A card's licence and commit count where the config knows none.
    assert (rows["posir"]["licence"], rows["posir"]["revision"]) == ("cc-by-4.0", "b" * 40)
    assert rows["mine"]["source"] == "/data/mine"


@given(st.sets(st.sampled_from(["wikipedia", "jina", "./own", "/data/own", "no_such_name"])))
def test_all_that_was_used_has_a_row(used):
    rows = licence_rows(CONFIG, used, {})
    assert {row["name"] for row in rows if row["used"]} == used
    assert len({row["name"] for row in rows}) == len(rows)


def test_the_configs_licence_counts_before_the_cards():
    fetched = {"jina": {"revision": "a" * 40, "licence": "mit"}}
    row = next(row for row in licence_rows(CONFIG, [], fetched) if row["name"] == "jina")
    assert (row["licence"], row["commercial_use"], row["used"]) == ("CC BY-NC 4.0", "no", False)
