"""Faults of a configuration, each told in one line before anything runs."""

from pathlib import Path

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from figure_checks import check_figures
from listwise_checks import check_listwise, check_listwise_documents
from posbias.corpus.bins import rises
from posbias.errors import ConfigError
from posbias.queries.balance import position_counts
from retriever_checks import check_retriever_study
from selection import check_unique

LONGEST = 300  # characters of a message; a fault high up would quote the whole configuration


def check_schema(config: dict, schema: Path) -> None:
    """Raise ConfigError naming the place and the fault unless the schema accepts the config."""
    validator = Draft202012Validator(yaml.safe_load(Path(schema).read_text(encoding="utf-8")))
    fault = best_match(validator.iter_errors(config))
    if fault is None:
        return
    place = ".".join(map(str, fault.absolute_path)) or "top level"
    message = fault.message if len(fault.message) <= LONGEST else f"…{fault.message[-LONGEST:]}"
    hint = ""
    if fault.validator == "additionalProperties":
        hint = f" Known keys: {', '.join(fault.schema.get('properties', {}))}."
    raise ConfigError(f"config, {place}: {message}.{hint}")


def check_consistency(config: dict) -> None:
    """Raise ConfigError for what a schema cannot say: names in use twice, orders, sums."""
    verification, evaluation = config["verification"], config["evaluation"]
    check_unique("verification.panel, name", [member["name"] for member in verification["panel"]])
    check_unique("references, name", [reference["name"] for reference in config["references"]])
    if evaluation["cutoff"] > evaluation["depth"]:
        raise ConfigError(
            f"config, evaluation: cutoff {evaluation['cutoff']} exceeds depth "
            f"{evaluation['depth']}; nDCG needs as many documents in a run."
        )
    if not rises(verification["thresholds"]):
        raise ConfigError(
            "config, verification.thresholds: must rise strictly, found "
            f"{verification['thresholds']}."
        )
    for shares in config["balance"]["settings"].values():
        position_counts(shares, 1)
    check_retriever_study(config)
    check_figures(config)
    if "listwise" in config["studies"]:
        check_listwise(config["listwise"], config["claims"]["first_slots"])
        check_listwise_documents(config["listwise"], config["documents"]["heldout_share"])
