"""Sections of the checklist on what was done: claims, sizes, seeds, settings, the paper's share."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from posbias.release.differences import differences
from posbias.report.checklist import Record, Section, Table, at, listed, said, settings_text
from posbias.report.checklist_listwise import (
    departures_table,
    kind_and_model,
    members_text,
    queries_text,
    runs_listwise,
)
from posbias.report.claim_records import HELD, NOT_HELD, NOT_MEASURABLE, counts_text
from posbias.report.provenance import interval_text

BESIDE = ("studies", "listwise")  # not of the retriever study, whose paper has a config
STATUSES = (HELD, NOT_HELD, NOT_MEASURABLE)


def claims_section(claims: list[Record]) -> Section:
    """Count the verdicts on the papers' claims, by their place in the papers."""
    by_source: dict[str, Counter] = {}
    for claim in claims:
        by_source.setdefault(claim["source"], Counter())[claim["status"]] += 1
    rows = tuple(
        (source, *(str(counts[status]) for status in STATUSES))
        for source, counts in by_source.items()
    )
    failed = sorted({claim["claim"] for claim in claims if claim["status"] == NOT_HELD})
    answers = (
        ("Which claims of the papers were judged, and how did they fare?",
         counts_text(claims) if claims else said(None)),
        ("Which did not hold, for at least one model?",
         "; ".join(failed) if failed else "none" if claims else said(None)),
    )  # fmt: skip
    tables = (Table(("place in the paper", *STATUSES), rows),) if rows else ()
    return Section("Claims", answers, tables)


def seeds_section(record: Record) -> Section:
    """Tell the seeds, and what intervals vary and hold fixed, as files of measures state them."""
    stated = [
        f"{interval_text(entry['interval'])} (files: {entry['files']})"
        for entry in record.get("intervals") or []
        if entry["interval"]
    ]
    without = sum(e["files"] for e in record.get("intervals") or [] if not e["interval"])
    seeds = record.get("seeds") or {}
    several = sorted({name.split("[")[0] for name in seeds if "[" in name})
    single = [name for name in seeds if "[" not in name]
    answers = (
        ("Which seeds were used?", listed(f"{name} {value}" for name, value in seeds.items())),
        ("What do the intervals vary?", "; ".join(stated) or said(None)),
        ("How many files of measures state no interval?",
         said(without) if record.get("intervals") else said(None)),
        ("Which seeds are one number, so that no interval shows what another would give?",
         listed(single) if seeds else said(None)),
        ("Which are several?", (listed(several) if several else "none") if seeds else said(None)),
    )  # fmt: skip
    return Section("Randomness and intervals", answers)


def _learning_rates(record: Record) -> str:
    """Return the learning rates of the retrievers that were run, and of the one of the poolings."""
    config = record.get("config")
    known = at(config, "retrievers", "known") or {}
    pooled = at(config, "analyses", "pooling", "retriever")
    ran = dict.fromkeys([*(record.get("retrievers") or []), *([pooled] if pooled else [])])
    rates = {name: at(known, name, "learning_rate") for name in ran}
    return listed(f"{name} {rate:g}" for name, rate in rates.items() if rate is not None)


def _chosen(selected: Any, known: Mapping[str, Any] | None) -> list[str]:
    return list(selected) if isinstance(selected, list) else list(known or {})


def _labels(names: list[str], known: Mapping[str, Any] | None) -> str:
    return listed(f"{name} ({at(known, name, 'label') or '?'})" for name in names)


def settings_section(record: Record) -> Section:
    """Tell where hyper-parameters stand, their values, and how the evaluation was done."""
    config = record.get("config") or {}
    benchmarks = config.get("benchmarks") or {}
    known = benchmarks.get("known")
    references = config.get("references") or []
    answers = [
        ("Where does every hyper-parameter stand?",
         f"the merged configuration of hash {said(record.get('config_hash'))}, part of the record "
         "of the run (config)" if config else said(None)),
        ("How were retrievers trained?", settings_text(config.get("training"))),
        ("With which learning rates?", _learning_rates(record)),
        ("Which retrievers?", listed(record.get("retrievers") or [])),
        ("On which test collections?", _labels(_chosen(benchmarks.get("selected"), known), known)),
        ("How were they evaluated?", settings_text(config.get("evaluation"))),
        ("Beside which references?", listed(one["label"] for one in references)),
    ]  # fmt: skip
    if runs_listwise(config):
        listwise = config["listwise"]
        answers += [
            ("How were rerankers trained?", settings_text(listwise.get("training"))),
            ("Which rerankers?",
             listed(one["label"] for one in (listwise.get("models") or {}).values())),
            ("How do they rerank?", settings_text(listwise)),
        ]  # fmt: skip
    return Section("Hyper-parameters and evaluation", tuple(answers))


def models_in_loop_section(record: Record) -> Section:
    """Tell which models made, verified and judged the data, by kind."""
    config = record.get("config") or {}
    queries, audit = config.get("queries") or {}, at(config, "analyses", "audit") or {}
    generator, judge = queries.get("generator"), audit.get("judge")
    panel = at(config, "verification", "panel") or []
    answers = [
        ("What wrote the training queries?",
         kind_and_model(at(queries, "generators", generator) if generator else None)),
        ("What verified them?",
         members_text(panel)),
        ("What judged the audit?",
         kind_and_model(at(audit, "judges", judge) if judge else None)),
    ]  # fmt: skip
    if runs_listwise(config):
        listwise = config["listwise"]
        answers += [
            ("What ordered the listwise study's training lists?",
             members_text(listwise.get("teacher"))),
            ("What changed the listwise study's queries?", queries_text(listwise)),
        ]  # fmt: skip
    return Section("Models that made or judged data", tuple(answers))


def paper_section(record: Record, paper_config: Mapping[str, Any]) -> Section:
    """Tell where the run departs from the papers.

    Of the retriever study a configuration stands for its paper; of the listwise study none does.
    """
    config = record.get("config") or {}
    compared = bool(paper_config) and bool(config)
    names = differences(paper_config, config, BESIDE) if compared else []
    by_block: dict[str, list[str]] = {}
    for name in names:
        block = re.split(r"[.\[]", name)[0]
        by_block.setdefault(block, []).append(name.removeprefix(f"{block}.") or block)
    rows = tuple((block, str(len(rest)), ", ".join(rest)) for block, rest in by_block.items())
    answers = (
        ("What is said of the scale?", said(record.get("note"))),
        ("How many keys of the retriever study differ from the configuration of its paper's scale?",
         said(len(names)) if compared else said(None)),
        ("Which blocks are they in?",
         (listed(by_block) if names else "none") if compared else said(None)),
    )  # fmt: skip
    tables = (Table(("block of the retriever study", "keys", "which"), rows),) if rows else ()
    if runs_listwise(config):
        tables += (departures_table(config),)
    return Section("What is not the paper's", answers, tables)


def sizes_section(record: Record) -> Section:
    """Tell how much of everything was configured."""
    sizes = record.get("sizes") or {}
    rows = tuple((name, said(value)) for name, value in sizes.items())
    answers = (("How many sizes are configured?", said(len(sizes)) if sizes else said(None)),)
    return Section("Sizes", answers, (Table(("key", "value"), rows),) if rows else ())
