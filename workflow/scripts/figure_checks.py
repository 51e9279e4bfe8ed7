"""Faults of what figures show and of the analyses behind them, which a schema cannot say."""

from pathlib import Path

from places import models_of, place_of
from posbias.benchmarks.evidence_places import check_places
from posbias.errors import ConfigError
from posbias.files import read_json
from posbias.queries.judges import check_judge
from posbias.report.name_map import name_map
from posbias.report.paper_cells import paper_cells
from posbias.report.tolerances import tolerances
from posbias.representation.evidence_pairs import check_kind
from selection import check_known, check_selected, check_unique, select

PUBLISHED = Path(__file__).parents[2] / "expected" / "paper" / "retriever_tables.json"


def check_figures(config: dict) -> None:
    """Raise ConfigError for names that nothing bears, and for figures that cannot be drawn."""
    check_shown(config)
    check_reversed(config)
    check_pooling(config)
    check_analyses(config)
    check_comparison(config)


def check_shown(config: dict) -> None:
    """The benchmarks of the figures exist, and have the groups that are drawn."""
    figures, known = config["figures"], config["benchmarks"]["known"]
    fine = [name for name in [figures["fine"]] if name is not None]
    mirrored = [name for name in [figures["reversed"]] if name is not None]
    for place, names in (
        ("position_curves", figures["position_curves"]),
        ("fine", fine),
        ("reversed", mirrored),
        ("standard", figures["standard"]),
    ):
        check_known(f"config, figures.{place}", names, known)
    for place, names in (("position_curves", figures["position_curves"]), ("fine", fine)):
        for name in names:
            if known[name]["psi_groups"] is None:
                raise ConfigError(
                    f"config, figures.{place}: {name!r} has no psi_groups; choose a benchmark "
                    "whose queries are grouped by position."
                )
    for name in fine:
        if "bins" not in known[name]["groups"]:
            raise ConfigError(
                f"config, figures.fine: {name!r} has no bins among its groups, which the figure "
                "draws; add bins: {count: 10}."
            )


def check_reversed(config: dict) -> None:
    """A mirrored benchmark is a copy of another one that is run, so that the two compare."""
    block, figures = config["benchmarks"], config["figures"]
    known, selected = block["known"], select("benchmarks", block)
    for name in selected:
        entry, where = known[name], f"config, benchmarks.known.{name}.files"
        if entry["kind"] != "reversed":
            continue
        if len(entry["files"]) != 1:
            raise ConfigError(f"{where}: a reversed benchmark is the copy of one; name just it.")
        check_selected(where, entry["files"], block, selected)
        original = known[entry["files"][0]]
        if original["kind"] == "reversed":
            raise ConfigError(f"{where}: {entry['files'][0]!r} is reversed itself.")
        if not original["groups"]:
            raise ConfigError(
                f"{where}: {entry['files'][0]!r} knows of no positions to turn around."
            )
    mirrored = figures["reversed"]
    if mirrored not in selected or figures["fine"] not in selected:
        return
    where = "config, figures.reversed"
    if known[mirrored]["files"] != [figures["fine"]] or known[mirrored]["kind"] != "reversed":
        raise ConfigError(f"{where}: {mirrored!r} is no reversed copy of {figures['fine']!r}.")
    if known[mirrored]["retrievers"] != known[figures["fine"]]["retrievers"]:
        raise ConfigError(
            f"{where}: {mirrored!r} and {figures['fine']!r} need the same retrievers."
        )
    zones = [known[name]["groups"].get("zones") for name in (mirrored, figures["fine"])]
    if None in zones or zones[0] != zones[1]:
        raise ConfigError(f"{where}: {mirrored!r} and {figures['fine']!r} need the same zones.")
    cuts = known[mirrored]["options"].get("segments")
    if cuts != zones[0]["segments"]:
        raise ConfigError(
            f"{where}: {mirrored!r} cuts documents in {cuts} segments, its zones are of "
            f"{zones[0]['segments']}; give both the same number."
        )


def check_pooling(config: dict) -> None:
    """The retriever of the pooling ablation exists, and its variants have names of their own."""
    pooling, known = config["analyses"]["pooling"], config["retrievers"]["known"]
    check_known("config, analyses.pooling.retriever", [pooling["retriever"]], known)
    if "checkpoint" in known[pooling["retriever"]]:
        where = f"retrievers.known.{pooling['retriever']}.checkpoint"
        place_of(where, known[pooling["retriever"]]["checkpoint"], config["downloads"])


def check_analyses(config: dict) -> None:
    """What the analyses read exists: benchmarks, retrievers, judges, pairs and their data."""
    analyses, downloads = config["analyses"], config["downloads"]
    known, selected = config["benchmarks"]["known"], select("benchmarks", config["benchmarks"])
    for place, names in (
        ("segments.pair", analyses["segments"]["pair"]),
        ("evidence_moving.short", analyses["evidence_moving"]["short"]),
    ):
        check_known(f"config, analyses.{place}", names, config["retrievers"]["known"])
    check_selected(
        "config, analyses.segments.benchmark",
        [analyses["segments"]["benchmark"]],
        config["benchmarks"],
        selected,
    )
    moving, audit = analyses["evidence_moving"], analyses["audit"]
    check_known("config, analyses.evidence_moving.pairs", [moving["pairs"]], moving["known"])
    for name, entry in moving["known"].items():
        place = f"config, analyses.evidence_moving.known.{name}"
        check_kind(place, entry["kind"], entry["options"])
    pairs, where = moving["known"][moving["pairs"]], f"evidence_moving.known.{moving['pairs']}"
    if pairs["kind"] == "benchmark":
        if len(pairs["files"]) != 1:
            raise ConfigError(
                f"config, analyses.{where}.files: pairs are made of one benchmark; name just it."
            )
        check_selected(
            f"config, analyses.{where}.files", pairs["files"], config["benchmarks"], selected
        )
        if not known[pairs["files"][0]]["groups"]:
            raise ConfigError(
                f"config, analyses.{where}.files: {pairs['files'][0]!r} does not say where its "
                "evidence stands; choose a benchmark with groups."
            )
    else:
        if not pairs["files"]:
            raise ConfigError(f"config, analyses.{where}.files: empty; name what it reads.")
        for file in pairs["files"]:
            place_of(f"analyses.{where}.files", file, downloads)
    check_known("config, analyses.audit.judge", [audit["judge"]], audit["judges"])
    judge = audit["judges"][audit["judge"]]
    for name, entry in audit["judges"].items():
        check_judge(name, entry)
    for name in models_of([judge]):
        place_of(f"analyses.audit.judges.{audit['judge']}.options.model", name, downloads)
    for name, entry in analyses["evidence_places"].items():
        where = f"config, analyses.evidence_places.{name}"
        check_known("config, analyses.evidence_places", [name], known)
        check_places(where, entry["kind"], entry["options"])
        if entry["kind"] != "words" and not entry["files"]:
            raise ConfigError(f"{where}.files: empty; name the data that marks the evidence.")
        for file in entry["files"] if name in selected else ():
            place_of(f"analyses.evidence_places.{name}.files", file, downloads)


def check_comparison(config: dict) -> None:
    """What the paper's names stand for exists, and nothing stands for two of them."""
    name_map(config["comparison"], paper_cells(read_json(PUBLISHED)))
    tolerances(config["comparison"]["tolerance"])
    for place, known in (
        ("retrievers", config["retrievers"]["known"]),
        ("benchmarks", config["benchmarks"]["known"]),
    ):
        ours = [name for name in config["comparison"][place].values() if name is not None]
        check_known(f"config, comparison.{place}", ours, known)
        check_unique(f"comparison.{place}", ours)
