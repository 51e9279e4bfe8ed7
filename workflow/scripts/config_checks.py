"""Faults of a configuration, each told in one line before anything runs."""

from pathlib import Path

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from listwise_checks import check_listwise
from posbias.corpus.bins import rises
from posbias.errors import ConfigError
from posbias.queries.balance import position_counts
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
    known, references = config["retrievers"]["known"], config["references"]
    check_unique("verification.panel, name", [m["name"] for m in config["verification"]["panel"]])
    check_unique("references, name", [reference["name"] for reference in references])
    check_unique("label", [entry["label"] for entry in (*known.values(), *references)])
    evaluation = config["evaluation"]
    if evaluation["cutoff"] > evaluation["depth"]:
        raise ConfigError(
            f"config, evaluation: cutoff {evaluation['cutoff']} exceeds depth "
            f"{evaluation['depth']}; nDCG needs as many documents in a run."
        )
    for place, edges in (
        ("evaluation.character_edges", evaluation["character_edges"]),
        ("verification.thresholds", config["verification"]["thresholds"]),
    ):
        if not rises(edges):
            raise ConfigError(f"config, {place}: must rise strictly, found {edges}.")
    for shares in config["balance"]["settings"].values():
        position_counts(shares, 1)
    check_listwise(config["listwise"], config["claims"]["first_slots"])
