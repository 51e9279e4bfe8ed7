"""The model card of a checkpoint: what it is, how it was trained, what it must not be taken for."""

from jinja2 import Environment, StrictUndefined

CARD = """\
---
library_name: sentence-transformers
pipeline_tag: sentence-similarity
{% if not base %}
license: apache-2.0
{% endif %}
tags:
- sentence-transformers
- position-bias
---

# {{ label }}, trained on {{ evidence }}

A dense retriever of a replication of *Is Position Bias in Dense Retrievers Built In or Learned
from Data?* (arXiv 2605.26578), made at {{ scale }} scale. {{ note }}

| | |
| --- | --- |
| body | {{ family }}, {{ parameters }} parameters, of which {{ trained_parameters }} trained |
{% if base %}
| starts from | {{ base.repo or base.name }}, revision {{ base.revision or "not told" }} |
| precision | float32 weights; those of the starting point are {{ base.dtype }} |
| special tokens | {{ tokens }} |
{% endif %}
| position encoding | {{ positions }} |
| pooling | {{ pooling }}, then length 1 |
| query prefix | `{{ query_prefix }}` (documents: none) |
| longest input | {{ max_tokens }} tokens |
| training data | {{ pairs }} pairs, setting {{ setting }}, sha256 {{ data_sha256 }} |
| loss | InfoNCE, in-batch negatives ({{ loss }}), scale {{ scale_factor }} |
| batch size, epochs, steps | {{ batch_size }}, {{ epochs }}, {{ steps }} |
| learning rate | {{ learning_rate }} |
| seed | {{ seed }} |
| evidence cut off by the longest input | {{ evidence_truncated }} of {{ pairs }} pairs |

{% if base %}
The licence of the starting point ({{ base.licence or "see there" }}) goes on to apply; the text
is from the English Wikipedia (CC BY-SA).
{% else %}
The token vectors come from all-MiniLM-L6-v2 (Apache-2.0) and were not trained further; the text
is from the English Wikipedia (CC BY-SA).
{% endif %}

```python
from sentence_transformers import SentenceTransformer

model = SentenceTransformer("path/of/this/folder")
query = model.encode("words of a query", prompt_name="query")
document = model.encode("A document.", prompt_name="document")
print(query @ document)
```
"""


def model_card(facts: dict) -> str:
    """Fill the card; every field must be given (an undefined one is an error).

    facts: `base` is None for weights from scratch, else what base_facts of models/pretrained.py
    tells, and `tokens` then describes the special tokens.
    """
    environment = Environment(
        undefined=StrictUndefined,
        autoescape=False,
        keep_trailing_newline=True,
        trim_blocks=True,
    )
    return environment.from_string(CARD).render(facts)
