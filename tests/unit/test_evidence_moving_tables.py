"""The tables of moved evidence, from the paper's own numbers (Tables 5 and 13)."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.text import Text

import make_evidence_moving
import make_evidence_moving_short
from posbias.errors import ConfigError, DataError
from posbias.files import read_json, sha256_file
from posbias.report import style
from posbias.report.evidence_moving import (
    cut_note,
    moving_frame,
    moving_table,
    read_moving,
    short_frame,
    short_table,
)
from posbias.report.grid import draw_grid
from posbias.report.latex import latex_grid
from report_measures import LABELS, PROVENANCE, SETTINGS

PAPER_NAMES = {
    "BERT-base": "bert", "Longformer-base": "longformer", "ModernBERT-base": "modernbert_base",
    "ModernBERT-large": "modernbert_large", "GPT-2-medium": "gpt2", "BLOOM-560M": "bloom",
    "TinyLlama-NoPE": "tinyllama_nope", "Qwen3-0.6B": "qwen3",
}  # fmt: skip
CODES = dict(zip(("MB", "MM", "ME", "MU"), SETTINGS, strict=True))


def record_of(key: str, label: str, curves: dict[str, list[float]]) -> dict:
    settings = {}
    for setting, means in curves.items():
        spread = max(means) - min(means)
        settings[setting] = {
            "points": [
                {"position": at, "mean": mean, "low": mean - 0.01, "high": mean + 0.01}
                for at, mean in enumerate(means, start=1)
            ],
            "peak": means.index(max(means)) + 1,
            "lowest": means.index(min(means)) + 1,
            "range": spread,
            "range_low": 0.9 * spread,
            "range_high": 1.2 * spread,
        }
    cut = [
        {"position": at, "texts": at * (key == "gpt2"), "evidence_partly": 0, "evidence_wholly": 0}
        for at in range(1, 11)
    ]
    return {
        "retriever": key,
        "label": label,
        "positions": 10,
        "settings": settings,
        "counts": {"pairs": 50, "documents": 50, "truncated": dict.fromkeys(settings, cut)},
        "interval": {"kind": "bootstrap over pairs", "resamples": 10000, "level": 0.95},
    }


@pytest.fixture(scope="module")
def paper() -> dict:
    root = Path(__file__).parents[2]
    return read_json(root / "expected/paper/retriever_tables.json")["table13_evidence_moving"]


@pytest.fixture(scope="module")
def records(paper) -> list[dict]:
    return [
        record_of(key, name, {CODES[code]: paper[name][code]["p1_p10"] for code in CODES})
        for name, key in PAPER_NAMES.items()
    ]


@pytest.fixture
def files(records, tmp_path):
    paths = []
    for record in reversed([records[0], records[2], records[-1]]):
        paths.append(tmp_path / f"{record['retriever']}.json")
        paths[-1].write_text(json.dumps(record))
    return paths


def make(script, files, folder, **more):
    outputs = {name: folder / f"{script.__name__}.{name}" for name in ("pdf", "csv", "tex", "meta")}
    script.main(moving=files, **outputs, provenance=PROVENANCE, **more)
    return outputs


def test_the_papers_marks_and_ranges(records, paper):
    grid = moving_table(moving_frame(records), records)
    assert [section.title for section in grid.sections] == list(PAPER_NAMES)
    wanted = {  # peak and lowest of Table 13, where the paper's text names them
        ("BERT-base", "MB"): (1, 6), ("BERT-base", "MM"): (5, 3), ("GPT-2-medium", "ME"): (10, 4),
        ("ModernBERT-base", "ME"): (9, 1), ("Qwen3-0.6B", "MU"): (9, 10),
    }  # fmt: skip
    for section in grid.sections:
        for row, code in zip(section.rows, CODES, strict=True):
            of_paper = paper[section.title][code]
            printed = [cell.text for cell in row[1:-1]]
            assert [float(text) for text in printed] == of_paper["p1_p10"]
            assert all(re.fullmatch(r"\.\d{4}", text) for text in printed)
            assert float(row[-1].text) == pytest.approx(of_paper["range_x1e3"], abs=0.11)
            bold = [at for at, cell in enumerate(row[1:-1], start=1) if cell.bold]
            low = [at for at, cell in enumerate(row[1:-1], start=1) if cell.underlined]
            assert len(bold) == len(low) == 1
            if (section.title, code) in wanted:
                assert (bold[0], low[0]) == wanted[section.title, code]


def test_the_short_table_shows_the_named_ones_in_order(records):
    frame = moving_frame(records)
    short = short_frame(frame, ["qwen3", "bloom"])
    grid = short_table(short, records)
    assert [section.title for section in grid.sections] == ["Qwen3-0.6B", "BLOOM-560M"]
    texts = [[cell.text for cell in row] for row in grid.sections[0].rows]
    assert texts[0] == ["MB", "p1", ".6085", "p10", ".5870", "21.5"]
    bold = {section.title: [row[0].text for row in section.rows if row[-1].bold]
            for section in grid.sections}  # fmt: skip
    assert bold == {"Qwen3-0.6B": ["MU"], "BLOOM-560M": ["MM"]}
    assert len(short_frame(frame, [])) == len(PAPER_NAMES) * 4
    with pytest.raises(ConfigError, match="short names t5; measured are bert, longformer"):
        short_frame(frame, ["qwen3", "t5"])


def test_the_files_hold_every_number_and_repeat(files, records, tmp_path):
    outputs = make(make_evidence_moving, files, tmp_path)
    frame = pd.read_csv(outputs["csv"])
    assert list(frame)[:8] == [
        "retriever", "label", "setting", "position", "mean", "low", "high", "n",
    ]  # fmt: skip
    # Retrievers in the order of the provenance, whatever the order of the files.
    written = list(dict.fromkeys(frame["retriever"]))
    assert written == [key for key in LABELS if key in {path.stem for path in files}]
    for record in map(read_json, files):
        for setting, values in record["settings"].items():
            rows = frame[
                (frame["retriever"] == record["retriever"]) & (frame["setting"] == setting)
            ]
            assert rows["mean"].tolist() == [point["mean"] for point in values["points"]]
            assert set(rows["range_high"]) == {values["range_high"]}
    tex = outputs["tex"].read_text()
    assert r"\underline{.6713}" in tex and r"\textbf{.6832}" in tex
    meta = read_json(outputs["meta"])
    assert {one["sha256"] for one in meta["inputs"]} == {sha256_file(path) for path in files}
    short = make(make_evidence_moving_short, files, tmp_path, short=["modernbert_base", "qwen3"])
    assert len(pd.read_csv(short["csv"])) == 8
    made = list(short.values())
    first = [path.read_bytes() for path in made]
    make(make_evidence_moving_short, files, tmp_path, short=["modernbert_base", "qwen3"])
    assert [path.read_bytes() for path in made] == first


@pytest.mark.parametrize("which", ["long", "short"])
def test_texts_lie_on_the_page_apart_from_each_other(records, which):
    frame = moving_frame(records)
    tables = {
        "long": lambda: moving_table(frame, records),
        "short": lambda: short_table(short_frame(frame, ["bert", "qwen3"]), records),
    }
    with style.print_style():
        figure = draw_grid(tables[which](), make_evidence_moving.TITLE, "Footer")
        figure.dpi = 720
        figure.draw_without_rendering()
        boxes = [
            (text, text.get_window_extent())
            for text in figure.findobj(Text)
            if text.get_text().strip()
        ]
    for text, box in boxes:
        assert box.x0 >= 0 and box.x1 <= figure.bbox.width, text
        assert box.y0 >= 0 and box.y1 <= figure.bbox.height, text
        assert text.get_fontsize() >= style.SMALL
    shrunk = [(text.get_text(), box.shrunk(0.98, 0.7)) for text, box in boxes]
    for index, (one, box) in enumerate(shrunk):
        for other, beside in shrunk[index + 1 :]:
            assert not box.overlaps(beside), (one, other)


def test_notes_tell_of_cut_documents_and_latex_has_no_other_sign(records):
    assert cut_note(records).endswith(": GPT-2-medium 20 %.")
    assert cut_note(records[:1]).endswith(": none.")
    tex = latex_grid(moving_table(moving_frame(records), records), "T", [], "tab:t")
    assert tex.isascii()


def test_faults_of_measures_are_named(files, records, tmp_path):
    with pytest.raises(DataError, match="bert is measured twice"):
        read_moving([*files, tmp_path / "bert.json"])
    with pytest.raises(DataError, match=r"qwen3\.json: the configured retrievers do not name"):
        read_moving(files, ["bert"])
    with pytest.raises(DataError, match="at least one file"):
        read_moving([])
    settings, counts = records[0]["settings"], records[0]["counts"]
    least = settings["end"]["lowest"], settings["end"]["peak"]
    few = [point for point in settings["end"]["points"] if point["position"] in least]
    for change, message in [
        ({"positions": 5}, "positions 5 is not 10 as for qwen3"),
        ({"settings": settings | {"base": {}}}, "base is an unknown setting"),
        ({"settings": {}}, r"bert\.json: settings is an empty object"),
        ({"settings": None}, r"bert\.json: settings is null"),
        ({"settings": {k: settings[k] for k in list(settings)[1:]}}, "settings.begin are missing"),
        ({"settings": settings | {"end": settings["end"] | {"points": []}}}, r"end\.points is an"),
        ({"settings": settings | {"end": settings["end"] | {"points": few}}}, "end: measured at"),
        ({"settings": settings | {"end": settings["end"] | {"peak": 11}}}, "peak 11 or lowest"),
        ({"counts": {}}, r"counts is an empty object"),
        ({"counts": counts | {"pairs": 0}}, r"bert\.json: counts\.pairs is 0"),
        ({"interval": {}}, r"bert\.json: interval is an empty object"),
        ({"interval": records[0]["interval"] | {"level": 0.9}}, "interval .*0.9.* is not"),
    ]:
        (tmp_path / "bert.json").write_text(json.dumps(records[0] | change))
        with pytest.raises(DataError, match=message):
            read_moving(files)
    (tmp_path / "bert.json").write_text(json.dumps({"retriever": "bert", "label": "B"}))
    with pytest.raises(
        DataError, match=r"bert\.json: the field\(s\) positions, settings, counts, int"
    ):
        read_moving(files)
