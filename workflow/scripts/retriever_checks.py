"""Faults of the retriever study's configuration that a schema cannot say."""

from places import WITH_MODEL, WITH_PERSONA, data_files, models_of, place_of
from posbias.benchmarks.loaders import check_loader
from posbias.corpus.bins import rises
from posbias.errors import ConfigError
from selection import check_known, check_unique, chosen, select


def check_retriever_study(config: dict) -> None:
    """Raise ConfigError for names that nothing bears, and for choices that exclude each other."""
    check_documents(config)
    check_generator(config["queries"], config["downloads"])
    check_models(config)
    check_benchmarks(config)


def check_documents(config: dict) -> None:
    """The source of articles exists, and so does what it reads."""
    sources, name = config["article_sources"], config["documents"]["articles"]
    block = config["documents"]
    if block["cut"] == "sentences" and not block["heldout_share"]:
        raise ConfigError(
            "config, documents.heldout_share: 0, but a cut by sentences holds out one article at "
            "least; give a share above 0, or cut: whole."
        )
    check_known("config, documents.articles", [name], sources)
    source, where = sources[name], f"article_sources.{name}"
    if source["kind"] == "mediawiki_dump":
        check_known(f"config, {where}.asset", [source["asset"]], config["assets"])
    else:
        place_of(f"{where}.folder", source["folder"], config["downloads"])


def check_generator(queries: dict, downloads: dict) -> None:
    """The generator exists, and one that asks in someone's name has personas."""
    name = queries["generator"]
    check_known("config, queries.generator", [name], queries["generators"])
    if queries["generators"][name]["kind"] not in WITH_PERSONA:
        return
    personas = queries["personas"]
    if personas is None:
        raise ConfigError(
            f"config, queries.personas: null, but the generator {name!r} asks in the name of "
            "personas; give their source, encoder and number."
        )
    place_of("queries.personas.encoder", personas["encoder"], downloads)
    if personas["source"] != "own":
        place_of("queries.personas.source", personas["source"], downloads)


def check_models(config: dict) -> None:
    """Every model that the run uses is packaged, downloaded or a path; labels are unique."""
    downloads, known = config["downloads"], config["retrievers"]["known"]
    selected = select("retrievers", config["retrievers"])
    for name in selected:
        if "checkpoint" in known[name]:
            where = f"retrievers.known.{name}.checkpoint"
            place_of(where, known[name]["checkpoint"], downloads)
    generator = config["queries"]["generators"][config["queries"]["generator"]]
    entries = [
        *(
            (f"verification.panel.{member['name']}", member)
            for member in config["verification"]["panel"]
        ),
        *((f"references.{reference['name']}", reference) for reference in config["references"]),
        (f"queries.generators.{config['queries']['generator']}", generator),
    ]
    for where, entry in entries:
        if entry["kind"] in WITH_MODEL:
            if "model" not in entry["options"]:
                raise ConfigError(f"config, {where}.options: names no model, which it needs.")
            for name in models_of([entry]):
                place_of(f"{where}.options.model", name, downloads)
    labelled = [*(known[name] for name in selected), *config["references"]]
    check_unique("label", [entry["label"] for entry in labelled])


def check_benchmarks(config: dict) -> None:
    """What is selected exists; groups, shards and shared corpora fit."""
    block, downloads = config["benchmarks"], config["downloads"]
    known = block["known"]
    selected = select("benchmarks", block)
    for name in selected:
        entry, where = known[name], f"benchmarks.known.{name}"
        chosen(f"config, {where}.retrievers", entry["retrievers"], config["retrievers"]["known"])
        check_loader(name, entry["kind"], entry["options"])
        for file in data_files(entry):
            place_of(f"{where}.files", file, downloads)
        _check_groups(entry, where)
        if (
            entry["kind"] == "leads"
            and entry["options"]["min_chars"] > entry["options"]["max_chars"]
        ):
            raise ConfigError(f"config, {where}.options: min_chars exceeds max_chars.")
        if entry["kind"] == "heldout" and not config["documents"]["heldout_share"]:
            raise ConfigError(
                f"config, {where}: is made of held-out articles, but documents.heldout_share is 0."
            )
        _check_corpus(entry, where, known, [known[other] for other in selected])
    check_main(block, selected, select("retrievers", config["retrievers"]))
    for reference in config["references"]:
        where = f"config, references.{reference['name']}.benchmarks"
        chosen(where, reference["benchmarks"], known)


def check_main(block: dict, selected: list[str], retrievers: list[str]) -> None:
    """The benchmark of the figures and claims is run, has a PSI, and is read by a retriever."""
    name, where = block["main"], "config, benchmarks.main"
    if name in block["known"] and name not in selected:
        raise ConfigError(f"{where}: {name!r} is not among benchmarks.selected; add it there.")
    check_known(where, [name], selected)
    entry = block["known"][name]
    if entry["psi_groups"] is None:
        raise ConfigError(f"{where}: {name!r} has no psi_groups, which its table shows.")
    covered = chosen(where, entry["retrievers"], [*retrievers, *entry["retrievers"]])
    if entry["retrievers"] != "all" and not set(retrievers) & set(covered):
        raise ConfigError(
            f"{where}: none of the selected retrievers is evaluated on {name!r}; select one of "
            f"{', '.join(entry['retrievers'])}, or choose another benchmark."
        )


def _check_groups(entry: dict, where: str) -> None:
    groups, shown = entry["groups"], entry["psi_groups"]
    if shown is not None and shown not in groups:
        raise ConfigError(
            f"config, {where}.psi_groups: {shown!r} is none of its groups "
            f"({', '.join(groups) or 'it has none'})."
        )
    if shown is not None and "thirds" not in groups:
        raise ConfigError(
            f"config, {where}.groups: no thirds, which say what a retriever favours; add "
            "thirds: {}, or set psi_groups to null."
        )
    zones = groups.get("zones")
    if zones and 2 * zones["at_each_end"] >= zones["segments"]:
        raise ConfigError(
            f"config, {where}.groups.zones: {zones['at_each_end']} segments at each end leave none "
            f"of {zones['segments']} between them; take fewer."
        )
    edges = groups.get("characters", {}).get("edges", [])
    if not rises(edges):
        raise ConfigError(
            f"config, {where}.groups.characters.edges: must rise strictly, found {edges}."
        )


def _check_corpus(entry: dict, where: str, known: dict, selected: list[dict]) -> None:
    shared = entry["corpus"]
    if shared is None:
        return
    if shared in known:
        raise ConfigError(
            f"config, {where}.corpus: {shared!r} is the name of a benchmark; a shared corpus needs "
            "a name of its own."
        )
    shards = {other["shards"] for other in selected if other["corpus"] == shared}
    if len(shards) > 1:
        raise ConfigError(
            f"config, {where}.shards: benchmarks that share the corpus {shared!r} have "
            f"{', '.join(map(str, sorted(shards)))} shards; give all the same number."
        )
