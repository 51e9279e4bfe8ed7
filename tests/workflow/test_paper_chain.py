"""Every kind of link of the paper scale in one run, on local files in the true formats."""

import contextlib
import json
import re
import shutil
import signal
import threading
from collections import Counter
from pathlib import Path

import pytest
import yaml
from runs import csv_rows, jobs, lent_copy, snakemake, succeed
from test_interruption import interrupt, start, wait_until

import fake_openai
from benchmark_files import write_json_lines, write_parquet
from config_changes import asset_of
from posbias.assets import find_asset
from posbias.corpus.leads import read_leads

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

OVERLAY = "tests/workflow/paper_chain.yaml"
RESULTS = "results/chain"
PAIRS = 60  # questions of each collection
RETRIEVERS = ("gpt2_trained", "longformer_trained", "nope_trained")
SETTINGS = ("begin", "middle", "end", "uniform")
BEIR = [
    f"{RESULTS}/evaluation/{name}/gpt2_trained/begin/measures.json" for name in ("first", "second")
]
TARGETS = (
    "figures/psi_table.pdf",
    "figures/fineweb/psi_table.pdf",
    "figures/posir/psi_table.pdf",
    "figures/truncation.pdf",
    "figures/pooling_curves.pdf",
    "figures/paper_vs_ours.pdf",
    "figures/evidence_places.pdf",
    "figures/fine_psi_table.pdf",
    *BEIR,
    f"{RESULTS}/anchors.json",
    f"{RESULTS}/queries/estimate.json",
)


def reply(prompt: str) -> str:
    """Answer as a model would: the first persona, a query of words of the segment, a verdict."""
    judged = re.search(r"<query>\n(.*)\n</query>\n\n<passage>\n(.*)\n</passage>", prompt, re.DOTALL)
    if judged:
        holds = all(word in judged[2] for word in judged[1].split())
        return json.dumps({"reasoning": "by its words", "answer": "yes" if holds else "no"})
    if "<people>" in prompt:
        person = re.search(r"<people>\n1\. (.+)", prompt)[1]
        return json.dumps(
            {"Character": person, "Difficulty": "university", "Query_Length": "short"}
        )
    segment = re.search(r"<segment place=.*?>\n(.*)\n</segment>", prompt, re.DOTALL)[1]
    words = [word for word in segment.split() if len(word) > 3] or segment.split()
    return (
        "Here it is:\n```json\n"
        + json.dumps({"query": " ".join(words[:4]), "answer": words[-1], "reasoning": "only there"})
        + "\n```"
    )


def write_data(data: Path, leads: list) -> None:
    """Write articles, questions and two BEIR collections out of real lead sections."""
    rows = [
        {
            "id": str(number),
            "url": f"https://example.org/{number}",
            "title": lead.title,
            "text": lead.text,
        }
        for number, lead in enumerate(leads)
    ]
    write_parquet(data / "articles/20231101.en/train-00000-of-00002.parquet", rows[:150])
    write_parquet(data / "articles/20231101.en/train-00001-of-00002.parquet", rows[150:])
    paragraphs = []
    for row in rows[:PAIRS]:
        start = (17 * int(row["id"])) % (len(row["text"]) - 20)
        answer = row["text"][start : start + 20]
        question = " ".join(row["text"][max(0, start - 20) : start + 40].split())
        asked = {
            "id": f"q{row['id']}",
            "question": question,
            "answers": [{"text": answer, "answer_start": start}],
        }
        none = {
            "id": f"n{row['id']}",
            "question": "What of it?",
            "answers": [],
            "is_impossible": True,
        }
        paragraphs.append({"context": row["text"], "qas": [asked, none]})
    (data / "squad").mkdir()
    squad = {"version": "v2.0", "data": [{"title": "all", "paragraphs": paragraphs}]}
    (data / "squad/dev.json").write_text(json.dumps(squad), encoding="utf-8")
    thirds = ("beginning", "middle", "end")
    spans = [
        {
            "question": " ".join(row["text"][start : start + 40].split())
            if row["id"] != "3"
            else None,
            "content": row["text"],
            "answer": "yes",
            "span": [start, start + 40],
            "span_class": [thirds[number % 3], *(["end"] if number % 3 == 1 else [])],
        }
        for number, row in enumerate(rows[:PAIRS])
        for start in [number % 3 * len(row["text"]) // 3]
    ]
    write_parquet(data / "fineweb/train-00000-of-00001.parquet", spans)
    for number, domain in enumerate(("news_media", "law_judiciary")):
        part = rows[number * PAIRS // 2 : (number + 1) * PAIRS // 2]
        folder = data / "posir/PosIR-Benchmark-v1/eng-Latn" / domain
        write_parquet(
            folder / "corpus.parquet", [{"_id": row["id"], "text": row["text"]} for row in part]
        )
        asked = [
            {
                "_id": f"q{row['id']}",
                "text": " ".join(row["text"][start : start + 40].split()),
                "pos_char_span": [start, start + 40],
                "pos_char_length": len(row["text"]),
                "pos_token_length": len(row["text"]) // 4,
            }
            for place, row in enumerate(part)
            for start in [place % 4 * (len(row["text"]) - 40) // 3]
        ]
        write_parquet(folder / "queries.parquet", asked)
        judged = [{"query-id": f"q{r['id']}", "corpus-id": r["id"], "score": 1} for r in part]
        write_parquet(folder / "qrels/test.parquet", judged)
    # Two collections that share most documents; a judgement of one names a document it lacks.
    for name, part, packed in (("first", rows[:100], ".gz"), ("second", rows[:105], "")):
        folder = data / f"beir_{name}"
        write_json_lines(
            folder / f"corpus.jsonl{packed}",
            [{"_id": f"d{row['id']}", "title": row["title"], "text": row["text"]} for row in part],
        )
        asked = part[:PAIRS] if name == "first" else part[PAIRS // 2 :]
        write_json_lines(
            folder / f"queries.jsonl{packed}",
            [{"_id": f"{name}{row['id']}", "text": row["title"], "metadata": {}} for row in asked],
        )
        judged = [f"{name}{row['id']}\td{row['id']}\t1" for row in asked]
        lines = ["query-id\tcorpus-id\tscore", *judged, f"{name}{asked[0]['id']}\tgone\t1"]
        (folder / "qrels").mkdir()
        (folder / "qrels/test.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def leads(root):
    """Real lead sections of the lengths of the shrunken bins."""
    config = yaml.safe_load((root / "config.yaml").read_text("utf-8"))
    return read_leads(find_asset(**asset_of(config, "leads")), 192, 287, 300, 42, Counter())


@contextlib.contextmanager
def serving():
    """Yield a server that replies as above."""
    with pytest.MonkeyPatch.context() as patch, fake_openai.FakeOpenAI() as server:
        patch.setattr(fake_openai, "answer_to", reply)
        yield server


def access(server) -> dict[str, str]:
    """Return the variables in which the configuration looks for a server and its key."""
    return {"TOY_KEY": fake_openai.KEY, "TOY_URL": server.url}


@pytest.fixture(scope="module")
def chain(snapshot, leads, tmp_path_factory):
    """A copy in which the chain ran once; `run.txt` is its output, `paid.json` the bill."""
    torch = pytest.importorskip("torch")
    from family_checkpoints import write_checkpoint
    from small_cross_encoder import save_random

    torch.set_num_threads(1)
    with lent_copy(snapshot, tmp_path_factory.mktemp("chain") / "checkout") as copy:
        write_data(copy / "data", leads)
        for family in ("gpt2", "longformer", "tinyllama_nope"):
            write_checkpoint(family, copy / "data" / family)
        save_random(copy / "data/reranker")
        with serving() as server:
            server.faults["POST /batches"] = ["500"]
            told = succeed(copy, *snakemake(*TARGETS, overlays=(OVERLAY,)), more=access(server))
            paid = {"prompts": len(server.paid), "calls": sum(server.bill().values())}
        (copy / "run.txt").write_text(told, encoding="utf-8")
        (copy / "paid.json").write_text(json.dumps(paid), encoding="utf-8")
        yield copy


def read(copy: Path, name: str) -> dict:
    return json.loads((copy / RESULTS / name).read_text("utf-8"))


def test_each_thing_is_fetched_and_each_corpus_encoded_once(chain):
    ran = jobs((chain / "run.txt").read_text("utf-8"))
    # Twelve of three retrievers, and one of these with another way of pooling.
    assert ran["fetch_artefact"] == 10 and ran["train_retriever"] == 12 + 4
    # SQuAD by all, the web and PosIR by one, a corpus in two shards, the variant on the first two.
    assert ran["join_corpora"] == 1 and ran["search_corpus"] == 3 + 2 + 2 + 2
    manifests = [json.loads(p.read_text()) for p in (chain / "downloads").glob("*/manifest.json")]
    assert len(manifests) == 10 and all(m["files"] for m in manifests)
    joined = read(chain, "joined/shared.json")
    assert joined["documents"] == 105 and joined["shared"] == 100


def test_every_answer_is_paid_once_and_the_estimate_knew_their_number(chain):
    documents = len((chain / RESULTS / "corpus/documents.jsonl").read_text("utf-8").splitlines())
    assert documents == 2 * 30
    paid = json.loads((chain / "paid.json").read_text())
    judged = read(chain, "audit/summary.json")["counts"]["asked"]
    assert 0 < judged <= 5 * 5 * 3
    assert paid == {"prompts": 4 * documents + judged, "calls": 4 * documents + judged}
    estimate = read(chain, "queries/estimate.json")
    assert [estimate[stage]["calls"] for stage in ("stage_1", "stage_2")] == [60, 180]
    summary = read(chain, "queries/summary.json")
    assert summary["candidates"] + sum(summary["dropped"].values()) == 180
    # The log is no output of the rule: a failed job must not take paid answers with it.
    assert (chain / RESULTS / "answers/hosted.jsonl").is_file()
    assert (chain / RESULTS / "answers/audit-hosted_judge.jsonl").is_file()
    assert fake_openai.KEY not in (chain / "run.txt").read_text("utf-8")


def test_a_killed_run_of_queries_pays_nothing_twice_and_ends_with_the_same_bytes(chain, tmp_path):
    asked = (f"{RESULTS}/queries/candidates.jsonl", f"{RESULTS}/queries/summary.json")
    with lent_copy(chain, tmp_path / "killed") as copy, serving() as server:
        for folder in ("queries", "answers"):
            shutil.rmtree(copy / RESULTS / folder)
        command = snakemake(*asked, overlays=(OVERLAY,))
        killed = threading.Event()
        server.on_paid = lambda: len(server.paid) < 100 or killed.wait(60)
        driver = start(copy, *command, more=access(server))
        wait_until(copy, driver, lambda copy: len(server.paid) >= 100)
        interrupt(copy, driver, signal.SIGKILL, alone=False)
        killed.set()
        assert not any((copy / name).exists() for name in asked)
        succeed(copy, *snakemake("--unlock", overlays=(OVERLAY,)))
        succeed(copy, *command, more=access(server))
        assert set(server.bill().values()) == {1}
        for name in asked:
            assert (copy / name).read_bytes() == (chain / name).read_bytes(), name


def test_the_tables_rows_are_the_retrievers_and_the_reference(chain):
    rows = csv_rows(chain / "figures/psi_table.csv")
    wanted = {(r, s) for r in RETRIEVERS for s in SETTINGS} | {("bm25", "")}
    assert {(row["retriever"], row["setting"]) for row in rows} == wanted
    assert {row["grouping"] for row in rows} == {"characters"}
    assert {int(row["n"]) for row in rows} == {PAIRS}


def test_the_share_of_evidence_that_is_cut_off_stands_under_the_table(chain):
    rows = csv_rows(chain / "figures/truncation.csv")
    shares = {
        (row["retriever"], row["position"]): float(row["share"])
        for row in rows
        if row["bin"] == "240-288"
    }
    assert shares["gpt2_trained", "end"] > 0.9 > 0.1 > shares["gpt2_trained", "begin"]
    assert (
        "GPT-2"
        in re.search(
            r"longest input.*", (chain / "figures/psi_table.tex").read_text("utf-8"), re.DOTALL
        )[0]
    )


@pytest.mark.parametrize(
    ("name", "grouping", "sizes"),
    [
        ("fineweb", "thirds", {"begin": 19, "middle": 20, "end": 40}),  # one has no question
        ("posir", "bins", {"0.00-0.25": 16, "0.25-0.50": 16, "0.50-0.75": 14, "0.75-1.00": 14}),
    ],
)
def test_benchmarks_of_other_kinds_have_tables_of_their_own(chain, name, grouping, sizes):
    rows = csv_rows(chain / f"figures/{name}/psi_table.csv")
    assert {row["retriever"] for row in rows} == {"gpt2_trained", "bm25"}
    assert {row["grouping"] for row in rows} == {grouping}
    found = read(chain, f"evaluation/{name}/references/bm25/measures.json")["groupings"][grouping]
    assert {group["name"]: group["n"] for group in found["groups"]} == sizes
    # A question is a stretch of its own text.
    assert all(group["mean"] > 0.8 for group in found["groups"])


@pytest.mark.parametrize("name", ["first", "second"])
def test_the_public_tool_finds_the_measures_of_collections_without_positions(chain, name):
    found = f"{RESULTS}/evaluation/{name}"
    qrels = f"{RESULTS}/benchmarks/{name}/qrels.txt"
    for system in ("gpt2_trained/begin", "references/bm25"):
        record = read(chain, f"evaluation/{name}/{system}/measures.json")
        told = succeed(chain, "ir_measures", qrels, f"{found}/{system}/run.txt", "nDCG@10")
        assert float(told.split()[-1]) == pytest.approx(record["micro_mean"], abs=5.1e-5)
        assert record["groupings"] == {}
    assert (
        read(chain, f"benchmarks/{name}/summary.json")["counts"]["judgements_outside_the_corpus"]
        == 1
    )


def test_anchors_of_other_collections_are_not_compared(chain):
    counts = read(chain, "anchors.json")["counts"]
    assert counts["not run"] == sum(counts.values())


def test_a_second_run_has_nothing_to_do_and_asks_nobody(chain):
    told = succeed(chain, *snakemake("-n", *TARGETS, overlays=(OVERLAY,)))
    assert "Nothing to be done" in told


def test_checkpoints_keep_what_their_entry_asked_for(chain, tmp_path):
    code = (
        "import sys; from sentence_transformers import SentenceTransformer as S\n"
        "for path in sys.argv[1:]:\n"
        "    model = S(path, device='cpu')\n"
        "    both = model.encode(['a query'])[0] @ model.encode(['a query', 'of ' * 40])[0]\n"
        "    print(model.tokenizer.padding_side, model.max_seq_length, round(float(both), 4))\n"
    )
    paths = [str(chain / RESULTS / f"models/{name}/end") for name in RETRIEVERS]
    told = succeed(tmp_path, "python", "-c", code, *paths).split("\n")
    assert [line for line in told if line.startswith("right")] == [
        "right 80 1.0", "right 192 1.0", "right 128 1.0",
    ]  # fmt: skip
    settings = read(chain, "models/nope_trained/end/posbias.json")
    assert settings["base"]["name"] == "llama_checkpoint"


def test_a_file_that_changed_deep_in_a_users_folder_reruns_what_reads_it(chain):
    corpus = chain / "data/beir_second/corpus.jsonl"
    with corpus.open("a", encoding="utf-8") as lines:
        lines.write('{"_id": "new", "title": "New", "text": "One more document."}\n')
    planned = jobs(succeed(chain, *snakemake("-n", *BEIR, overlays=(OVERLAY,))))
    assert planned == {
        "fetch_artefact": 1,
        "build_benchmark": 1,
        "join_corpora": 1,
        "search_corpus": 2,
        "evaluate_retriever": 2,
    }
