"""What a killed evaluation had scored is played back, to the same values and counts."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.listwise.reranking import window_score
from posbias.listwise.score_tape import COUNTED, ScoreTape, tape_of

BATCHES = [
    (np.array([number, number + 1]), np.arange(number, number + 2 * width).reshape(2, width))
    for number, width in enumerate([3, 5, 3, 2, 7, 3, 3, 4])
]


class Killed(Exception):
    """Stands for the end of the process."""


class Scorer:
    """Scores by a sum, counts what it reads, and dies at the batch after the last it may score."""

    def __init__(self, lives: int = 1000) -> None:
        self.lives, self.computed = lives, 0
        self.windows_read = self.answers_off_letters = self.windows_shortened = 0

    def scores(self, windows) -> np.ndarray:
        if self.computed == self.lives:
            raise Killed
        self.computed += 1
        queries, passages = windows
        self.windows_read += len(queries)
        self.answers_off_letters += int(queries[0]) % 2
        return np.sin(passages * 7.3 + queries[:, None])


def run(tape: ScoreTape | None, scorer: Scorer, batches=BATCHES, who="first/1") -> list[np.ndarray]:
    """Score all batches as an evaluation does, or die on the way."""
    if tape is None:
        return [scorer.scores(windows) for windows in batches]
    return [
        tape.scores(who, scorer, windows, lambda windows=windows: scorer.scores(windows))
        for windows in batches
    ]


def clock(step: float):
    """Return a clock that goes on by this many seconds each time that it is looked at."""
    at = itertools.count(0, step)
    return lambda: next(at)


def same(one, other) -> bool:
    return len(one) == len(other) and all(
        a.dtype == b.dtype and np.array_equal(a, b) for a, b in zip(one, other, strict=True)
    )


def counts(scorer: Scorer) -> list[int]:
    return [getattr(scorer, name) for name in COUNTED]


@given(kills=st.lists(st.integers(0, len(BATCHES)), max_size=4), every=st.integers(1, 4))
def test_kills_anywhere_change_no_score_and_no_count(tmp_path_factory, kills, every):
    folder = tmp_path_factory.mktemp("tape")
    plain = Scorer()
    expected = run(None, plain)
    for lives in kills:
        try:
            run(ScoreTape(folder, every, clock(1)), Scorer(lives))
        except Killed:
            continue
    last = Scorer()
    tape = ScoreTape(folder, every, clock(1))
    assert same(run(tape, last), expected)
    assert counts(last) == counts(plain)
    assert tape.played + last.computed == len(BATCHES)


def test_what_was_written_is_not_computed_again(tmp_path):
    with pytest.raises(Killed):
        run(ScoreTape(tmp_path, 0), Scorer(lives=5))
    scorer, tape = Scorer(), ScoreTape(tmp_path, 0)
    run(tape, scorer)
    assert (tape.played, scorer.computed) == (5, 3)
    assert len(list(tmp_path.iterdir())) == len(BATCHES)


def test_a_quick_evaluation_writes_nothing(tmp_path):
    run(ScoreTape(tmp_path, 5, clock(0.01)), Scorer())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("at", [0, 3, 7])
def test_a_tape_of_other_windows_is_left_where_they_differ(tmp_path, caplog, at):
    run(ScoreTape(tmp_path, 0), Scorer())
    batches = list(BATCHES)
    batches[at] = (batches[at][0] + 1, batches[at][1])
    expected = run(None, Scorer(), batches)
    scorer, tape = Scorer(), ScoreTape(tmp_path, 0)
    assert same(run(tape, scorer, batches), expected)
    assert (tape.played, scorer.computed) == (at, len(BATCHES) - at)
    assert "other windows" in caplog.text
    again, tape = Scorer(), ScoreTape(tmp_path, 0)
    assert same(run(tape, again, batches), expected)
    assert again.computed == 0


def cut(whole: bytes) -> bytes:
    return whole[: len(whole) // 2]


def flip(whole: bytes) -> bytes:
    middle = len(whole) // 2
    return whole[:middle] + bytes([whole[middle] ^ 0xFF]) + whole[middle + 1 :]


@pytest.mark.parametrize(
    "damage",
    [cut, flip, lambda whole: b"", lambda whole: b"PK\x03\x04" + b"0" * 60, lambda whole: None],
    ids=["cut", "flipped", "empty", "foreign", "missing"],
)
@pytest.mark.parametrize("at", [0, 4, 7])
def test_a_damaged_piece_costs_time_only(tmp_path, damage, at):
    expected = run(ScoreTape(tmp_path, 0), Scorer())
    piece = tmp_path / f"{at:06d}.npz"
    left = damage(piece.read_bytes())
    if left is None:
        piece.unlink()
    else:
        piece.write_bytes(left)
    scorer, tape = Scorer(), ScoreTape(tmp_path, 0)
    assert same(run(tape, scorer), expected)
    assert (tape.played, scorer.computed) == (at, len(BATCHES) - at)
    again = Scorer()
    assert same(run(ScoreTape(tmp_path, 0), again), expected)
    assert again.computed == 0


def test_the_same_windows_of_another_reranker_are_others(tmp_path):
    run(ScoreTape(tmp_path, 0), Scorer())
    scorer = Scorer()
    run(ScoreTape(tmp_path, 0), scorer, who="first/2")
    assert scorer.computed == len(BATCHES)


def test_another_batch_of_windows_is_not_another_shape_of_the_same_rows(tmp_path):
    one = [(np.array([1, 2]), np.arange(6).reshape(2, 3))]
    run(ScoreTape(tmp_path, 0), Scorer(), one)
    scorer = Scorer()
    other = [(np.array([1, 2]), np.arange(6).reshape(1, 6))]
    tape = ScoreTape(tmp_path, 0)
    tape.scores("first/1", scorer, other[0], lambda: np.zeros((1, 6)))
    assert tape.played == 0


def test_a_tape_belongs_to_settings_and_files(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "weights").write_text("one")
    (tmp_path / "run.txt").write_text("q")

    def folder(settings="a"):
        return tape_of(tmp_path / "resume", settings, [data, tmp_path / "run.txt"]).folder

    first = folder()
    assert folder() == first and first.parent == tmp_path / "resume"
    assert folder("b") != first
    (data / "weights").write_text("other")
    assert folder() != first
    assert tape_of(None, "a", [data]) is None


def test_scores_of_windows_are_recorded_batch_by_batch(tmp_path):
    torch = pytest.importorskip("torch")

    class Model:
        seen = 0

        def scores(self, collection, queries, passages):
            self.seen += 1
            return torch.from_numpy(np.cos(passages + queries[:, None])).float()

    queries, passages = np.arange(5), np.arange(20).reshape(5, 4)
    plain = window_score(Model(), None, 2)(queries, passages)
    recording = window_score(Model(), None, 2, ScoreTape(tmp_path, 0), "m/1")
    assert np.array_equal(recording(queries, passages), plain)
    model = Model()
    played = window_score(model, None, 2, ScoreTape(tmp_path, 0), "m/1")(queries, passages)
    assert model.seen == 0
    assert played.dtype == plain.dtype and np.array_equal(played, plain)
