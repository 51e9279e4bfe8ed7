"""Evidence that a retriever cannot see: the tokenizer's cut, measured in characters."""

import csv
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import measure_truncation
from family_checkpoints import ENTRIES, TEXTS, sentences, write_checkpoint
from posbias.errors import ConfigError, DataError
from posbias.measures.truncation import (
    TruncationTable,
    evidence_span,
    loss_of,
    readable_range,
)
from posbias.models.retriever import Retriever, build_retriever, retriever_tokenizer

LIMIT = 16  # tokens


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    root = tmp_path_factory.mktemp("checkpoints")
    return {name: write_checkpoint(name, root / name) for name in ENTRIES}


def cutter(checkpoints, name, limit=LIMIT, **policy):
    entry = {**ENTRIES[name], "tokenizer": policy}
    return retriever_tokenizer(entry, None, limit, checkpoints[name])


@pytest.mark.parametrize("name", ENTRIES)
@pytest.mark.parametrize("append_end", [None, True])
@pytest.mark.parametrize("side", ["right", "left"])
def test_the_readable_text_gives_the_very_tokens_that_the_model_reads(
    checkpoints, name, append_end, side
):
    tokenizer = cutter(checkpoints, name, append_end=append_end, truncation_side=side)
    texts = [*TEXTS, " ".join(sentences()[30:40]), "ångström " * 30]
    for text, (first, last) in zip(texts, readable_range(tokenizer, texts, LIMIT), strict=True):
        wanted = tokenizer(text, truncation=True)["input_ids"]
        assert len(wanted) <= LIMIT
        if (first, last) == (0, len(text)):
            assert wanted == tokenizer(text)["input_ids"]
            continue
        assert len(wanted) == LIMIT and 0 <= first < last <= len(text)
        read = letters(tokenizer.decode(wanted, skip_special_tokens=True), name)
        seen = letters(text[first:last], name)
        # A letter of several bytes may be cut in its middle; it counts as read.
        if read.startswith("\ufffd"):
            read, seen = read.lstrip("\ufffd"), seen[1:]
        if read.endswith("\ufffd"):
            read, seen = read.rstrip("\ufffd"), seen[:-1]
        assert read == seen


def letters(text, name):
    """Return a text without blanks, and for BERT without case and accents."""
    kept = "".join(text.split())
    return kept.lower().replace("å", "a").replace("ö", "o") if name == "bert" else kept


def test_an_appended_end_token_costs_one_word_of_the_text(checkpoints):
    text = "glass " * 40
    ranges = [
        readable_range(cutter(checkpoints, "tinyllama_nope", append_end=end), [text], LIMIT)[0]
        for end in (None, True)
    ]
    assert ranges[0][1] - ranges[1][1] == len("glass ")


def test_no_texts_and_an_empty_text(checkpoints):
    tokenizer = cutter(checkpoints, "bert")
    assert readable_range(tokenizer, [], LIMIT) == []
    assert readable_range(tokenizer, ["", " "], LIMIT) == [(0, 0), (0, 1)]


def test_a_tokenizer_without_places_is_named():
    class Slow:
        is_fast, name_or_path = False, "some/folder"

    with pytest.raises(DataError, match=r"some/folder: Slow .*tokenizer\.json"):
        readable_range(Slow(), ["a text"], LIMIT)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_losses_are_decided_by_the_characters_that_are_not_blank(data):
    text = data.draw(st.text("ab \n", min_size=1, max_size=30))
    span = st.integers(0, len(text))
    start, end = sorted((data.draw(span), data.draw(span)))
    first, last = sorted((data.draw(span), data.draw(span)))
    inside = [at for at in range(start, end) if not text[at].isspace()]
    seen = [at for at in inside if first <= at < last]
    expected = "wholly" if not seen else "partly" if len(seen) < len(inside) else None
    assert loss_of(text, (start, end), (first, last)) == expected


def test_evidence_is_the_answer_or_else_the_third():
    text = "abcdefghi"
    pair = {"query_id": "q", "doc_id": "d", "position": "middle"}
    assert evidence_span({**pair, "answer_start": 1, "answer_end": 4}, text) == (1, 4)
    assert evidence_span({**pair, "answer_start": None, "answer_end": None}, text) == (3, 6)
    assert evidence_span(pair, text) == (3, 6)
    for start, end in ((3, 10), (-1, 2), (4, 4)):
        with pytest.raises(DataError, match="query q: its answer"):
            evidence_span({**pair, "answer_start": start, "answer_end": end}, text)
    with pytest.raises(DataError, match="'centre'"):
        evidence_span({**pair, "position": "centre"}, text)


def test_the_table_is_in_the_order_of_lengths_and_places():
    table = TruncationTable()
    for bin_name, position, loss in [
        ("1024-2048", "end", "wholly"),
        ("256-512", "end", None),
        ("1024-2048", "begin", None),
        ("1024-2048", "end", "partly"),
        ("1024-2048", "end", None),
    ]:
        table.add(bin_name, position, loss)
    rows = table.rows("bert", "BERT")
    assert [(row["bin"], row["position"]) for row in rows] == [
        ("256-512", "end"),
        ("1024-2048", "begin"),
        ("1024-2048", "end"),
    ]
    assert rows[-1] == {
        "retriever": "bert",
        "label": "BERT",
        "bin": "1024-2048",
        "position": "end",
        "n": 3,
        "partly": 1,
        "wholly": 1,
        "share": pytest.approx(2 / 3),
    }
    assert table.total("end") == {"n": 4, "partly": 1, "wholly": 1, "share": 0.5}
    assert table.total("middle") == {"n": 0, "partly": 0, "wholly": 0, "share": 0.0}


def test_a_retriever_s_own_count_agrees(checkpoints):
    model = build_retriever(ENTRIES["gpt2"], None, 0.05, LIMIT, 1, checkpoints["gpt2"])
    text = " ".join(sentences()[:9])
    ((_, last),) = readable_range(model.tokenizer, [text], LIMIT)
    ends = [0, 1, last, last + 2, len(text)]
    cut = Retriever(model).truncated([text] * len(ends), ends)
    assert cut.tolist() == [False, False, False, True, True]
    # A text that is not cut loses nothing, blanks at its end included.
    assert Retriever(model).truncated(["glass.  \n"], [9]).tolist() == [False]


# The script.


@pytest.fixture
def pools(tmp_path):
    """One document per bin: of 9 words, all of which fit, and of 60, of which 14 do."""
    documents = {"short": "glass " * 8 + "moon.", "long": "glass " * 59 + "moon."}
    with (tmp_path / "documents.jsonl").open("w") as lines:
        for doc_id, text in {**documents, "unused": "moon"}.items():
            lines.write(json.dumps({"doc_id": doc_id, "text": text}) + "\n")
    for position in ("begin", "middle", "end"):
        with (tmp_path / f"{position}.jsonl").open("w") as lines:
            for doc_id, bin_name in (("short", "32-64"), ("long", "256-512")):
                record = {
                    "query_id": f"{doc_id}-{position}",
                    "doc_id": doc_id,
                    "bin": bin_name,
                    "position": position,
                    "answer_start": None,
                    "answer_end": None,
                }
                lines.write(json.dumps(record) + "\n")
    # The answer of one query of a pool of its own is known, and cut in its middle; the pool
    # repeats a query of another pool, which counts once.
    known = {"query_id": "k", "doc_id": "long", "bin": "256-512", "position": "begin",
             "answer_start": 60, "answer_end": 119}  # fmt: skip
    again = json.loads((tmp_path / "end.jsonl").read_text().splitlines()[1])
    (tmp_path / "uniform.jsonl").write_text(f"{json.dumps(known)}\n{json.dumps(again)}\n")
    return {
        "pairs": [tmp_path / f"{name}.jsonl" for name in ("begin", "middle", "end", "uniform")],
        "documents": tmp_path / "documents.jsonl",
        "table": tmp_path / "out" / "bert.csv",
        "summary": tmp_path / "out" / "bert.json",
    }


def measure(pools, checkpoints, **changes):
    entry = {**ENTRIES["bert"], "label": "BERT, small"}
    measure_truncation.main(
        **pools,
        tokenizer=[checkpoints["bert"]],
        retriever="bert",
        entry={**entry, **changes},
        training={"max_tokens": LIMIT},
    )
    with pools["table"].open() as lines:
        rows = list(csv.DictReader(lines))
    return rows, json.loads(pools["summary"].read_text())


def test_the_script_counts_each_query_by_bin_and_position(pools, checkpoints):
    rows, summary = measure(pools, checkpoints)
    assert list(rows[0]) == ["retriever", "label", "bin", "position", "n", "partly", "wholly",
                             "share"]  # fmt: skip
    found = {(row["bin"], row["position"]): (int(row["n"]), int(row["partly"]), int(row["wholly"]))
             for row in rows}  # fmt: skip
    assert found == {
        ("32-64", "begin"): (1, 0, 0),
        ("32-64", "middle"): (1, 0, 0),
        ("32-64", "end"): (1, 0, 0),
        # Words 1 to 14 are read; the first third ends with word 20, the known answer with word 20.
        ("256-512", "begin"): (2, 2, 0),
        ("256-512", "middle"): (1, 0, 1),
        ("256-512", "end"): (1, 0, 1),
    }
    assert {row["label"] for row in rows} == {"BERT, small"}
    assert [row["share"] for row in rows] == ["0.0"] * 3 + ["1.0"] * 3
    assert summary["max_tokens"] == LIMIT and summary["documents"] == 2
    assert summary["all"] == {"n": 7, "partly": 2, "wholly": 2, "share": 4 / 7}
    assert summary["by_position"]["end"] == {"n": 2, "partly": 0, "wholly": 1, "share": 0.5}
    assert summary["evidence_known_by"] == {"answer": 1, "third": 6}
    assert summary["special_tokens"].startswith("before each text: [CLS]; after it: [SEP]")


def test_a_retriever_s_own_longest_input_is_what_counts(pools, checkpoints):
    rows, summary = measure(pools, checkpoints, max_tokens=64)
    assert summary["max_tokens"] == 64 and summary["all"]["share"] == 0
    assert {row["share"] for row in rows} == {"0.0"}
    with pytest.raises(ConfigError, match="64 positions"):
        measure(pools, checkpoints, max_tokens=65)


def test_no_weights_are_read(pools, checkpoints, tmp_path, monkeypatch):
    rows, _ = measure(pools, checkpoints)
    bare = write_checkpoint("bert", tmp_path / "bare")
    (bare / "model.safetensors").unlink()
    assert measure(pools, {"bert": bare})[0] == rows


def test_a_retriever_from_scratch_has_the_encoder_s_tokenizer(
    pools, encoder_folder, checkpoints, config
):
    entry = config["retrievers"]["known"]["bert"]
    measure_truncation.main(
        **pools, tokenizer=[encoder_folder], retriever="bert", entry=entry,
        training={"max_tokens": 192},
    )  # fmt: skip
    summary = json.loads(pools["summary"].read_text())
    assert summary["max_tokens"] == 192 and summary["all"]["share"] == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_tokens": 2}, r"^retrievers\.known\.bert: max_tokens is 2, which leaves no room"),
        ({"tokenizer": {"append_end": 1.5}}, r"^retrievers\.known\.bert: tokenizer\.append_end"),
    ],
)
def test_a_wrong_entry_is_named_by_its_place_in_the_config(pools, checkpoints, change, message):
    with pytest.raises(ConfigError, match=message):
        measure(pools, checkpoints, **change)


def test_a_missing_document_is_named(pools, checkpoints):
    pools["documents"].write_text('{"doc_id": "short", "text": "glass moon"}\n')
    with pytest.raises(DataError, match=r"lacks 1 documents .* such as long"):
        measure(pools, checkpoints)
    assert not pools["table"].exists()
