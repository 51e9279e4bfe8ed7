"""Personas: the nearest by cosine, in the order of the documents, and never those of others."""

import json

import numpy as np
import pytest

import choose_personas
from posbias.errors import ConfigError, DataError
from posbias.files import read_jsonl, write_jsonl
from posbias.models.encoder import load_encoder
from posbias.queries import personas as module
from posbias.queries.personas import (
    OWN_LIST,
    PersonaChoices,
    nearest_personas,
    persona_file,
    read_personas,
)

OPTIONS = {"nearest": 20, "batch_size": 16, "max_tokens": 64}


class TableEncoder:
    """Looks vectors up instead of computing them, and notes how many texts it saw at a time."""

    def __init__(self, table: dict[str, list[float]]) -> None:
        self.table, self.calls = table, []

    def get_embedding_dimension(self) -> int:
        return len(next(iter(self.table.values())))

    def encode(self, texts, **_) -> np.ndarray:
        self.calls.append(len(texts))
        return np.array([self.table[text] for text in texts], dtype=np.float32)


def documents(n: int) -> list[dict]:
    return [{"doc_id": f"d{i}", "text": f"text {i}", "bin": "b"} for i in range(n)]


def world(n_documents: int, n_personas: int, levels: int, seed: int = 0):
    """Vectors of few levels, so that many cosines are equal."""
    draw = np.random.default_rng(seed)
    names = [f"p{i}" for i in range(n_personas)]
    texts = [document["text"] for document in documents(n_documents)]
    vectors = draw.integers(1, levels + 1, (n_personas + n_documents, 3)).astype(float)
    return names, TableEncoder(dict(zip([*names, *texts], vectors.tolist(), strict=True)))


@pytest.mark.parametrize("levels", [1, 2, 50])
@pytest.mark.parametrize("block", [1, 4, 100])
def test_the_nearest_are_those_of_brute_force_whatever_the_block(monkeypatch, levels, block):
    monkeypatch.setattr(module, "DOCUMENTS_AT_ONCE", block)
    names, encoder = world(9, 40, levels)
    table = {k: np.array(v, dtype=np.float32) for k, v in encoder.table.items()}
    unit = {
        k: (v / np.linalg.norm(v.astype(np.float64))).astype(np.float32) for k, v in table.items()
    }
    found = dict(nearest_personas(documents(9), names, encoder, 7, 5, 9))
    for document in documents(9):
        scores = [
            np.float32(sum(float(a) * float(b) for a, b in zip(x, y, strict=True)))
            for x, y in ((unit[document["text"]], unit[name]) for name in names)
        ]
        order = sorted(range(len(names)), key=lambda i: (-scores[i], i))
        assert found[document["doc_id"]] == order[:7]


def test_documents_are_read_as_they_are_needed(monkeypatch):
    monkeypatch.setattr(module, "DOCUMENTS_AT_ONCE", 2)
    names, encoder = world(10, 5, 9)
    taken = []
    stream = (taken.append(d["doc_id"]) or d for d in documents(10))
    found = nearest_personas(stream, names, encoder, 3, 8, 10)
    next(found)
    assert taken == ["d0", "d1"]
    assert len(list(found)) == 9
    assert encoder.calls == [5, 2, 2, 2, 2, 2]


def test_fewer_personas_than_wanted_are_all_taken():
    names, encoder = world(2, 3, 9)
    rows = [row for _, row in nearest_personas(documents(2), names, encoder, 20, 8, 2)]
    assert [sorted(row) for row in rows] == [[0, 1, 2]] * 2


def test_our_own_list_holds_what_the_prompt_needs():
    own = read_personas(OWN_LIST)
    assert len(own) >= 60
    assert len({text.casefold() for text in own}) == len(own)
    assert all(text[0].isupper() and text.endswith(".") and len(text) < 120 for text in own)


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (['{"persona": "a cook"}', '{"persona": ""}'], "line 2.*''"),
        (['{"persona": 3}'], "line 1.*3"),
        (['{"person": "a cook"}'], "line 1.*persona"),
        ([], "holds no persona"),
    ],
)
def test_a_faulty_list_is_named_by_line(tmp_path, lines, fault):
    path = tmp_path / "persona.jsonl"
    path.write_text("\n".join(lines))
    with pytest.raises(DataError, match=fault):
        read_personas(path)


def test_a_source_is_a_file_a_fetched_folder_or_our_own(tmp_path):
    assert persona_file(None) == OWN_LIST
    assert persona_file(tmp_path) == tmp_path / "persona.jsonl"
    assert persona_file(tmp_path / "mine.jsonl") == tmp_path / "mine.jsonl"


@pytest.fixture(scope="module")
def chosen(tmp_path_factory, tiny_encoder):
    """The script's choices for a few documents, out of a list of one's own."""
    folder = tmp_path_factory.mktemp("personas")
    write_jsonl(folder / "list.jsonl", [{"persona": f"somebody {i}"} for i in range(30)])
    write_jsonl(folder / "documents.jsonl", documents(5))
    choose_personas.main(
        folder / "documents.jsonl",
        [folder / "list.jsonl"],
        [tiny_encoder],
        folder / "choices.jsonl",
        OPTIONS,
    )
    return folder


def test_the_script_writes_the_neighbours_of_each_document_in_order(chosen, tiny_encoder):
    encoder = load_encoder(tiny_encoder)
    texts = [f"somebody {i}" for i in range(30)]
    people = encoder.encode(texts, normalize_embeddings=True)
    records = read_jsonl(chosen / "choices.jsonl")
    assert [r["doc_id"] for r in records] == [d["doc_id"] for d in documents(5)]
    for record, document in zip(records, documents(5), strict=True):
        cosines = people @ encoder.encode(document["text"], normalize_embeddings=True)
        assert len(set(record["personas"])) == 20
        ranked = cosines[record["personas"]]
        assert (np.diff(ranked) <= 1e-6).all()
        rest = np.delete(cosines, record["personas"])
        assert ranked[-1] >= rest.max() - 1e-6


def test_personas_longer_than_the_positions_are_refused(chosen, tiny_encoder, tmp_path):
    def choose(most):
        files = (chosen / "documents.jsonl", [chosen / "list.jsonl"], [tiny_encoder])
        choose_personas.main(*files, tmp_path / "c.jsonl", {**OPTIONS, "max_tokens": most})

    with pytest.raises(ConfigError, match=r"^queries\.personas\.max_tokens is 513, .* 512 pos"):
        choose(513)
    assert not (tmp_path / "c.jsonl").exists()
    choose(512)


def test_choices_are_followed_in_step_with_the_documents(chosen):
    choices = PersonaChoices(chosen / "choices.jsonl", chosen / "list.jsonl")
    followed = list(choices.follow(iter(documents(5))))
    assert [document for document, _ in followed] == documents(5)
    record = read_jsonl(chosen / "choices.jsonl")[3]
    assert followed[3][1] == [f"somebody {i}" for i in record["personas"]]


@pytest.mark.parametrize(
    ("n", "change", "fault"),
    [
        (4, {}, "line 5: is of document d4, the corpus is at None"),
        (6, {}, "line 6: is of document None, the corpus is at d5"),
        (5, {"doc_id": "other"}, "line 1: is of document other, the corpus is at d0"),
        (5, {"personas_sha256": "00"}, "line 1: made from another file than .*list.jsonl"),
        (5, {"personas": [30]}, "line 1: persona numbers"),
        (5, {"personas": [-1]}, "line 1: persona numbers"),
        (5, {"personas": []}, "line 1: persona numbers"),
    ],
)
def test_choices_of_other_documents_or_personas_are_refused(tmp_path, chosen, n, change, fault):
    records = read_jsonl(chosen / "choices.jsonl")
    lines = [json.dumps({**records[0], **change}), *map(json.dumps, records[1:])]
    (tmp_path / "choices.jsonl").write_text("\n".join(lines))
    choices = PersonaChoices(tmp_path / "choices.jsonl", chosen / "list.jsonl")
    with pytest.raises(DataError, match=fault):
        list(choices.follow(documents(n)))


def test_a_list_that_was_changed_since_is_refused(tmp_path, chosen):
    (tmp_path / "list.jsonl").write_text((chosen / "list.jsonl").read_text() + '{"persona": "x"}\n')
    choices = PersonaChoices(chosen / "choices.jsonl", tmp_path / "list.jsonl")
    with pytest.raises(DataError, match="made from another file"):
        list(choices.follow(documents(5)))
