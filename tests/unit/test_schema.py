"""The configuration: complete, commented, and refused where it is wrong."""

import json
from collections.abc import Iterator

import pytest
import yaml
from jsonschema import Draft202012Validator

from config_changes import changed

# Keys below these places belong to a generator, a scorer, a search or a family; they check them.
FREE = (
    "queries.generators.*.options",
    "benchmarks.known.*.groups",
    "benchmarks.known.*.options",
    "verification.panel.*.options",
    "retrievers.known.*.body",
    "references.*.options",  # the schema knows them, and each may be left out
    "listwise.queries.options",
    "listwise.first_stages.*.options",
    "listwise.teacher.*.options",
    "listwise.scorer.options",
    "analyses.evidence_moving.known.*.options",
    "analyses.audit.judges.*.options",
    "analyses.evidence_places.*.options",
    "comparison.retrievers",
    "comparison.benchmarks",
)
# Entries of these may be left out, as long as some are left.
NAMED = (
    "article_sources",
    "queries.generators",
    "benchmarks.known",
    "retrievers.known",
    "balance.settings.*",
    "listwise.corpora",
    "listwise.collections",
    "listwise.first_stages",
    "listwise.augmentation",
    "listwise.models",
    "analyses.evidence_moving.known",
    "analyses.audit.judges",
    "analyses.evidence_places",
)


# Properties that both kinds of retrievers have, described once.
SHARED = ("label", "position_encoding", "pooling", "query_prefix", "learning_rate")


@pytest.fixture(scope="module")
def schema(root) -> dict:
    return yaml.safe_load((root / "workflow/schemas/config.schema.yaml").read_text("utf-8"))


@pytest.fixture(scope="module")
def validator(schema) -> Draft202012Validator:
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def faults(validator: Draft202012Validator, config: dict) -> set[str]:
    """Return the places of the faults; an unknown or missing key is at its block."""
    return {".".join(map(str, fault.absolute_path)) for fault in validator.iter_errors(config)}


def test_the_config_is_valid(validator, config):
    assert faults(validator, config) == set()


@pytest.mark.parametrize(
    "block",
    [
        "",
        "assets",
        "assets.wikipedia",
        "encoders",
        "documents",
        "documents.max_per_bin",
        "article_sources.enwiki_dump",
        "queries",
        "queries.generators.cloze",
        "verification",
        "verification.panel.0",
        "balance",
        "balance.settings",
        "balance.settings.begin",
        "training",
        "retrievers",
        "retrievers.known.bert",
        "benchmarks",
        "benchmarks.known.wiki_heldout",
        "benchmarks.known.wiki_heldout.groups",
        "benchmarks.known.wiki_heldout.groups.thirds",
        "benchmarks.known.wiki_heldout.groups.characters",
        "benchmarks.known.wiki_fine.groups.zones",
        "evaluation",
        "references.0",
        "references.0.options",
        "listwise",
        "listwise.corpora.train",
        "listwise.corpora.leads",
        "listwise.collections.wiki",
        "listwise.queries",
        "listwise.embedding",
        "listwise.first_stages.bm25",
        "listwise.teacher.0",
        "listwise.scorer",
        "listwise.augmentation",
        "listwise.propensity",
        "listwise.ips",
        "listwise.training",
        "listwise.models.first",
        "listwise.roles",
        "listwise.references.cosine",
        "listwise.evaluation",
        "listwise.evaluation.slots",
        "listwise.evaluation.orders",
        "listwise.evaluation.permutations",
        "listwise.evaluation.permutations.depths.0",
        "release",
        "analyses",
        "analyses.pooling",
        "analyses.segments",
        "analyses.evidence_moving",
        "analyses.evidence_moving.known.wiki",
        "analyses.audit",
        "analyses.audit.judges.words",
        "analyses.evidence_places.wiki_leads",
        "figures",
        "comparison",
        "comparison.tolerance",
        "comparison.tolerance.psi",
        "claims",
    ],
)
def test_an_unknown_key_is_refused_at_every_level(validator, config, block):
    path = f"{block}.surprise" if block else "surprise"
    assert faults(validator, changed(config, path, 1)) == {block}


@pytest.mark.parametrize(
    "path",
    [
        "queries.generators.cloze.options.surprise",
        "benchmarks.known.wiki_heldout.options.surprise",
        "verification.panel.0.options.surprise",
        "verification.panel.0.activation.surprise",
        "retrievers.known.bert.body.surprise",
        "listwise.queries.options.surprise",
        "listwise.first_stages.bm25.options.surprise",
        "listwise.teacher.0.options.surprise",
        "listwise.teacher.0.activation.surprise",
        "listwise.scorer.options.surprise",
    ],
)
def test_what_others_check_is_free(validator, config, path):
    assert faults(validator, changed(config, path, 1)) == set()


def required_places(value: object, path: str = "") -> Iterator[str]:
    """Yield the places of all keys of the config that are not free and are no position share."""
    if isinstance(value, dict):
        for key, below in value.items():
            place = f"{path}.{key}" if path else key
            yield place
            yield from required_places(below, place)
    elif isinstance(value, list):
        for number, below in enumerate(value):
            yield from required_places(below, f"{path}.{number}")


def below(place: str, patterns: tuple[str, ...]) -> int:
    """Return how many keys deep a place lies below the pattern that it matches, 0 for none."""
    keys = place.split(".")
    for pattern in patterns:
        above = pattern.split(".")
        if len(keys) > len(above) and all(
            wanted in ("*", key) for wanted, key in zip(above, keys, strict=False)
        ):
            return len(keys) - len(above)
    return 0


def is_optional(place: str) -> bool:
    """Say whether a key may be left out: a free one, one of several names, an activation's own."""
    keys = place.split(".")
    return (
        below(place, FREE) > 0
        or below(place, NAMED) == 1
        or (keys[-2:-1] == ["activation"] and keys[-1] != "name")
    )


def test_every_key_that_is_not_free_must_be_there(validator, config):
    for place in required_places(config):
        if is_optional(place):
            continue
        less = json.loads(json.dumps(config))
        block = less
        *parents, last = place.split(".")
        for key in parents:
            block = block[int(key) if key.isdigit() else key]
        del block[last]
        assert faults(validator, less), f"{place} can be left out"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("scale", "Mini Scale"),
        ("scale", "../elsewhere"),
        ("scale_note", None),
        ("seed", "42"),
        ("seed", -1),
        ("seed", 1.5),
        ("free_disk_gb", -1),
        ("assets.wikipedia.sha256", "a53f"),
        ("assets.wikipedia.sha256", "z" * 64),
        ("encoders.max_tokens", 1000),
        ("documents.bin_edges", [192]),
        ("documents.bin_edges", [192, 240.5]),
        ("documents.bin_edges", [192, 192]),
        ("documents.bin_edges", [0, 100]),
        ("documents.bin_edges", ["192", "240"]),
        ("documents.heldout_share", -0.1),
        ("documents.heldout_share", 1),
        ("documents.max_per_bin.train", 0),
        ("queries.generator", None),
        ("queries.generators", {}),
        ("queries.generators.cloze.options", []),
        ("queries.personas", {}),
        ("article_sources", {}),
        ("article_sources.enwiki_dump.kind", "folder"),
        ("documents.cut", "paragraphs"),
        ("downloads", {"Bert": {"path": "models/bert"}}),
        ("downloads", {"bert": {"repo": "a/b", "type": "model", "revision": "main"}}),
        ("downloads", {"bert": {"repo": "a/b"}}),
        ("verification.delta", 1),
        ("verification.delta", -0.1),
        ("verification.delta", "0.3"),
        ("verification.thresholds", []),
        ("verification.thresholds", [0.1, 0.1]),
        ("verification.thresholds", [1.5]),
        ("verification.cascade", "yes"),
        ("verification.cascade", 1),
        ("verification.shards", 0),
        ("verification.shards", True),
        ("verification.threads", 0),
        ("verification.panel", []),
        ("verification.panel.0.name", "BM 25"),
        ("verification.panel.0.activation", {}),
        ("verification.panel.0.activation", "clip"),
        ("balance.least", 0),
        ("balance.max_budget", 0),
        ("balance.max_budget", "all"),
        ("balance.settings.begin", {}),
        ("balance.settings.begin", {"begin": 0}),
        ("balance.settings.begin", {"begin": 1.5}),
        ("training.loss", "triplet"),
        ("training.batch_size", 1),
        ("training.epochs", 0),
        ("training.warmup_ratio", 1),
        ("training.schedule", "wavy"),
        ("training.scale", 0),
        ("training.save_every", 0),
        ("training.log_every", 2.5),
        ("retrievers.selected", []),
        ("retrievers.selected", "bert"),
        ("retrievers.selected", [1]),
        ("retrievers.selected", ["bert", "bert"]),
        ("retrievers.token_vectors_std", 0),
        ("retrievers.known", {}),
        ("retrievers.known.bert", {}),
        ("retrievers.known.bert.positions", "relative"),
        ("retrievers.known.bert.pooling", "first"),
        ("retrievers.known.bert.learning_rate", "3e-3"),
        ("retrievers.known.bert.body", None),
        ("training.mini_batch_tokens", 0),
        ("training.autocast", "fp16"),
        ("benchmarks.selected", []),
        ("benchmarks.known", {}),
        ("benchmarks.known.wiki_heldout.shards", 0),
        ("benchmarks.known.wiki_heldout.corpus", "Fever"),
        ("benchmarks.known.wiki_heldout.retrievers", "bert"),
        ("benchmarks.known.wiki_heldout.psi_groups", "halves"),
        ("benchmarks.known.wiki_heldout.groups.bins", {"count": 1}),
        ("benchmarks.known.wiki_heldout.groups.characters.edges", [0]),
        ("benchmarks.known.wiki_heldout.groups.characters.edges", [-1, 5]),
        ("evaluation.block_documents", 0),
        ("evaluation.autocast", True),
        ("evaluation.level", 1),
        ("evaluation.level", 0),
        ("evaluation.resamples", 0),
        ("references", []),
        ("references.0.kind", "oracle"),
        ("references.0.options", {"k1": -1}),
        ("references.0.benchmarks", "squad"),
        ("assets.leads.sha256", "05ed"),
        ("assets.smollm2.file", ""),
        ("listwise.window", 1),
        ("listwise.stride", 0),
        ("listwise.depth", 0),
        ("listwise.cutoff", "10"),
        ("listwise.seeds", []),
        ("listwise.seeds", [42, 42]),
        ("listwise.seeds", [-1]),
        ("listwise.seeds", 42),
        ("listwise.threads", 0),
        ("listwise.batch_size", 0),
        ("listwise.corpora", {}),
        ("listwise.corpora.train", "documents"),
        ("listwise.corpora.train.source", "leeds"),
        ("listwise.corpora.train.split", "test"),
        ("listwise.corpora.leads.min_chars", 0),
        ("listwise.corpora.leads.limit", 2.5),
        ("listwise.collections", {}),
        ("listwise.collections.wiki.queries", "questions"),
        ("listwise.collections.wiki.limit", 0),
        ("listwise.collections.wiki.label", ""),
        ("listwise.collections.wiki.domain", "near"),
        ("listwise.train_collection", None),
        ("listwise.test_collections", []),
        ("listwise.test_collections", ["wiki", "wiki"]),
        ("listwise.queries.swap_share", 1.1),
        ("listwise.queries.least_texts", 0),
        ("listwise.queries.encoder", "minilm"),
        ("listwise.queries.options", None),
        ("listwise.embedding.encoders", []),
        ("listwise.embedding.encoders", ["minilm_l6", "minilm_l6"]),
        ("listwise.embedding.max_tokens", 513),
        ("listwise.embedding.placeholder", ""),
        ("listwise.first_stages", {}),
        ("listwise.first_stages.bm25.kind", "splade"),
        ("listwise.first_stages.bm25.options", None),
        ("listwise.main_stage", 1),
        ("listwise.teacher", []),
        ("listwise.teacher.0.kind", "gpt4"),
        ("listwise.teacher.0.activation", {}),
        ("listwise.scorer.kind", "cross_encoder"),
        ("listwise.scorer.model", ""),
        ("listwise.scorer.encoders", ["bm25"]),
        ("listwise.scorer.options", []),
        ("listwise.augmentation", {}),
        ("listwise.augmentation.none", 2),
        ("listwise.augmentation.random", 0),
        ("listwise.augmentation.rotation", "all"),
        ("listwise.propensity.queries", 0),
        ("listwise.propensity.shuffles", 0),
        ("listwise.ips.mode", "absolute"),
        ("listwise.ips.zero_cells", "ignore"),
        ("listwise.ips.floor", 0),
        ("listwise.ips.floor", 1.5),
        ("listwise.ips.smoothing", 0),
        ("listwise.ips.cap", 0.5),
        ("listwise.training.rank_weight", 0),
        ("listwise.training.index", "place"),
        ("listwise.training.reduction", "max"),
        ("listwise.training.gradient_accumulation", 0),
        ("listwise.training.learning_rate", "1e-3"),
        ("listwise.training.warmup_ratio", 1),
        ("listwise.training.schedule", "wavy"),
        ("listwise.training.save_every", 0),
        ("listwise.models", {}),
        ("listwise.models.first", {}),
        ("listwise.models.first.augmentation", "reverse"),
        ("listwise.models.first.ips", "no"),
        ("listwise.models.first.lm", 1),
        ("listwise.models.first.calibrate", None),
        ("listwise.roles.baseline", None),
        ("listwise.references", {}),
        ("listwise.references.cosine.label", ""),
        ("listwise.evaluation.slots.queries", 0),
        ("listwise.evaluation.orders.shuffles", 1),
        ("listwise.evaluation.permutations.collections", []),
        ("listwise.evaluation.permutations.orders", 0),
        ("listwise.evaluation.permutations.depths", []),
        ("listwise.evaluation.permutations.depths.0.aggregates", []),
        ("listwise.evaluation.permutations.depths.0.aggregates", ["mean"]),
        ("listwise.evaluation.resamples", 0),
        ("listwise.evaluation.level", 1),
        ("metrics_from", "shipped"),
        ("release.archive", ""),
        ("release.sha256", "a53f"),
        ("benchmarks.known.wiki_fine.groups.zones.segments", 1),
        ("analyses.pooling.poolings", []),
        ("analyses.pooling.poolings", ["cls", "cls"]),
        ("analyses.pooling.poolings", ["first"]),
        ("analyses.segments.documents", 0),
        ("analyses.segments.count", 1),
        ("analyses.segments.pair", "bert"),
        ("analyses.evidence_moving.positions", 1),
        ("analyses.evidence_moving.snap", "tokens"),
        ("analyses.evidence_moving.limit", 0),
        ("analyses.evidence_moving.known", {}),
        ("analyses.audit.per_stratum", 0),
        ("analyses.audit.judges", {}),
        ("analyses.evidence_places.wiki_leads.files", "folder"),
        ("figures.fine", 3),
        ("figures.standard", None),
        ("comparison.compare", "all"),
        ("comparison.tolerance.psi.near", -0.1),
        ("comparison.retrievers.BERT-base", 3),
        ("claims.mean_tolerance", -0.1),
        ("claims.first_slots", 0),
        ("claims.saturation_tolerance", -0.1),
        ("claims.alpha", 0),
        ("claims.alpha", 1),
        ("claims.single_share", 1.5),
        ("expected", 3),
        ("expected", ""),
    ],
)
def test_wrong_values_are_refused_where_they_stand(validator, config, path, value):
    found = faults(validator, changed(config, path, value))
    assert found
    assert all(place == path or place.startswith(f"{path}.") for place in found)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("retrievers.selected", ["bert"]),
        ("balance.max_budget", 100),
        ("expected", None),
        ("verification.delta", 0),
        ("training.loss", "cached"),
        ("training.mini_batch_tokens", 16384),
        ("training.autocast", "bf16"),
        ("documents.heldout_share", 0),
        ("documents.cut", "whole"),
        ("downloads", {"bert": {"path": "models/bert"}}),
        ("benchmarks.known.wiki_heldout.groups", {}),
        ("benchmarks.known.wiki_heldout.psi_groups", None),
        ("listwise.seeds", [42]),
        ("listwise.ips.cap", None),
        ("listwise.scorer.kind", "causal_lm"),
        ("listwise.scorer.model", "models/zephyr"),
        ("listwise.augmentation", {"none": 1}),
        ("listwise.queries.swap_share", 0),
        ("metrics_from", "released"),
        ("release.sha256", "a" * 64),
        ("figures.fine", None),
        ("figures.standard", []),
        ("analyses.evidence_places", {}),
        ("comparison.benchmarks.FEVER", None),
    ],
)
def test_other_right_values_are_taken(validator, config, path, value):
    assert faults(validator, changed(config, path, value)) == set()


@pytest.mark.parametrize("name", ["BERT", "my model", "a-b", "", "ä"])
def test_names_of_retrievers_become_file_names(validator, config, name):
    entry = config["retrievers"]["known"]["bert"]
    known = {**config["retrievers"]["known"], name: entry}
    assert faults(validator, changed(config, "retrievers.known", known)) == {"retrievers.known"}


@pytest.mark.parametrize(
    "block", ["corpora", "collections", "first_stages", "models", "references"]
)
@pytest.mark.parametrize("name", ["first+calibrated", "My Model", "a-b", "a.b"])
def test_names_of_the_listwise_study_become_file_names(validator, config, block, name):
    place, entries = f"listwise.{block}", config["listwise"][block]
    named = {name: next(iter(entries.values()))}
    if block == "models":
        named |= {"first": entries["first"]}
    assert faults(validator, changed(config, place, named)) == {place}


def properties(node: object, path: str = "") -> Iterator[tuple[str, dict]]:
    """Yield every property of the schema, and every definition."""
    if isinstance(node, list):
        for number, below in enumerate(node):
            yield from properties(below, f"{path}[{number}]")
    elif isinstance(node, dict):
        for keyword in ("properties", "$defs"):
            for name, below in node.get(keyword, {}).items():
                yield f"{path}.{keyword}.{name}", below
        for name, below in node.items():
            if name != "if":  # a condition: what it is about stands elsewhere
                yield from properties(below, f"{path}.{name}")


def test_every_property_is_described_with_unit_and_section(schema):
    found = list(properties(schema))
    assert len(found) > 100
    for path, node in found:
        if list(node) == ["$ref"] and node["$ref"].split("/")[-1] in SHARED:
            continue  # described where it is defined
        text = node.get("description", "")
        assert text.endswith("."), f"{path} has no description"
        if ".properties." in path:
            words = ("section", "Table", "Figure", "appendix", "equation", "not in the paper")
            assert any(word in text for word in words), f"{path}: no place in the paper"


def test_the_schema_has_no_defaults(schema):
    # Snakemake would write them into the config: what a run used must stand in config.yaml.
    assert all("default" not in node for _, node in properties(schema))


def test_blocks_are_closed(schema):
    """Only what others check may hold keys that the schema does not know."""
    free = {path for path, node in properties(schema) if node.get("type") == "object"
            and "additionalProperties" not in node}  # fmt: skip
    assert {path.rsplit(".", 1)[-1] for path in free} == {"options", "activation", "body"}


def leaf_keys(node: yaml.Node, above: tuple[tuple[str, int], ...] = ()) -> Iterator[tuple]:
    """Yield (ancestors and key with their 0-based lines, value) of every leaf of a YAML tree."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            here = (*above, (key.value, key.start_mark.line))
            inner = value.value if isinstance(value, yaml.CollectionNode) else []
            if any(not isinstance(item, yaml.ScalarNode) for item in inner):
                yield from leaf_keys(value, here)
            else:
                yield here, value
    elif isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            yield from leaf_keys(item, (*above, (str(number), item.start_mark.line)))


def test_every_key_of_the_config_is_explained(root):
    text = (root / "config.yaml").read_text("utf-8")
    lines = text.split("\n")

    def explained(line: int) -> bool:
        return "#" in lines[line] or (line > 0 and lines[line - 1].strip().startswith("#"))

    leaves = list(leaf_keys(yaml.compose(text)))
    assert len(leaves) > 100
    for path, value in leaves:
        name = ".".join(key for key, _ in path)
        assert any(explained(line) for _, line in path), f"{name} has no comment at all"
        number = isinstance(value, yaml.ScalarNode) and value.tag.endswith((":int", ":float"))
        if number and len(path) <= 3:
            assert any(explained(line) for _, line in path[1:] or path), f"{name}: no unit"
