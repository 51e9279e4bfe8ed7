"""The model card of a listwise reranker."""

from jinja2 import Environment, StrictUndefined

CARD = """\
---
license: apache-2.0
tags:
- listwise-reranking
- position-bias
---

# {{ entry.label }}, seed {{ seed }}

A listwise reranker of a replication of *LLM-based Listwise Reranking under the Effect of
Positional Bias* (arXiv 2604.03642), made at {{ name }} scale. {{ note }}

| | |
| --- | --- |
| scorer | {{ scorer.kind }}, {{ parameters }} parameters |
| augmentation by position | {{ entry.augmentation }} |
| inverse propensities in the ranking loss | {{ "yes" if entry.ips else "no" }} |
| language-model loss | {{ "yes" if entry.lm else "no" }} |
| training data | {{ lists }} lists, {{ seen_orders }} of {{ shown_orders }} orders of them |
| orders by | a mean of other scorers, the source passage first; no language model |
| weight of the ranking loss | {{ training.rank_weight }}, {{ training.reduction }} over pairs |
| batch size, epochs, steps | {{ training.batch_size }}, {{ training.epochs }}, {{ steps }} |
| learning rate | {{ training.learning_rate }} |
"""


def reranker_card(facts: dict) -> str:
    """Fill the card; every field must be given (an undefined one is an error)."""
    environment = Environment(
        undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True
    )
    return environment.from_string(CARD).render(facts)
