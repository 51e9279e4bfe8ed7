"""The script of the audit: who is asked what, and what is made of the verdicts."""

import random

import pytest

import audit_queries
from audit_toy import MARGINS, THRESHOLDS, arguments, corpus, outputs
from posbias.corpus.segments import POSITIONS
from posbias.errors import DataError
from posbias.files import read_json, read_jsonl, write_jsonl
from posbias.queries import judges
from posbias.queries.audit import Strata
from posbias.queries.judges import Verdict

NAMES = ["failed", "0-0.1", "0.1-0.2", "0.2-0.3", ">=0.3"]
STRATA = Strata(THRESHOLDS)

WORDS = {"kind": "words", "options": {"least_share": 1.0}}


class Stubborn:
    """A judge that gives one verdict, and remembers what it was asked."""

    name, description = "stubborn", "nobody"

    def __init__(self, verdict: Verdict) -> None:
        self.verdict, self.asked = verdict, []

    def judge(self, pairs):
        self.asked += pairs
        return [self.verdict] * len(pairs)

    def summary(self):
        return {}


@pytest.fixture
def stubborn(monkeypatch):
    """Return a function that puts a judge of one verdict into the registry."""

    def put(verdict: Verdict) -> Stubborn:
        judge = Stubborn(verdict)
        monkeypatch.setitem(judges.JUDGES, "stubborn", lambda *_: judge)
        return judge

    return put


def percents(summary) -> set[tuple]:
    names = ("target_yes", "distractor_no", "exclusive")
    return {tuple(100 * row[name]["mean"] for name in names) for row in summary["strata"]}


@pytest.mark.parametrize(("yes", "wanted"), [(True, (100, 0, 0)), (False, (0, 100, 0))])
def test_a_judge_of_one_answer_gives_what_it_must(tmp_path, stubborn, yes, wanted):
    judge = stubborn(Verdict(yes))
    audit_queries.main(**arguments(tmp_path, "s", {"kind": "stubborn", "options": {}}))
    summary = read_json(tmp_path / "summary.json")
    assert percents(summary) == {wanted}
    assert [row["n"] for row in summary["strata"]] == [4] * 5
    assert len(judge.asked) == summary["counts"]["asked"] == 60
    assert summary["counts"]["yes" if yes else "no"] == 60
    assert summary["interval"] == {
        "kind": "bootstrap over queries",
        "resamples": 200,
        "level": 0.95,
    }


def test_a_judge_that_is_right_finds_each_target_alone(tmp_path):
    audit_queries.main(**arguments(tmp_path, "words", WORDS))
    summary = read_json(tmp_path / "summary.json")
    assert percents(summary) == {(100, 100, 100)}
    assert summary["counts"]["scored"] == dict.fromkeys(NAMES, 6)
    lines = read_jsonl(tmp_path / "judgements.jsonl")
    assert len(lines) == 20
    for line in lines:
        assert line["answers"] == {p: "yes" if p == line["position"] else "no" for p in POSITIONS}
        assert line["stratum"] == STRATA.of(line["consensus"])
        assert MARGINS[NAMES.index(line["stratum"])] == line["consensus"]


def test_verdicts_that_could_not_be_read_are_counted_and_their_queries_dropped(tmp_path, stubborn):
    stubborn(Verdict(None, unreadable="refused"))
    audit_queries.main(**arguments(tmp_path, "s", {"kind": "stubborn", "options": {}}))
    summary = read_json(tmp_path / "summary.json")
    assert all(row["n"] == 0 and row["target_yes"]["low"] is None for row in summary["strata"])
    assert summary["counts"]["unreadable"] == {"refused": 60}
    assert summary["counts"]["dropped"] == dict.fromkeys(NAMES, 4)
    line = read_jsonl(tmp_path / "judgements.jsonl")[0]
    assert line["answers"] == dict.fromkeys(POSITIONS) and len(line["unreadable"]) == 3


def test_which_segment_is_the_target_changes_nothing_that_is_asked(tmp_path, stubborn):
    judge = stubborn(Verdict(True))
    given = arguments(tmp_path, "s", {"kind": "stubborn", "options": {}})
    audit_queries.main(**given)
    first, judge.asked = judge.asked, []
    turned = dict(zip(POSITIONS, (*POSITIONS[1:], POSITIONS[0]), strict=True))
    for path in (given["candidates"], *given["scores"]):
        write_jsonl(path, [{**r, "position": turned[r["position"]]} for r in read_jsonl(path)])
    audit_queries.main(**given)
    assert judge.asked == first


def test_the_order_of_lines_and_shards_changes_no_byte(tmp_path):
    given = arguments(tmp_path, "words", WORDS)
    audit_queries.main(**given)
    made = outputs(given)
    chance = random.Random(1)
    for path in (given["candidates"], given["documents"], *given["scores"]):
        lines = read_jsonl(path)
        chance.shuffle(lines)
        write_jsonl(path, lines)
    given["scores"].reverse()
    audit_queries.main(**given)
    assert outputs(given) == made


@pytest.mark.parametrize("name", ["documents", "candidates"])
def test_what_is_missing_is_named_before_anybody_is_asked(tmp_path, stubborn, name):
    judge = stubborn(Verdict(True))
    given = arguments(tmp_path, "s", {"kind": "stubborn", "options": {}}, per_stratum=99)
    write_jsonl(given[name], read_jsonl(given[name])[1:])
    with pytest.raises(
        DataError, match=rf"{name}\.jsonl: lacks 1 of the \d+ records.* (d0|q0begin)"
    ):
        audit_queries.main(**given)
    assert not judge.asked and not given["summary"].exists()


def test_scores_of_another_target_are_refused(tmp_path):
    given = arguments(tmp_path, "words", WORDS, per_stratum=99)
    _, candidates, _ = corpus()
    candidates[4]["position"] = "end"
    write_jsonl(given["candidates"], candidates)
    with pytest.raises(DataError, match=r"q1middle: aimed at the end .* scored for the middle"):
        audit_queries.main(**given)


def test_no_scores_are_an_error(tmp_path):
    given = arguments(tmp_path, "words", WORDS)
    for path in given["scores"]:
        path.write_text("")
    with pytest.raises(DataError, match="no scored query"):
        audit_queries.main(**given)
