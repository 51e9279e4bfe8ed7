"""The whole workflow, shrunken: what it leaves, and that it repeats."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import yaml
from pypdf import PdfReader
from pypdf.generic import DictionaryObject, IndirectObject
from runs import (
    BENCHMARK,
    DATA_TABLES,
    LISTWISE_FIGURES,
    RESULTS,
    RETRIEVER_CURVES,
    RETRIEVER_FIGURES,
    RETRIEVER_TABLES,
    SHRUNKEN,
    csv_rows,
    hashes,
    jobs,
    snakemake,
    succeed,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

FIGURES = (*RETRIEVER_FIGURES, *LISTWISE_FIGURES)
TABLES = (*RETRIEVER_TABLES, *DATA_TABLES, "listwise_table1", "listwise_table2", "listwise_table3")
SETTINGS = ("begin", "middle", "end", "uniform")
RETRIEVERS = ("bert", "tinyllama_nope")
REFERENCES = ("bm25", "minilm_l6")


def measures(copy: Path) -> dict[tuple[str, str], dict]:
    """Return the measures by retriever and setting, an empty one for a reference; no variants."""
    found = [
        json.loads(p.read_text("utf-8"))
        for p in copy.glob(f"{RESULTS}/evaluation/{BENCHMARK}/*/*/*.json")
    ]
    return {
        (record["retriever"], record["setting"] or ""): record
        for record in found
        if record["retriever"] in (*RETRIEVERS, *REFERENCES)
    }


def number(text: str) -> float | None:
    return float(text) if text else None


def fonts(pdf: Path) -> list[DictionaryObject]:
    """Return every font of a PDF, also those of forms inside pages."""
    reader = PdfReader(pdf)
    objects = [IndirectObject(i, 0, reader).get_object() for i in range(1, reader.trailer["/Size"])]
    return [o for o in objects if isinstance(o, DictionaryObject) and o.get("/Type") == "/Font"]


def test_everything_is_there(reference):
    made = ["claims.json", "claims.txt", "claims.html", "verify.json"]
    expected = [f"{RESULTS}/{name}" for name in made]
    expected += [
        f"figures/{name}{end}" for name in FIGURES for end in (".pdf", ".csv", ".meta.json")
    ]
    expected += [f"figures/{name}.tex" for name in TABLES]
    expected += [
        f"{RESULTS}/models/{r}/{s}/model.safetensors" for r in RETRIEVERS for s in SETTINGS
    ]
    assert [name for name in expected if not (reference / name).stat().st_size] == []
    systems = {(r, s) for r in RETRIEVERS for s in SETTINGS} | {(r, "") for r in REFERENCES}
    assert measures(reference).keys() == systems


def test_the_paper_is_compared_and_the_checklist_filled(reference):
    page = (reference / "figures/paper_vs_ours.html").read_text("utf-8")
    assert "hrunken for tests" in page and 'src="http' not in page
    cells = csv_rows(reference / "figures/paper_vs_ours.csv")
    assert {row["class"] for row in cells} == {"other scale", "not run"}
    directions = csv_rows(reference / "figures/paper_vs_ours_directions.csv")
    ours = {row["verdict"] for row in directions}
    assert "not run" in ours and len(ours) > 1
    checklist = (reference / "figures/checklist.md").read_text("utf-8")
    assert "Apache-2.0" in checklist
    assert {row["name"] for row in csv_rows(reference / "figures/licences.csv")} >= {"minilm_l6"}


def test_every_job_left_a_log_and_a_benchmark(reference):
    ran = jobs((reference / "run.txt").read_text("utf-8"))
    assert ran.pop("all") == 1
    for folder, ending in (("logs", ".log"), ("benchmarks", ".tsv")):
        below = reference / folder / "shrunken"
        files = [path.relative_to(below) for path in below.rglob("*") if path.is_file()]
        assert {path.suffix for path in files} == {ending}
        assert Counter(path.parts[0].removesuffix(ending) for path in files) == ran


def test_nothing_half_written_and_no_state_of_training_is_left(reference):
    assert [p for p in (reference / RESULTS / "resume").rglob("*") if p.is_file()] == []
    left = [
        path for folder in ("results", "figures") for path in (reference / folder).rglob("*.part")
    ]
    assert left == []


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_a_pdf_whose_text_stays_text(reference, name):
    kinds = {font["/Subtype"] for font in fonts(reference / "figures" / f"{name}.pdf")}
    assert kinds and "/Type3" not in kinds
    text = "".join(
        page.extract_text() for page in PdfReader(reference / f"figures/{name}.pdf").pages
    )
    assert "hrunken for tests" in text
    named = {*RETRIEVER_TABLES, *RETRIEVER_CURVES} - {
        "training_table", "standard_mean_table", "pooling_curves",
    }  # fmt: skip
    assert name not in named or "BERT" in text


def test_the_tables_numbers_are_the_measures(reference):
    records = measures(reference)
    rows = csv_rows(reference / "figures/psi_table.csv")
    assert Counter((row["retriever"], row["setting"]) for row in rows) == Counter(records.keys())
    for row in rows:
        record = records[row["retriever"], row["setting"]]
        thirds, characters = record["groupings"]["thirds"], record["groupings"]["characters"]
        assert number(row["micro_mean"]) == record["micro_mean"]
        for field in ("macro_mean", "macro_low", "macro_high", "psi", "psi_low", "psi_high"):
            assert number(row[field]) == thirds[field], field
        for field in ("psi", "psi_low", "psi_high"):
            assert number(row[f"characters_{field}"]) == characters[field], field
        for name, grouping in record["groupings"].items():
            for group in grouping["groups"]:
                assert number(row[f"{name}_{group['name']}_mean"]) == group["mean"]
                assert int(row[f"{name}_{group['name']}_n"]) == group["n"]


def test_the_curves_numbers_are_the_measures(reference):
    points = {
        (r["retriever"], r["setting"], r["grouping"], r["group"]): r
        for r in csv_rows(reference / "figures/position_curves.csv")
    }
    groups = {
        (*key, name, group["name"]): group
        for key, record in measures(reference).items()
        for name, grouping in record["groupings"].items()
        for group in grouping["groups"]
    }
    assert points.keys() == groups.keys()
    for key, group in groups.items():
        for field in ("mean", "low", "high", "n"):
            assert number(points[key][field]) == group[field], (key, field)


def test_the_public_tool_finds_the_tables_numbers(reference):
    tex = (reference / "figures/psi_table.tex").read_text("utf-8")
    for row in csv_rows(reference / "figures/psi_table.csv"):
        folder = f"{row['retriever']}/{row['setting']}" if row["setting"] else (
            f"references/{row['retriever']}")  # fmt: skip
        if row["setting"] not in ("begin", ""):
            continue
        run_file = f"{RESULTS}/evaluation/{BENCHMARK}/{folder}/run.txt"
        qrels = f"{RESULTS}/benchmarks/{BENCHMARK}/qrels.txt"
        told = succeed(reference, "ir_measures", qrels, run_file, "nDCG@10")
        # The thirds hold equally many queries, so that their mean is the mean over queries.
        assert float(told.split()[-1]) == pytest.approx(float(row["macro_mean"]), abs=5.1e-5)
        assert f"{float(row['macro_mean']):.3f}".removeprefix("0") in tex


def test_checkpoints_load_without_this_project_and_a_network(reference, tmp_path):
    code = (
        "import json, sys; from sentence_transformers import SentenceTransformer as S\n"
        "encode = lambda path: S(path, device='cpu').encode(['a query', 'a document'])\n"
        "json.dump([encode(path).tolist() for path in sys.argv[2:]], open(sys.argv[1], 'w'))\n"
    )
    paths = [str(reference / RESULTS / "models" / r / s) for r in RETRIEVERS for s in SETTINGS]
    succeed(tmp_path, "python", "-c", code, "vectors.json", *paths)
    vectors = np.array(json.loads((tmp_path / "vectors.json").read_text("utf-8")))
    assert vectors.shape == (len(paths), 2, 32)
    assert np.linalg.norm(vectors, axis=2) == pytest.approx(1.0, abs=1e-4)
    assert len({vector.tobytes() for vector in vectors}) == len(paths)


def test_the_verdicts_are_about_this_run(reference):
    claims = json.loads((reference / RESULTS / "claims.json").read_text("utf-8"))
    assert {claim["retriever"] for claim in claims} == {*RETRIEVERS, None}
    listwise = {claim["id"].startswith("listwise.") for claim in claims}
    assert listwise == {True, False}, "the claims of one study are missing"
    verdict = json.loads((reference / RESULTS / "verify.json").read_text("utf-8"))["verdict"]
    assert verdict == "no reference numbers"


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_tells_where_it_comes_from(reference, name):
    meta = json.loads((reference / f"figures/{name}.meta.json").read_text("utf-8"))
    assert (meta["scale"], meta["seeds"]) == ("shrunken", [42])
    for file in meta["inputs"]:
        assert hashes(reference, str(Path(file["path"]).parent))[file["path"]] == file["sha256"]
    assert meta["inputs"] or name == "listwise_causal_graph"


def test_a_second_run_has_nothing_to_do(reference):
    assert "Nothing to be done" in succeed(reference, *snakemake())


def test_the_report_is_made_offline(finished):
    succeed(finished, *snakemake("--report", "out.html"))
    report = (finished / "out.html").read_text("utf-8")
    assert [name for name in FIGURES if f"{name}.pdf" not in report] == []


def test_the_shrunken_run_takes_part_in_no_other_scale(reference):
    assert [p.name for p in (reference / "results").iterdir() if p.is_dir()] == ["shrunken"]
    assert yaml.safe_load((reference / SHRUNKEN).read_text("utf-8"))["scale"] == "shrunken"
