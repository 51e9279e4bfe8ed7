"""Table 12: front and back evidence before and after mirroring, from files to pages."""

import json
import shutil

import matplotlib
import pandas as pd
import pytest
from pypdf import PdfReader

import build_benchmark
import make_reversal_table
import search_toy
from benchmark_files import write_json_lines
from imports import library_files
from posbias.errors import ConfigError, DataError
from posbias.files import read_json, sha256_file, write_json
from posbias.measures.groups import ZONES
from posbias.report import style
from posbias.report.grid import draw_grid
from posbias.report.provenance import footer_text
from posbias.report.records import read_measures
from posbias.report.reversal import cut_note, reversal_frame, reversal_table, signed
from report_measures import LABELS, PROVENANCE, grouping, record

SETTINGS = ("begin", "middle", "end", "uniform")
COLUMNS = [
    "retriever", "label", "setting", "orig_front", "rev_front_to_back", "orig_back",
    "rev_back_to_front", "delta", "delta_low", "delta_high", "n_front", "n_back",
]  # fmt: skip
# Table 12: front, front to back, back, back to front; the printed difference.
PAPER = {
    "modernbert_base": [
        (0.435, 0.187, 0.272, 0.382), (0.364, 0.238, 0.288, 0.375),
        (0.238, 0.458, 0.458, 0.331), (0.385, 0.353, 0.413, 0.413),
    ],
    "qwen3": [
        (0.475, 0.353, 0.352, 0.589), (0.354, 0.417, 0.372, 0.531),
        (0.254, 0.680, 0.502, 0.450), (0.409, 0.581, 0.469, 0.620),
    ],
}  # fmt: skip
PRINTED = {
    "modernbert_base": ["+.195", "+.137", "−.127", "+.060"],
    "qwen3": ["+.236", "+.114", "−.230", "+.039"],
}
OURS = {**PROVENANCE, "retrievers": list(PAPER)}


def zones(front: float, back: float, n: tuple[int, int, int] = (90, 30, 80)) -> dict:
    """Return a grouping by zones, its ends' difference within .05 on either side."""
    found = grouping(ZONES, [front, 0.3, back], 1)
    for group, size in zip(found["groups"], n, strict=True):
        group["n"] = size
    gap = front - back
    return found | {
        "first_minus_last": gap,
        "first_minus_last_low": gap - 0.05,
        "first_minus_last_high": gap + 0.05,
    }


def measured(key: str, setting: str, **of_zones) -> dict:
    return record(key, setting, [0.3, 0.3, 0.3]) | {"groupings": {"zones": zones(**of_zones)}}


def of_the_paper() -> tuple[list[dict], list[dict]]:
    original, mirrored = [], []
    for key, rows in PAPER.items():
        for setting, (front, to_back, back, to_front) in zip(SETTINGS, rows, strict=True):
            original.append(measured(key, setting, front=front, back=back))
            mirrored.append(measured(key, setting, front=to_front, back=to_back, n=(80, 30, 90)))
    return original, mirrored


def summary_of(folder) -> str:
    path = folder / "summary.json"
    write_json(path, {"queries": 1200, "counts": {"queries_whose_evidence_is_cut": 1034}})
    return path


def written(folder, records) -> list:
    paths = [folder / f"{number}.json" for number in range(len(records))]
    for path, one in zip(paths, records, strict=True):
        write_json(path, one)
    return paths


def make(folder, original, mirrored, provenance=OURS, **changed) -> dict:
    out = {name: folder / f"out.{name}" for name in ("pdf", "csv", "tex", "meta")}
    make_reversal_table.main(
        **{
            "original": written(folder / "a", original),
            "mirrored": written(folder / "b", mirrored),
            "summary": summary_of(folder),
            "provenance": provenance,
            "benchmark": "a benchmark",
            "segments": 5,
            "at_each_end": 2,
            **out,
            **changed,
        }
    )
    return out


def test_the_frame_joins_zones_crosswise():
    frame = reversal_frame(*of_the_paper())
    assert list(frame)[: len(COLUMNS)] == COLUMNS
    assert frame["setting"].tolist() == list(SETTINGS) * 2
    assert [tuple(row) for row in frame[COLUMNS[3:7]].to_numpy()] == [
        *PAPER["modernbert_base"],
        *PAPER["qwen3"],
    ]
    difference = frame["rev_back_to_front"] - frame["rev_front_to_back"]
    assert frame["delta"].tolist() == difference.tolist()
    assert frame["delta_low"].tolist() == pytest.approx((difference - 0.05).tolist())
    assert set(frame["n_front"]) == {90} and set(frame["n_back"]) == {80}
    assert frame["label"].iloc[-1] == LABELS["qwen3"]


def test_the_order_is_that_of_the_config_and_references_are_passed_over():
    original, mirrored = of_the_paper()
    reference = measured("bm25", None, front=0.9, back=0.9)
    frame = reversal_frame(
        [reference, *original[::-1]], [*mirrored, reference], ["qwen3", "modernbert_base"]
    )
    assert frame["retriever"].tolist() == ["qwen3"] * 4 + ["modernbert_base"] * 4
    assert frame["setting"].tolist() == list(SETTINGS) * 2


def test_the_table_prints_the_papers_differences_with_their_sign():
    grid = reversal_table(reversal_frame(*of_the_paper()), 5, 2, "Cut.")
    for section, printed in zip(grid.sections, PRINTED.values(), strict=True):
        assert [row[-1].text for row in section.rows] == printed
        assert [row[0].text for row in section.rows] == ["MB", "MM", "ME", "MU"]
    assert grid.sections[0].rows[0][-1].interval == ".145–.245"
    assert grid.sections[0].rows[2][-1].interval == "−.177 to −.077"
    assert {len(row) for section in grid.sections for row in section.rows} == {len(grid.columns)}
    told = " ".join(grid.notes)
    assert "first 2 of 5" in told and "Cut." in told
    assert "n = 90 queries with front evidence, 80 with back evidence." in told


def test_queries_that_change_their_zone_are_told():
    original, mirrored = of_the_paper()
    for one in mirrored:
        one["groupings"]["zones"]["groups"][2]["n"] = 91
    frame = reversal_frame(original, mirrored)
    told = " ".join(reversal_table(frame, 5, 2, "").notes)
    assert "n = 90 (91 in the mirrored corpus) queries with front evidence, 80 with" in told


@pytest.mark.parametrize(
    ("value", "printed"),
    [(0.1944, "+.194"), (-0.126, "−.126"), (0.0, ".000"), (0.0004, ".000"), (-0.0004, ".000"),
     (1.0, "+1.000"), (None, "–"), (float("nan"), "–")],
)  # fmt: skip
def test_signs(value, printed):
    assert signed(value) == printed


def test_an_empty_zone_is_a_dash_and_said_to_be_one():
    original, mirrored = of_the_paper()
    empty = mirrored[0]["groupings"]["zones"]
    empty["groups"][0] |= {"mean": None, "low": None, "high": None, "n": 0}
    ends = ("first_minus_last", "first_minus_last_low", "first_minus_last_high")
    empty |= dict.fromkeys(ends)
    grid = reversal_table(reversal_frame(original, mirrored), 5, 2, "")
    assert [cell.text for cell in grid.sections[0].rows[0][4:]] == ["–", "–"]
    assert grid.sections[0].rows[0][-1].interval == ""
    assert "–: no query." in grid.notes


def without(records, number):
    return [*records[:number], *records[number + 1 :]]


def test_what_is_missing_is_named():
    original, mirrored = of_the_paper()
    with pytest.raises(DataError, match="modernbert_base: middle"):
        reversal_frame(original, without(mirrored, 1))
    with pytest.raises(DataError, match="qwen3: uniform"):
        reversal_frame(without(original, 7), mirrored)
    with pytest.raises(DataError, match="qwen3: measured on the original or on the mirrored"):
        reversal_frame(original[:4], mirrored)
    with pytest.raises(DataError, match="modernbert_base, setting begin: measured twice"):
        reversal_frame(original, [*mirrored, mirrored[0]])
    with pytest.raises(DataError, match="at least one retriever"):
        reversal_frame([], [])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r["groupings"].pop("zones"), "qwen3, setting begin: no grouping 'zones'"),
        (lambda r: r["groupings"]["zones"]["groups"].pop(), "its zones are front, mid, expected"),
        (lambda r: r["groupings"]["zones"].pop("first_minus_last"), "difference of front and back"),
    ],
)
def test_measures_of_another_kind_are_named(change, message):
    original, mirrored = of_the_paper()
    change(mirrored[4])
    with pytest.raises(DataError, match=message):
        reversal_frame(original, mirrored)


def test_the_script_writes_page_numbers_latex_and_sources(tmp_path):
    out = make(tmp_path, *of_the_paper())
    reader = PdfReader(out["pdf"])
    words = reader.pages[0].extract_text()
    assert len(reader.pages) == 1
    for part in ("a benchmark", "ModernBERT-base", "Qwen3", "−.230", "1,034 of 1,200", "abc1234"):
        assert part in words
    frame = pd.read_csv(out["csv"])
    assert len(frame) == 8 and list(frame)[: len(COLUMNS)] == COLUMNS
    tex = out["tex"].read_text("utf-8")
    assert r"\label{tab:reversal}" in tex and "$-$.230" in tex and "+.236" in tex
    assert tex.isascii()
    meta = read_json(out["meta"])
    assert len(meta["inputs"]) == 17
    assert meta["inputs"][-1]["sha256"] == sha256_file(tmp_path / "summary.json")
    assert meta["interval"]["resamples"] == 10000


def test_the_same_bytes_again_under_other_settings(tmp_path):
    first = {name: path.read_bytes() for name, path in make(tmp_path, *of_the_paper()).items()}
    with matplotlib.rc_context({"font.size": 30}):
        again = make(tmp_path, *of_the_paper())
    assert {name: path.read_bytes() for name, path in again.items()} == first


def test_nothing_is_written_on_a_fault(tmp_path):
    original, mirrored = of_the_paper()
    with pytest.raises(ConfigError, match="commit"):
        make(tmp_path, original, mirrored, {k: v for k, v in OURS.items() if k != "commit"})
    mirrored[1]["interval"] = mirrored[1]["interval"] | {"resamples": 5}
    with pytest.raises(DataError, match="same bootstrap settings"):
        make(tmp_path, original, mirrored)
    assert not list(tmp_path.glob("out.*"))


def test_a_summary_of_another_kind_is_named(tmp_path):
    path = tmp_path / "summary.json"
    for content in ([], {"queries": 3}, {"queries": 3, "counts": {"candidates": 2}},
                    {"queries": 3, "counts": {}}, {"queries": 3, "counts": None}):  # fmt: skip
        write_json(path, content)
        with pytest.raises(DataError, match=r"summary\.json: .*says how often evidence is cut"):
            cut_note(path)


def eight_retrievers() -> tuple[list[dict], list[dict]]:
    found: tuple[list[dict], list[dict]] = ([], [])
    for key in LABELS:
        for setting in SETTINGS:
            for records in found:
                records.append(measured(key, setting, front=0.4, back=0.55))
    return found


@pytest.mark.parametrize("records", [of_the_paper, eight_retrievers])
def test_all_text_is_legible_on_the_page_and_none_overlaps(records):
    table = reversal_table(reversal_frame(*records()), 5, 2, "A cut goes through some evidence.")
    with style.print_style():
        figure = draw_grid(table, "Title", footer_text(PROVENANCE, records()[0][0]["interval"]))
        figure.dpi = 720
        figure.draw_without_rendering()
        texts = [t for t in figure.findobj(matplotlib.text.Text) if t.get_text().strip()]
        boxes = [(text, text.get_window_extent()) for text in texts]
        width, height = figure.bbox.width, figure.bbox.height
    assert figure.get_size_inches()[0] == style.PAGE_WIDTH
    for index, (text, box) in enumerate(boxes):
        assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height, text
        assert text.get_fontsize() >= 6.5
        for other, beside in boxes[index + 1 :]:
            assert not box.shrunk(0.98, 0.7).overlaps(beside.shrunk(0.98, 0.7)), (text, other)


def test_the_report_loads_no_library_of_training(scripts):
    files = library_files(scripts / "make_reversal_table.py")
    assert not any(name in str(file) for file in files for name in ("models/", "training/"))


NUMBERS = range(40)
WORDS = ("ab", "cd", "ef", "gh", "ij")


def build_toy(folder) -> tuple[dict, dict]:
    """Write a collection of documents of five segments, a word in each, and its mirrored copy."""
    names = {
        "corpus": "corpus.jsonl", "queries": "queries.jsonl", "qrels": "qrels.txt",
        "excluded": "excluded.json", "summary": "summary.json",
    }  # fmt: skip
    before, after = ({key: folder / at / name for key, name in names.items()} for at in "ab")
    documents, queries = [], []
    for number in NUMBERS:
        words = [f"{word}{number:03d} " for word in WORDS]
        documents.append({"doc_id": f"d{number}", "text": "".join(words)})
        queries += [
            {
                "query_id": f"d{number}-{word.strip()}", "text": word.strip(),
                "doc_id": f"d{number}", "positions": ["begin"], "answer_start": 6 * at,
                "answer_end": 6 * at + 5, "midpoint": (6 * at + 2.5) / 30,
            }
            for at, word in enumerate(words)
        ]  # fmt: skip
    write_json_lines(before["corpus"], documents)
    write_json_lines(before["queries"], queries)
    before["qrels"].write_text("".join(f"{q['query_id']} 0 {q['doc_id']} 1\n" for q in queries))
    write_json(before["excluded"], {})
    write_json(before["summary"], {"corpus_note": None})
    build_benchmark.main(
        files=[before[name] for name in ("corpus", "queries", "qrels", "excluded")],
        **after,
        kind="reversed",
        options={"segments": 5},
        seed=1,
    )
    return before, after


def test_a_retriever_that_reads_the_front_finds_what_comes_to_the_front(tmp_path, monkeypatch):
    models = {
        "front": search_toy.WordRetriever(12),  # two segments of six
        "rear": search_toy.WordRetriever(1000),
        "whole": search_toy.WordRetriever(1000),
    }
    models["rear"].encode_documents = lambda texts: models["rear"]._vectors(
        [text[-12:] for text in texts]
    )
    search_toy.install(monkeypatch, models)
    found = []
    order = ("front", "whole", "rear", "whole")
    for files in build_toy(tmp_path):
        folder = files["corpus"].parent
        hits = search_toy.search(files, folder, models=order, settings=SETTINGS)
        groups = {"zones": {"segments": 5, "at_each_end": 2}}
        search_toy.evaluate(files, folder, hits, settings=SETTINGS, groups=groups)
        found.append(read_measures(folder / setting / "m.json" for setting in SETTINGS))
        for setting in SETTINGS:
            shutil.copy(folder / setting / "m.json", folder / f"{setting}.json")
    out = make(tmp_path, *found, provenance={**PROVENANCE, "retrievers": ["bert"]})
    begin, middle, end, _ = pd.read_csv(out["csv"]).to_dict("records")
    # A word of three segments is never seen; all documents then tie, and ten are found by chance.
    assert begin["orig_front"] == begin["rev_back_to_front"] == 1
    assert max(begin["orig_back"], begin["rev_front_to_back"]) < 0.2
    assert begin["delta_low"] > 0.7
    assert end["orig_back"] == end["rev_front_to_back"] == 1
    assert end["delta_high"] < -0.7
    assert middle["delta"] == middle["delta_low"] == middle["delta_high"] == 0
    assert (begin["n_front"], begin["n_back"]) == (80, 80)
    assert json.loads((tmp_path / "b" / "summary.json").read_text())["counts"] == {
        "documents_with_fewer_characters_than_segments": 0,
        "queries_whose_evidence_is_cut": 0,
        "queries_without_a_known_place": 0,
    }
