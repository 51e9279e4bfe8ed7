"""Balanced training sets: exact counts, nested draws, and no row moves for another's sake."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import balance_settings
from posbias.corpus.segments import POSITIONS
from posbias.errors import ConfigError, DataError
from posbias.files import read_json, read_jsonl, write_jsonl
from posbias.queries.balance import (
    cells_of,
    position_counts,
    sample_setting,
    smallest_cell,
    spread_over_documents,
)

BINS = ["20-40", "40-60"]
BEGIN, UNIFORM = {"begin": 1.0}, {"begin": 1 / 3, "middle": 1 / 3, "end": 1 / 3}


def query(number: int, bin_name: str, position: str, document: int = 0) -> dict:
    return {
        "query_id": f"q{number}",
        "doc_id": f"d{document}",
        "bin": bin_name,
        "position": position,
    }


# A pool with at least six queries in every cell.
SIZES = st.lists(st.integers(6, 12), min_size=6, max_size=6)
POOLS = st.builds(
    lambda sizes, documents: [
        query(100 * cell + n, BINS[cell // 3], POSITIONS[cell % 3], documents[n % len(documents)])
        for cell, size in enumerate(sizes)
        for n in range(size)
    ],
    SIZES,
    st.lists(st.integers(0, 6), min_size=1, max_size=8),
)
SHARES = st.sampled_from(
    [BEGIN, {"middle": 1.0}, {"end": 1.0}, UNIFORM, {"begin": 0.5, "end": 0.5}]
)


def ids(queries: list[dict]) -> list[str]:
    return [q["query_id"] for q in queries]


@given(POOLS, SHARES, st.integers(1, 6), st.integers(0, 5))
def test_every_bin_gives_the_same_exact_counts(pool, shares, budget, seed):
    chosen = sample_setting(cells_of(pool, BINS), BINS, shares, budget, seed)
    assert len(set(ids(chosen))) == len(chosen)
    counts = Counter((q["bin"], q["position"]) for q in chosen)
    for bin_name in BINS:
        for position in POSITIONS:
            wanted = int(shares.get(position, 0) * budget + 1e-9)
            assert counts[(bin_name, position)] == wanted


@given(POOLS, SHARES, st.integers(1, 6), st.integers(0, 5), st.randoms())
def test_the_order_of_the_pool_does_not_matter(pool, shares, budget, seed, random):
    before = sample_setting(cells_of(pool, BINS), BINS, shares, budget, seed)
    random.shuffle(pool)
    assert sample_setting(cells_of(pool, BINS), BINS, shares, budget, seed) == before


@given(POOLS, st.integers(1, 6), st.integers(0, 5), st.integers(0, 5))
def test_rows_added_to_other_cells_move_nothing(pool, budget, seed, cell):
    bin_name, position = BINS[cell // 3], POSITIONS[cell % 3]
    more = [query(9000 + n, bin_name, position, n) for n in range(5)]
    for shares in (BEGIN, {"middle": 1.0}, UNIFORM):
        before = sample_setting(cells_of(pool, BINS), BINS, shares, budget, seed)
        after = sample_setting(cells_of(more + pool, BINS), BINS, shares, budget, seed)
        other = [q for q in before if (q["bin"], q["position"]) != (bin_name, position)]
        assert other == [q for q in after if (q["bin"], q["position"]) != (bin_name, position)]


@given(POOLS, st.integers(1, 5), st.integers(0, 5))
def test_draws_are_nested(pool, budget, seed):
    cells = cells_of(pool, BINS)
    small = sample_setting(cells, BINS, BEGIN, budget, seed)
    large = sample_setting(cells, BINS, BEGIN, budget + 1, seed)
    uniform = sample_setting(cells, BINS, UNIFORM, budget + 1, seed)
    assert set(ids(small)) < set(ids(large))
    assert {q["query_id"] for q in uniform if q["position"] == "begin"} <= set(ids(large))


@given(POOLS, st.integers(0, 5))
def test_a_document_gives_its_second_query_after_all_others_gave_one(pool, seed):
    for queries in cells_of(pool, BINS).values():
        ordered = spread_over_documents(queries, seed)
        assert sorted(ids(ordered)) == sorted(ids(queries))
        given_so_far = Counter()
        rounds = []
        for q in ordered:
            rounds.append(given_so_far[q["doc_id"]])
            given_so_far[q["doc_id"]] += 1
        assert rounds == sorted(rounds)


def test_the_seed_decides():
    pool = [query(n, "20-40", "begin", n) for n in range(30)]
    draws = {tuple(ids(spread_over_documents(pool, seed))[:5]) for seed in range(5)}
    assert len(draws) == 5


def test_the_papers_budget():
    # Table 8: 8,189 queries in the smallest cell, 40,945 in a skewed set, 40,935 in MU.
    assert position_counts(UNIFORM, 8189) == {"begin": 2729, "middle": 2729, "end": 2729}
    assert 5 * position_counts(BEGIN, 8189)["begin"] == 40_945
    assert 5 * sum(position_counts(UNIFORM, 8189).values()) == 40_935


@given(st.integers(0, 10**6))
def test_uniform_takes_whole_thirds(budget):
    counts = position_counts(UNIFORM, budget)
    assert set(counts.values()) == {budget // 3}


def test_shares_that_floats_hold_badly_lose_no_query():
    # 0.29 * 100 is 28.999999999999996 in floating point.
    assert position_counts({"begin": 0.29, "end": 0.71}, 100) == {
        "begin": 29, "middle": 0, "end": 71
    }  # fmt: skip


def test_the_configs_settings_are_valid(config):
    settings = config["balance"]["settings"]
    for name in POSITIONS:
        assert position_counts(settings[name], 99) == {
            position: 99 * (position == name) for position in POSITIONS
        }
    assert set(position_counts(settings["uniform"], 99).values()) == {33}


@pytest.mark.parametrize(
    "shares",
    [
        {},
        {"begin": 0.9},
        {"begin": 1.1},
        {"beginning": 1.0},
        {"begin": 0.5, "front": 0.5},
        {"begin": 1.5, "middle": -0.5},
        {"begin": float("nan")},
    ],
)
def test_bad_shares_are_refused(shares):
    with pytest.raises(ConfigError, match=r"balance\.settings"):
        position_counts(shares, 10)


def test_too_small_a_cell_is_named_with_a_remedy():
    pool = [query(10 * cell + n, BINS[cell // 3], POSITIONS[cell % 3], n)
            for cell in range(6) for n in range(5 if cell != 4 else 2)]  # fmt: skip
    cells = cells_of(pool, BINS)
    assert smallest_cell(cells, 2) == 2
    with pytest.raises(DataError) as caught:
        smallest_cell(cells, 3)
    assert "bin 40-60, position middle: 2 verified queries" in str(caught.value)
    assert "verification.delta" in str(caught.value)


def test_an_empty_cell_counts_as_empty():
    with pytest.raises(DataError, match=r"bin 20-40, position \w+: 0 verified queries"):
        smallest_cell(cells_of([query(1, "40-60", "end")], BINS), 1)


@pytest.mark.parametrize("place", [("60-99", "begin"), ("20-40", "start")])
def test_a_query_of_an_unknown_cell_is_named(place):
    with pytest.raises(DataError, match="query q7: bin"):
        cells_of([query(7, *place)], BINS)


def run_script(folder, pool, least=2, max_budget=None):
    settings = {"begin": BEGIN, "uniform": UNIFORM}
    write_jsonl(folder / "pool.jsonl", pool)
    pairs = [folder / f"{name}.jsonl" for name in settings]
    balance_settings.main(
        folder / "pool.jsonl", pairs, folder / "budget.json",
        settings=settings, bins=BINS, least=least, seed=42, max_budget=max_budget,
    )  # fmt: skip
    return [read_jsonl(path) for path in pairs], read_json(folder / "budget.json")


def full_pool(size: int) -> list[dict]:
    return [
        query(100 * cell + n, BINS[cell // 3], POSITIONS[cell % 3], n % 4)
        for cell in range(6)
        for n in range(size + cell)
    ]


@pytest.mark.parametrize(("max_budget", "budget"), [(None, 7), (3, 3), (100, 7)])
def test_the_script_writes_what_its_budget_says(tmp_path, max_budget, budget):
    (begin, uniform), told = run_script(tmp_path, full_pool(7), max_budget=max_budget)
    assert (told["budget_per_bin"], told["smallest_cell"]) == (budget, 7)
    assert told["pool_per_cell"]["40-60 end"] == 12
    assert len(begin) == told["settings"]["begin"]["total"] == 2 * budget
    assert len(uniform) == told["settings"]["uniform"]["total"] == 2 * 3 * (budget // 3)
    assert {q["position"] for q in begin} == {"begin"}


def test_the_script_writes_nothing_where_a_cell_is_too_small(tmp_path):
    with pytest.raises(DataError, match="bin 20-40, position begin"):
        run_script(tmp_path, full_pool(7), least=8)
    assert [path.name for path in tmp_path.iterdir()] == ["pool.jsonl"]
