"""The model card: every fact of the training stands in it, none may be missing."""

import pytest
import yaml
from jinja2 import UndefinedError

from posbias.listwise.card import reranker_card

FACTS = {
    "entry": {"label": "DebiasFirst <x>", "augmentation": "rotation", "ips": True, "lm": False},
    "seed": 43,
    "name": "mini",
    "note": "Not the paper's models.",
    "scorer": {"kind": "passage_embedding"},
    "parameters": 345678,
    "lists": 5585,
    "shown_orders": 22340,
    "seen_orders": 16800,
    "steps": 525,
    "training": {
        "rank_weight": 0.1,
        "reduction": "sum",
        "batch_size": 32,
        "epochs": 3,
        "learning_rate": 1e-3,
    },
}


def test_the_facts_stand_in_the_card():
    card = reranker_card(FACTS)
    for text in ("# DebiasFirst <x>, seed 43", "at mini scale. Not the paper's models.",
                 "passage_embedding, 345678 parameters", "rotation", "5585 lists, 16800 of 22340",
                 "0.1, sum over pairs", "32, 3, 525", "0.001"):  # fmt: skip
        assert text in card
    assert "ranking loss | yes |" in card
    assert "language-model loss | no |" in card
    assert card.endswith("|\n")


def test_the_head_is_what_model_hubs_read():
    _, head, _ = reranker_card(FACTS).split("---\n", 2)
    assert yaml.safe_load(head)["license"] == "apache-2.0"


@pytest.mark.parametrize("name", FACTS)
def test_a_missing_fact_is_an_error(name):
    with pytest.raises(UndefinedError):
        reranker_card({key: value for key, value in FACTS.items() if key != name})
