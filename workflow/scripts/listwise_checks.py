"""Faults of the listwise block of a configuration that a schema cannot see."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from posbias.errors import ConfigError
from posbias.listwise.prompt import LETTERS
from posbias.options import check_options
from posbias.retrieval.lexical import make_bm25
from selection import check_known, check_unique

PLACE = "config, listwise"
RESERVED = "first_stage"  # stands beside the systems for the list that nobody reranked
Block = Mapping[str, Any]


def refuse(fault: bool, place: str, message: str) -> None:
    """Raise ConfigError with place and message where something is at fault."""
    if fault:
        raise ConfigError(f"{PLACE}.{place}: {message}")


def check_collections(block: Block) -> None:
    """Check corpora and collections, and that nothing is both trained and tested on."""
    corpora, collections = block["corpora"], block["collections"]
    train, tests = block["train_collection"], block["test_collections"]
    for name, corpus in corpora.items():
        if corpus["source"] == "leads":
            least, most = corpus["min_chars"], corpus["max_chars"]
            refuse(
                least > most,
                f"corpora.{name}",
                f"min_chars {least} exceeds max_chars {most}, which leaves no passage; lower it.",
            )
    for name, collection in collections.items():
        check_known(f"{PLACE}.collections.{name}.corpus", [collection["corpus"]], corpora)
        refuse(
            collection["queries"] == "titles"
            and corpora[collection["corpus"]]["source"] != "leads",
            f"collections.{name}",
            f"titles ask for lead sections, and {collection['corpus']!r} holds none; take a corpus "
            "of source leads, or queries: cloze.",
        )
    check_unique("listwise.collections, label", [c["label"] for c in collections.values()])
    check_known(f"{PLACE}.train_collection", [train], collections)
    check_known(f"{PLACE}.test_collections", tests, collections)
    refuse(train in tests, "test_collections", f"{train!r} is the train_collection; leave it out.")
    # Corpora of several names may hold the same passages.
    origin = {name: (corpus["source"], corpus.get("split")) for name, corpus in corpora.items()}
    trained_on = origin[collections[train]["corpus"]]
    shared = [name for name in tests if origin[collections[name]["corpus"]] == trained_on]
    refuse(
        bool(shared),
        "test_collections",
        f"{', '.join(shared)}: searched in the passages that training has seen; give another "
        "corpus.",
    )


def check_sizes(block: Block) -> None:
    """Check that windows reach all candidates and that the measure looks at no more of them."""
    window, stride, depth, cutoff = (block[n] for n in ("window", "stride", "depth", "cutoff"))
    refuse(
        stride > window,
        "stride",
        f"{stride} exceeds the window of {window}, so that passages between two windows are never "
        "read; lower it.",
    )
    refuse(
        window > depth, "window", f"{window} exceeds depth {depth}; lower it or raise the depth."
    )
    refuse(
        cutoff > depth, "cutoff", f"{cutoff} exceeds depth {depth}; lower it or raise the depth."
    )


class VectorOptions(NamedTuple):
    """Options of a search by the vectors of an encoder."""

    encoder: str


class FusionOptions(NamedTuple):
    """Options of a first stage that is fused from others."""

    of: list[str]
    k: int


OPTIONS: dict[str, Callable] = {
    "bm25": make_bm25,
    "dense": VectorOptions,
    "cosine": VectorOptions,
    "fusion": FusionOptions,
}


def check_searches(block: Block) -> None:
    """Check the options of first stages and teacher, and the encoders they and the scorer name."""
    stages, encoders = block["first_stages"], block["embedding"]["encoders"]
    named = [(f"first_stages.{name}", stage) for name, stage in stages.items()]
    named += [(f"teacher.{member['name']}", member) for member in block["teacher"]]
    check_known(f"{PLACE}.scorer.encoders", block["scorer"]["encoders"], encoders)
    before: list[str] = []
    for place, search in named:
        kind, options, at = search["kind"], search["options"], f"{PLACE}.{place}.options"
        check_options(at, OPTIONS[kind], options, own={"texts": ()} if kind == "bm25" else None)
        if OPTIONS[kind] is VectorOptions:
            check_known(f"{at}.encoder", [options["encoder"]], encoders)
        if kind == "fusion":
            refuse(
                not (isinstance(options["of"], list) and options["of"]),
                f"{place}.options.of",
                f"{options['of']!r} is no list of first stages; name them.",
            )
            late = [name for name in stages if name in options["of"] and name not in before]
            refuse(
                bool(late),
                f"{place}.options.of",
                f"{', '.join(late)} must stand before the fusion; move it up.",
            )
            check_known(f"{at}.of", options["of"], before)
        before.append(place.removeprefix("first_stages."))
    check_unique("listwise.first_stages, label", [stage["label"] for stage in stages.values()])
    check_unique("listwise.teacher, name", [member["name"] for member in block["teacher"]])
    for place in ("main_stage", "training_stage"):
        check_known(f"{PLACE}.{place}", [block[place]], stages)


def check_scorer(block: Block) -> None:
    """Check that the scorer has its model, and room for the window."""
    scorer, window = block["scorer"], block["window"]
    largest = scorer["options"].get("largest_window", window)
    if scorer["kind"] == "causal_lm":
        refuse(
            scorer["model"] is None,
            "scorer.model",
            "causal_lm starts from a language model; give smollm2 or the folder of one.",
        )
        refuse(
            window > len(LETTERS),
            "window",
            f"{window} passages, and causal_lm has {len(LETTERS)} letters to name them; lower it.",
        )
        return
    refuse(
        scorer["model"] is not None,
        "scorer.model",
        f"{scorer['kind']} starts from no model; set it to null, or kind to causal_lm.",
    )
    refuse(
        not isinstance(largest, int) or largest < window,
        "scorer.options.largest_window",
        f"{largest!r} leaves no room for the window of {window}; raise it.",
    )


def check_models(block: Block) -> None:
    """Check names, labels, augmentation and roles of the rerankers and the references."""
    models, references, roles = block["models"], block["references"], block["roles"]
    for names in (models, references):
        refuse(
            RESERVED in names,
            "models or references",
            f"the name {RESERVED!r} is taken by the list that nobody reranked; choose another.",
        )
    # Their results share a folder.
    check_unique("listwise.models and references, name", [*models, *references])
    check_unique(
        "listwise.models and references, label",
        [entry["label"] for entry in (*models.values(), *references.values())],
    )
    for name, model in models.items():
        check_known(
            f"{PLACE}.models.{name}.augmentation", [model["augmentation"]], block["augmentation"]
        )
    for role, name in roles.items():
        check_known(f"{PLACE}.roles.{role}", [name], models)
    baseline = roles["baseline"]
    refuse(
        models[baseline]["ips"],
        "roles.baseline",
        f"{baseline!r} is trained with IPS, and the propensities come from the baseline; take a "
        "model with ips: false.",
    )
    refuse(
        baseline == roles["proposed"],
        "roles",
        f"{baseline!r} is both baseline and proposed; name two models.",
    )


def check_evaluation(block: Block) -> None:
    """Check what is evaluated: its collections, and the depths of permutation self-consistency."""
    tests, window = block["test_collections"], block["window"]
    slots, permutations = (block["evaluation"][n] for n in ("slots", "permutations"))
    check_known(f"{PLACE}.evaluation.slots.collection", [slots["collection"]], tests)
    check_known(f"{PLACE}.evaluation.permutations.collections", permutations["collections"], tests)
    entries = permutations["depths"]
    depths, place = [entry["depth"] for entry in entries], "evaluation.permutations.depths"
    check_unique(f"listwise.{place}", depths)
    refuse(
        window not in depths,
        place,
        f"none of {depths} is a single window; add an entry of depth {window}.",
    )
    for entry in entries:
        depth = entry["depth"]
        refuse(
            depth > block["depth"],
            place,
            f"{depth} exceeds depth {block['depth']}, which the runs end at; lower it.",
        )
        refuse(
            depth > window and "kemeny" in entry["aggregates"],
            place,
            f"kemeny is exact and only for single windows of {window}, not for {depth}; "
            "leave borda alone there.",
        )


CHECKS: tuple[Callable[[Block], None], ...] = (
    check_collections,
    check_sizes,
    check_searches,
    check_scorer,
    check_models,
    check_evaluation,
)


def check_listwise_documents(block: Block, heldout_share: float) -> None:
    """Raise ConfigError where a corpus of held-out documents is wanted and there are none."""
    for name, corpus in block["corpora"].items():
        refuse(
            corpus.get("split") == "heldout" and not heldout_share,
            f"corpora.{name}",
            "holds held-out documents, but documents.heldout_share is 0; raise it, or leave "
            "listwise out of studies.",
        )


def check_listwise(block: Block, first_slots: int) -> None:
    """Raise ConfigError for what is wrong with the listwise block of a config.

    first_slots: slots at either end of the window that the claims look at.
    """
    for check in CHECKS:
        check(block)
    if 2 * first_slots > block["window"]:
        raise ConfigError(
            f"config, claims.first_slots: {first_slots} first and {first_slots} last slots overlap "
            f"in a window of {block['window']}; lower it."
        )
