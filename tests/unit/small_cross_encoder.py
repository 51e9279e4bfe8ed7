"""Small cross-encoders to score with: one with random weights, one trained on real pairs."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from posbias.corpus.leads import read_leads
from posbias.corpus.segments import POSITIONS, segment_texts
from posbias.queries.cloze import ClozeGenerator

if TYPE_CHECKING:
    from transformers import BertModel, BertTokenizer, PreTrainedTokenizerBase

CLOZE = {"per_segment": 1, "keep_share": 0.5, "min_words": 3, "max_words": 5, "min_word_chars": 4}
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,"


def letter_tokenizer() -> "BertTokenizer":
    """A WordPiece tokenizer that knows every letter."""
    from transformers import BertTokenizer

    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS]
    vocabulary += [f"##{letter}" for letter in LETTERS]
    return BertTokenizer(vocab={token: i for i, token in enumerate(vocabulary)})


def save_random(folder: Path, num_labels: int = 1, family: str = "Bert", **changes) -> Path:
    """Save a cross-encoder of one random layer, 64 positions; its logits lie some units apart."""
    import torch
    import transformers

    tokenizer = letter_tokenizer()
    torch.manual_seed(3)
    config = getattr(transformers, f"{family}Config")(
        **{
            "vocab_size": len(tokenizer),
            "hidden_size": 32,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "intermediate_size": 64,
            "max_position_embeddings": 64,
            "initializer_range": 0.5,
            "num_labels": num_labels,
            **changes,
        }
    )
    model = getattr(transformers, f"{family}ForSequenceClassification")(config)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def lead_documents(leads: Path, limit: int) -> tuple[list[dict], list[dict]]:
    """Return documents of 120 to 300 characters, every third held out, and their cloze queries."""
    passages = read_leads(leads, 120, 300, limit, 42, Counter())
    documents = [
        {"doc_id": f"leads-{number:05d}", "text": passage.text, "bin": "120-300",
         "split": "train" if number % 3 else "heldout"}
        for number, passage in enumerate(passages)
    ]  # fmt: skip
    generator = ClozeGenerator(seed=42, stopwords=frozenset(), **CLOZE)
    return documents, [c.record() for c in generator.generate(documents, Counter())]


def labelled_pairs(documents: list[dict], queries: list[dict]) -> list[tuple[str, str, float]]:
    """Return (query, segment, is it the target) of all segments, those of one query together."""
    texts = {document["doc_id"]: segment_texts(document["text"]) for document in documents}
    return [
        (query["query"], text, float(position == query["position"]))
        for query in queries
        if query["doc_id"] in texts
        for position, text in zip(POSITIONS, texts[query["doc_id"]], strict=True)
    ]


def train_on(
    body: "BertModel",
    tokenizer: "PreTrainedTokenizerBase",
    pairs: list[tuple[str, str, float]],
    folder: Path,
) -> list[float]:
    """Train a BERT body as a cross-encoder on the pairs, once over, and save it; return losses.

    Binary cross-entropy on the logits, six queries with their three segments at a time.
    """
    import torch
    from transformers import BertForSequenceClassification

    torch.manual_seed(42)
    body.config.num_labels = 1
    model = BertForSequenceClassification(body.config)
    model.bert.load_state_dict(body.state_dict())
    torch.nn.init.eye_(model.bert.pooler.dense.weight)  # the package's body has none
    torch.nn.init.normal_(model.classifier.weight, std=0.05)
    model.bert.embeddings.requires_grad_(False)  # two thirds of the weights, and of the time
    model.train()
    groups = np.random.default_rng(42).permutation(len(pairs) // 3)
    steps = np.array_split(groups, len(groups) // 6)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=3e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-4, total_steps=len(steps))
    losses = []
    for step in steps:
        batch = [pairs[3 * group + part] for group in step for part in range(3)]
        queries, segments, labels = zip(*batch, strict=True)
        inputs = tokenizer(list(queries), list(segments), padding=True, return_tensors="pt")
        logits = model(**inputs).logits[:, 0]
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, torch.tensor(labels))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(float(loss.detach()))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return losses
