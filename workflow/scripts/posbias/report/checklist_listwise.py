"""The listwise study in the checklist: what stands in the place of its paper's means."""

from collections.abc import Mapping
from typing import Any

from posbias.report.checklist import Table, at, listed, said, settings_text

# arXiv 2604.03642, section 4.
PAPER_RERANKER = "Zephyr-7B, fine-tuned, which reads the passages' text"
PAPER_ORDERS = "orders that GPT-4 gave"
PAPER_QUERIES = "MS MARCO's and BEIR's, unchanged"
PAPER_STAGES = "BM25, Contriever, SPLADE++, RRF"


def runs_listwise(config: Mapping[str, Any]) -> bool:
    """Say whether a configuration is also about the listwise study."""
    return "listwise" in (config.get("studies") or []) and bool(config.get("listwise"))


def kind_and_model(entry: Mapping[str, Any] | None) -> str:
    """Return the kind of a scorer, generator or judge, and its model or encoder if it has one."""
    if not entry:
        return said(None)
    options = entry.get("options")
    model, encoder = at(options, "model"), at(options, "encoder")
    named = f", model {model}" if model else f", encoder {encoder}" if encoder else ""
    return f"{entry.get('kind')}{named}"


def members_text(members: list[Mapping[str, Any]] | None) -> str:
    """Return names and kinds of scorers that decide together."""
    return listed(f"{one['name']} ({kind_and_model(one)})" for one in members or [])


def queries_text(listwise: Mapping[str, Any]) -> str:
    """Return what changed the words of the study's queries, and how many of them."""
    queries = listwise.get("queries") or {}
    encoder, share = queries.get("encoder"), queries.get("swap_share")
    if encoder is None or share is None:
        return said(None)
    return f"{100 * share:g} % of a query's words swapped for those that {encoder} finds near"


def _reranker_text(listwise: Mapping[str, Any]) -> str:
    scorer = listwise.get("scorer") or {}
    body = at(scorer, "options", "body")
    parts = [
        str(scorer["kind"]) if scorer.get("kind") else "",
        f"model {scorer['model']}" if scorer.get("model") else "",
        f"over vectors of {', '.join(scorer['encoders'])}" if scorer.get("encoders") else "",
        f"of {settings_text(body)}" if body else "",
    ]
    return ", ".join(part for part in parts if part) or said(None)


def departures_table(config: Mapping[str, Any]) -> Table:
    """Return what the paper has and this run has, for what the configuration tells of the run."""
    listwise = config.get("listwise") or {}
    stages = (listwise.get("first_stages") or {}).values()
    rows = (
        ("reranker", PAPER_RERANKER, _reranker_text(listwise)),
        ("orders it learns", PAPER_ORDERS, members_text(listwise.get("teacher"))),
        ("queries", PAPER_QUERIES, queries_text(listwise)),
        ("first stages", PAPER_STAGES, listed(str(one.get("label")) for one in stages)),
    )
    return Table(("of the listwise study", "arXiv 2604.03642", "this run"), rows)
