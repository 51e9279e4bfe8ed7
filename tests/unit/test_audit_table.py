"""The table of the audit: its numbers, its notes, and its page."""

import json

import matplotlib
import pandas as pd
import pytest
from pypdf import PdfReader

import audit_queries
import make_audit_table
from audit_toy import arguments
from posbias.errors import ConfigError, DataError
from posbias.report import style
from posbias.report.audit import audit_frame, audit_notes, audit_table, read_audit
from posbias.report.grid import draw_grid
from report_measures import PROVENANCE

# Per cent of TargetYes, DistractorNo and Exclusive, as printed in Table 7.
TABLE_7 = {
    "failed": (87.7, 73.8, 51.4),
    "0-0.1": (93.4, 83.5, 67.0),
    "0.1-0.2": (93.7, 90.2, 77.7),
    "0.2-0.3": (94.7, 94.4, 85.3),
    ">=0.3": (95.4, 97.0, 90.4),
}
MEASURES = ("target_yes", "distractor_no", "exclusive")
PRINTED = ["failed (below 0)", "0–0.1", "0.1–0.2", "0.2–0.3", "0.3 and above"]


def interval_of(mean: float | None) -> dict:
    if mean is None:
        return {"mean": None, "low": None, "high": None}
    return {"mean": mean, "low": max(0, mean - 0.031), "high": min(1, mean + 0.024)}


def record(**changes) -> dict:
    strata = [
        {"stratum": name, "n": 1300,
         **{m: interval_of(v / 100) for m, v in zip(MEASURES, values, strict=True)}}
        for name, values in TABLE_7.items()
    ]  # fmt: skip
    counts = {"dropped": dict.fromkeys(TABLE_7, 0), "unreadable": {}, "yes": 9, "no": 9}
    return {
        "judge": "gpt", "judged_by": "gpt-4o-mini, asked", "per_stratum": 1300, "strata": strata,
        "counts": counts, "interval": {"kind": "bootstrap over queries", "resamples": 100,
                                       "level": 0.95}, **changes,
    }  # fmt: skip


def test_the_papers_table_is_printed_as_the_paper_prints_it():
    grid = audit_table(audit_frame(record()), record())
    assert [column.heading for column in grid.columns] == [
        "Margin stratum", "n", "TargetYes", "DistractorNo", "Exclusive",
    ]  # fmt: skip
    (section,) = grid.sections
    assert [row[0].text for row in section.rows] == PRINTED
    for row, values in zip(section.rows, TABLE_7.values(), strict=True):
        assert [cell.text for cell in row[1:]] == ["1,300", *map(str, values)]
    assert section.rows[0][2].interval == "84.6–90.1"
    assert section.rows[-1][3].interval == "93.9–99.4"


def test_the_frame_holds_shares_of_one_and_their_bounds():
    frame = audit_frame(record())
    assert list(frame.columns) == [
        "stratum", "n", *(f"{m}{end}" for m in MEASURES for end in ("", "_low", "_high")),
    ]  # fmt: skip
    assert frame["stratum"].tolist() == list(TABLE_7)
    for row in record()["strata"]:
        (found,) = frame[frame["stratum"] == row["stratum"]].to_dict("records")
        for name in MEASURES:
            ends = [found[f"{name}{end}"] for end in ("", "_low", "_high")]
            assert ends == list(row[name].values())


def test_the_notes_say_who_judged_and_what_was_left_out():
    plain = " ".join(audit_notes(record()))
    assert "Judged by gpt-4o-mini, asked." in plain and "1,300 queries drawn" in plain
    for absent in ("Left out", "said yes", "said no", "no query", "no width"):
        assert absent not in plain
    dropped = {
        "dropped": {"failed": 2, "0-0.1": 1},
        "unreadable": {"refused": 3, "no JSON object": 1},
        "yes": 5,
        "no": 5,
    }
    noted = " ".join(audit_notes(record(counts=dropped)))
    assert "Left out: 3 queries" in noted and "(refused: 3; no JSON object: 1)" in noted


@pytest.mark.parametrize(("yes", "no", "word"), [(60, 0, "yes"), (0, 60, "no")])
def test_a_judge_of_one_answer_is_said_to_tell_nothing(yes, no, word):
    counts = {"dropped": {}, "unreadable": {}, "yes": yes, "no": no}
    notes = " ".join(audit_notes(record(counts=counts)))
    assert f"The judge said {word} to all 60 segments" in notes


def test_an_empty_stratum_and_one_without_doubt_are_told():
    strata = record()["strata"]
    strata[1] = {"stratum": "0-0.1", "n": 0, **dict.fromkeys(MEASURES, interval_of(None))}
    strata[4] |= {name: {"mean": 1.0, "low": 1.0, "high": 1.0} for name in MEASURES}
    full = record(strata=strata)
    rows = audit_table(audit_frame(full), full).sections[0].rows
    assert [cell.text for cell in rows[1][1:]] == ["0", "–", "–", "–"]
    assert not any(cell.interval for cell in rows[1])
    notes = " ".join(audit_notes(full))
    assert "–: no query." in notes and "a bootstrap has no width" in notes


def made(folder, summary) -> dict:
    outputs = {name: folder / f"audit_table.{name}" for name in ("pdf", "csv", "tex")}
    outputs["meta"] = folder / "audit_table.meta.json"
    make_audit_table.main(audit=summary, provenance=PROVENANCE, **outputs)
    return outputs


def test_a_run_becomes_a_page_with_its_sources(tmp_path):
    entry = {"kind": "words", "options": {"least_share": 1.0}}
    audit_queries.main(**arguments(tmp_path, "words", entry))
    summary = tmp_path / "summary.json"
    outputs = made(tmp_path / "a", summary)
    again = made(tmp_path / "b", summary)
    for name, path in outputs.items():
        assert path.read_bytes() == again[name].read_bytes()
    frame = pd.read_csv(outputs["csv"])
    assert frame["n"].tolist() == [4] * 5 and set(frame["exclusive_low"]) == {1.0}
    (page,) = PdfReader(outputs["pdf"]).pages
    text = page.extract_text()
    for part in ("Margin stratum", "0.3 and above", "Judged by", "Mini scale", "200 resamples"):
        assert part in text
    meta = json.loads(outputs["meta"].read_text("utf-8"))
    assert [item["path"] for item in meta["inputs"]] == [summary.as_posix()]
    tex = outputs["tex"].read_text("utf-8")
    assert r"\label{tab:audit}" in tex
    assert (
        r"Judged by a rule in place of a language model, which says yes where at least 100 \%"
        in tex
    )
    assert tex.isascii()  # nothing that LaTeX does not know


def test_texts_lie_on_the_page_apart_and_are_legible():
    with style.print_style():
        grid = audit_table(audit_frame(record()), record())
        figure = draw_grid(grid, make_audit_table.TITLE, "Footer")
        figure.dpi = 720  # fine enough that widths are those of print
        figure.draw_without_rendering()
        texts = [t for t in figure.findobj(matplotlib.text.Text) if t.get_text().strip()]
        boxes = [text.get_window_extent().shrunk(0.98, 0.7) for text in texts]
    for text, box in zip(texts, boxes, strict=True):
        assert text.get_fontsize() >= style.SMALL
        assert box.x0 >= 0 and box.x1 <= figure.bbox.x1 and box.y0 >= 0
        assert box.y1 <= figure.bbox.y1
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[i + 1 :])


def test_a_file_that_is_no_audit_is_named(tmp_path):
    (tmp_path / "summary.json").write_text('{"judge": "gpt", "strata": []}')
    with pytest.raises(DataError, match=r"summary\.json: the field\(s\) judged_by, per_stratum"):
        read_audit(tmp_path / "summary.json")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"strata": []}, "strata is an empty list"), ({"strata": None}, "strata is null"),
        ({"counts": {}}, "counts is an empty object"), ({"interval": {}}, "interval is an empty"),
        ({"strata": [{"stratum": "a", "n": 1}]}, r"strata\[0\]\.target_yes.* are missing"),
        ({"per_stratum": "300"}, "per_stratum is '300', expected a whole number"),
    ],
)  # fmt: skip
def test_an_audit_without_what_is_printed_is_refused(tmp_path, change, message):
    (tmp_path / "summary.json").write_text(json.dumps(record(**change)))
    with pytest.raises(DataError, match=rf"summary\.json: .*{message}.*; delete the file"):
        read_audit(tmp_path / "summary.json")


def test_provenance_is_asked_for_before_anything_is_written(tmp_path):
    (tmp_path / "summary.json").write_text(json.dumps(record()))
    outputs = {name: tmp_path / name for name in ("pdf", "csv", "tex", "meta")}
    with pytest.raises(ConfigError, match="commit"):
        make_audit_table.main(
            audit=tmp_path / "summary.json", provenance={**PROVENANCE, "commit": ""}, **outputs
        )
    assert not any(path.exists() for path in outputs.values())
