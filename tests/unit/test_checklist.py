"""The reproducibility checklist: answers from the record, and "not recorded" for the rest."""

import csv
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import make_checklist
from job_files import benchmarks, job
from posbias.errors import DataError
from posbias.report.checklist import UNKNOWN, Section, Table, checklist_text, said, unanswered
from posbias.report.run_provenance import run_record
from release_files import ROOT, STAMP

CONFIG = {
    "scale": "toy",
    "studies": ["retriever"],
    "seed": 42,
    "assets": {"wikipedia": {"package": "gensim", "licence": "CC BY-SA 4.0"}},
    "downloads": {
        "jina": {"repo": "j/j", "type": "model", "revision": "a" * 40, "licence": "CC BY-NC 4.0"},
        "bloom": {"repo": "b/b", "type": "model", "revision": "b" * 40, "licence": "BLOOM RAIL"},
        "posir": {"repo": "i/p", "type": "dataset", "revision": None, "licence": None},
        "unused": {"repo": "u/u", "type": "model", "revision": "c" * 40, "licence": "CC BY-NC 2"},
    },
    "training": {"batch_size": 32, "mini_batch_tokens": None, "loss": "plain"},
    "retrievers": {"known": {"bert": {"learning_rate": 0.003}, "qwen3": {"learning_rate": 4e-5},
                             "pooled": {"learning_rate": 0.5}, "idle": {"learning_rate": 9}}},
    "analyses": {"pooling": {"retriever": "pooled"}},
    "evaluation": {"cutoff": 10, "resamples": 10000},
    "benchmarks": {"selected": ["wiki"], "known": {"wiki": {"label": "Wiki"}, "x": {"label": "X"}}},
    "references": [{"label": "BM25"}],
    "queries": {"generator": "g", "generators": {"g": {"kind": "openai",
                                                       "options": {"model": "gpt-4o-mini"}}}},
}  # fmt: skip
CLAIMS = [
    {"source": "Fig. 1", "status": "held", "claim": "begin is favoured"},
    {"source": "Fig. 1", "status": "not held", "claim": "end | is favoured"},
    {"source": "Table 3", "status": "not measurable", "claim": "mean is kept"},
]


def answers(text):
    """Return the answers of a checklist by their questions."""
    rows = re.findall(r"^\| (.+\?) \| (.+) \|$", text, re.MULTILINE)
    assert len(dict(rows)) == len(rows), "a question is there twice"
    return dict(rows)


def checklist(folder, record, claims=CLAIMS, paper=None):
    (folder / "provenance.json").write_text(json.dumps(record))
    (folder / "claims.json").write_text(json.dumps(claims))
    make_checklist.main(
        folder / "provenance.json", folder / "claims.json", folder / "checklist.md",
        folder / "licences.csv", paper or {},
    )  # fmt: skip
    return (folder / "checklist.md").read_text()


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    benchmarks(folder / "b", {"train/a.tsv": [job(3600, "900", "3000")], "draw.tsv": [job(5)]})
    (folder / "measures.json").write_text(
        '{"interval": {"kind": "bootstrap over queries", "resamples": 10000, "level": 0.95}}'
    )
    (folder / "plain.json").write_text("{}")
    return run_record(
        [folder / "measures.json", folder / "plain.json"], CONFIG, STAMP,
        ["wikipedia", "jina", "bloom", "posir"], ROOT / "envs" / "lock.txt", folder / "b",
        folder / "none", ["train", "draw"],
    )  # fmt: skip


def test_answers_are_those_of_the_record(tmp_path, record):
    found = answers(checklist(tmp_path, record))
    assert found["Which claims of the papers were judged, and how did they fare?"] == (
        "1 held, 1 not held, 1 not measurable"
    )
    assert found["Which did not hold, for at least one model?"] == r"end \| is favoured"
    assert found["Which commit of the code?"] == STAMP["commit"]
    assert found["Which must not be used commercially?"] == "jina (CC BY-NC 4.0)"
    assert found["Which restrict their use?"] == "bloom (BLOOM RAIL)"
    assert found["Of which is it not known?"] == "posir (no licence known)"
    assert found["How long did all jobs take together, each counted by itself?"] == "1:00:05"
    assert found["How much memory did the largest job take?"] == "900 MiB"
    assert found["Which seeds were used?"] == "seed 42"
    assert found["What do the intervals vary?"] == (
        "95 % bootstrap over queries, 10,000 resamples (files: 1)"
    )
    assert found["How many files of measures state no interval?"] == "1"
    assert found["How were retrievers trained?"] == (
        "batch_size 32; mini_batch_tokens null; loss plain"
    )
    assert found["With which learning rates?"] == "bert 0.003, qwen3 4e-05, pooled 0.5"
    assert found["On which test collections?"] == "wiki (Wiki)"
    assert found["What wrote the training queries?"] == "openai, model gpt-4o-mini"
    assert found["What judged the audit?"] == UNKNOWN


def test_what_was_not_used_is_in_the_list_of_licences_only(tmp_path, record):
    text = checklist(tmp_path, record)
    assert "unused" not in text
    with (tmp_path / "licences.csv").open() as lines:
        rows = {row["name"]: row for row in csv.DictReader(lines)}
    assert (rows["unused"]["used"], rows["unused"]["commercial_use"]) == ("False", "no")
    assert (rows["posir"]["licence"], rows["posir"]["commercial_use"]) == ("", "not known")


def test_the_record_and_nothing_else_decides(tmp_path, record):
    """A checklist of nothing answers no question, and asks the same ones."""
    full, empty = checklist(tmp_path, record), checklist(tmp_path, {"format": 1}, claims=[])
    assert answers(empty).keys() == answers(full).keys()
    assert set(answers(empty).values()) == {UNKNOWN}
    asked = empty[empty.index("Not recorded") :].count("\n* ")
    assert asked == len(answers(empty))


def test_what_is_not_recorded_is_listed_at_the_end(tmp_path, record):
    text = checklist(tmp_path, record)
    listed = re.findall(r"^\* .*?: (.*)$", text[text.index("Not recorded") :], re.MULTILINE)
    assert listed == [question for question, told in answers(text).items() if told == UNKNOWN]
    assert "How long did failed and repeated jobs take?" in listed


def test_versions_that_are_not_the_locks_are_named(tmp_path, record):
    changed = {**record, "packages": [
        {"name": "numpy", "pinned": "2.0", "installed": "2.1"},
        {"name": "scipy", "pinned": "1.0", "installed": "1.0"},
        {"name": "torch", "pinned": None, "installed": "2.13"},
        {"name": "gensim", "pinned": "4.4", "installed": None},
    ]}  # fmt: skip
    found = answers(checklist(tmp_path, changed))
    assert found["How many packages are pinned to one version?"] == "3"
    assert found["Which were installed in another version?"] == "numpy 2.1 (pinned: 2.0)"
    assert found["Which versions are beside the lock?"] == "torch 2.13"
    assert found["Which were not in the environment that made this record?"] == "gensim"


@pytest.mark.parametrize(
    ("gpus", "told"),
    [
        (None, UNKNOWN),
        ([], "no GPU found (asked of nvidia-smi)"),
        ([{"name": "A100", "memory": "40 GiB"}], "A100 (40 GiB)"),
    ],
)
def test_no_gpu_is_not_the_same_as_not_known(tmp_path, record, gpus, told):
    changed = {**record, "machine": {**record["machine"], "gpus": gpus,
                                      "gpus_looked_for": "asked of nvidia-smi"}}  # fmt: skip
    assert answers(checklist(tmp_path, changed))["Which NVIDIA GPUs?"] == told


def test_departures_from_the_papers_scale_are_counted_by_block(tmp_path, record):
    paper = {**CONFIG, "seed": 7, "training": {**CONFIG["training"], "batch_size": 256, "x": 1}}
    text = checklist(tmp_path, record, paper=paper)
    found = answers(text)
    question = (
        "How many keys of the retriever study differ from the configuration of its paper's scale?"
    )
    assert found[question] == "3"
    assert "| training | 2 | batch_size, x |" in text
    assert "| seed | 1 | seed |" in text
    assert answers(checklist(tmp_path, record, paper=CONFIG))[question] == "0"
    assert answers(checklist(tmp_path, record))[question] == UNKNOWN


LISTWISE = {
    "teacher": [{"name": "lex", "kind": "bm25", "options": {}},
                {"name": "near", "kind": "cosine", "options": {"encoder": "minilm"}}],
    "queries": {"swap_share": 0.8, "encoder": "l3"},
    "scorer": {"kind": "passage_embedding", "model": None, "encoders": ["minilm", "l3"],
               "options": {"body": {"hidden_size": 128, "num_hidden_layers": 2}}},
    "first_stages": {"a": {"label": "BM25"}, "b": {"label": "RRF"}},
    "training": {"epochs": 3}, "models": {},
}  # fmt: skip


def test_the_listwise_study_is_told_apart_where_it_ran(tmp_path, record):
    config = {**CONFIG, "studies": ["retriever", "listwise"], "listwise": LISTWISE}
    paper = {**CONFIG, "listwise": {**LISTWISE, "training": {"epochs": 9}}}
    text = checklist(tmp_path, {**record, "config": config}, paper=paper)
    found = answers(text)
    assert found["What ordered the listwise study's training lists?"] == (
        "lex (bm25), near (cosine, encoder minilm)"
    )
    assert found["What changed the listwise study's queries?"] == (
        "80 % of a query's words swapped for those that l3 finds near"
    )
    (count,) = [told for asked, told in found.items() if "keys of the retriever study" in asked]
    assert count == "0"
    (reranker,) = re.findall(r"^\| reranker \| (.*Zephyr-7B.*) \| (.+) \|$", text, re.MULTILINE)
    assert reranker[1] == (
        "passage_embedding, over vectors of minilm, l3, of hidden_size 128; num_hidden_layers 2"
    )
    assert "| orders it learns | orders that GPT-4 gave | lex (bm25), near (cosine" in text
    # A block that no study reads tells nothing of the run.
    alone = checklist(tmp_path, {**record, "config": {**CONFIG, "listwise": LISTWISE}}, paper=paper)
    assert "Zephyr" not in alone and "listwise study" not in alone


def test_a_changed_checkout_is_told(tmp_path, record):
    question = "Which commit of the code?"
    clean = answers(checklist(tmp_path, record))[question]
    dirty = answers(checklist(tmp_path, {**record, "commit": "abc1234-dirty"}))[question]
    assert clean == STAMP["commit"]
    assert dirty == "abc1234-dirty, but files differed from this commit"


def test_files_of_other_runs_are_told_but_not_counted(tmp_path, record):
    question = "Which files of other runs' stations lay beside them, and were left out?"
    assert answers(checklist(tmp_path, record))[question] == "none"
    left = {**record, "left_out": {"files": 1200, "names": ["old", "older"]}}
    assert answers(checklist(tmp_path, left))[question] == "1,200: old, older"


def test_what_must_be_shared_alike_is_named_and_a_record_of_old_is_still_read(tmp_path, record):
    question = "Which ask that what is made from them be shared alike?"
    assert answers(checklist(tmp_path, record))[question] == "wikipedia (CC BY-SA 4.0)"
    rows = [{k: v for k, v in row.items() if k != "share_alike"} for row in record["licences"]]
    old = {**record, "licences": rows}
    assert answers(checklist(tmp_path, old))[question] == UNKNOWN
    with (tmp_path / "licences.csv").open() as lines:
        assert {row["share_alike"] for row in csv.DictReader(lines)} == {""}


def test_the_dearest_station_comes_first_and_the_sum_last(tmp_path, record):
    text = checklist(tmp_path, record)
    rows = re.findall(r"^\| (train|draw|all) \|", text, re.MULTILINE)
    assert rows == ["train", "draw", "all"]
    assert "| train | 1 | 1:00:00 | 1:00:00 | 50:00 | 900 |" in text


def test_the_same_record_makes_the_same_bytes(tmp_path, record):
    assert checklist(tmp_path, record) == checklist(tmp_path, record)


@pytest.mark.parametrize("content", [{}, [], {"format": 2}])
def test_what_is_no_record_is_refused(tmp_path, content):
    with pytest.raises(DataError, match=r"provenance\.json: no record of a run in format 1"):
        checklist(tmp_path, content)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=15)


@given(TEXT, TEXT, TEXT)
def test_no_text_breaks_out_of_its_cell(question, answer, cell):
    sections = [Section("s", ((question, answer),), (Table(("a", "b"), ((cell, "x"),)),))]
    text = checklist_text("t", "i", sections)
    rows = [line for line in text.split("\n") if line.startswith("|")]
    assert len(rows) == 6
    assert all(len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 3 for row in rows)
    assert "<" not in text
    assert unanswered(sections) == ([f"s: {question}"] if answer == UNKNOWN else [])


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, UNKNOWN), ("", UNKNOWN), ([], UNKNOWN), (0, "0"), (0.0, "0"), (False, "no"),
     (12345, "12,345"), (4e-5, "4e-05"), ([1, "a"], "1, a")],
)  # fmt: skip
def test_nothing_is_not_recorded_but_zero_is_something(value, text):
    assert said(value) == text
