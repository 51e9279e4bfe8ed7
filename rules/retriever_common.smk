"""What the rules of the retriever study share: where models and data lie, who is measured on what."""

GENERATOR = config["queries"]["generators"][config["queries"]["generator"]]
ARTICLES = config["article_sources"][config["documents"]["articles"]]
PERSONAS = config["queries"]["personas"]
PANEL_MODELS = models_of(config["verification"]["panel"])
BENCHMARK_FILES = "<results>/benchmarks/{benchmark}"
SEARCHED = "<results>/search/{retriever}/{searched}/{shard}"
EVALUATED = "<results>/evaluation/{benchmark}"
# Apart, so that another way to measure does not search again.
SEARCH = ("depth", "batch_size", "block_documents", "autocast", "threads")
MEASURE = ("depth", "cutoff", "resamples", "level", "min_group")
JUDGED = {
    name: f"{BENCHMARK_FILES}/{file}"
    for name, file in {
        "corpus": "corpus.jsonl",
        "queries": "queries.jsonl",
        "qrels": "qrels.txt",
        "excluded": "excluded.json",
        "summary": "summary.json",
    }.items()
}


def place(name, where="models"):
    """The folder or file of a model or of data that the config names."""
    return place_of(where, name, config["downloads"])


def places(names):
    """Those of several."""
    return [place(name) for name in names]


def evaluation_options(names):
    """Some keys of the evaluation block."""
    return {name: config["evaluation"][name] for name in names}


def article_files():
    """The folder that a table of articles is read from; a packaged dump is found by its hash."""
    return places([ARTICLES["folder"]]) if "folder" in ARTICLES else []


def persona_source():
    """The list of personas; the package's own is found by the scripts."""
    own = PERSONAS is None or PERSONAS["source"] == "own"
    return [] if own else places([PERSONAS["source"]])


def persona_choices():
    """Who may ask of each document, and the list of them, for a generator that asks in a name."""
    asked = GENERATOR["kind"] in WITH_PERSONA
    return ["<results>/queries/personas.jsonl", *persona_source()] if asked else []


def retriever_entry(wildcards):
    """The block of the config of one retriever."""
    return config["retrievers"]["known"][wildcards.retriever]


def checkpoint_input(wildcards):
    """The folder of trained weights that a retriever starts from; from scratch, none."""
    entry = retriever_entry(wildcards)
    return places([entry["checkpoint"]]) if "checkpoint" in entry else []


def encoder_input(wildcards):
    """The encoder that gives a retriever from scratch its tokenizer and token vectors."""
    return [] if "checkpoint" in retriever_entry(wildcards) else places(["minilm_l6"])


def benchmark_entry(benchmark):
    """The block of the config of one benchmark."""
    return config["benchmarks"]["known"][benchmark]


def retrievers_of(benchmark):
    """The retrievers that are evaluated on a benchmark."""
    entry = benchmark_entry(benchmark)
    known = chosen(
        f"benchmarks.known.{benchmark}.retrievers",
        entry["retrievers"],
        config["retrievers"]["known"],
    )
    return [name for name in RETRIEVERS if name in known]


def references_of(benchmark):
    """The reference systems that are evaluated on a benchmark."""
    return [
        name
        for name, entry in REFERENCES.items()
        if benchmark
        in chosen(
            f"references.{name}.benchmarks", entry["benchmarks"], config["benchmarks"]["known"]
        )
    ]


def searched_corpus(benchmark):
    """The name of the corpus that a benchmark is searched in: its own, or one that it shares."""
    return benchmark_entry(benchmark)["corpus"] or benchmark


def sharing(searched):
    """The benchmarks that are searched in a corpus, in the order of the config."""
    return [name for name in BENCHMARKS if searched_corpus(name) == searched]


def searched_file(wildcards):
    """The documents of a corpus: a benchmark's own, or the union of those that share it."""
    if wildcards.searched in BENCHMARKS:
        return f"<results>/benchmarks/{wildcards.searched}/corpus.jsonl"
    return f"<results>/joined/{wildcards.searched}.jsonl"


def corpus_shards(searched):
    """The numbers of the shards of a corpus."""
    return range(max(benchmark_entry(name)["shards"] for name in sharing(searched)))


def benchmark_inputs(wildcards):
    """What a loader reads: this study's own documents and candidates, or data from elsewhere."""
    entry = benchmark_entry(wildcards.benchmark)
    if entry["kind"] == "heldout":
        return ["<results>/corpus/documents.jsonl", "<results>/queries/candidates.jsonl"]
    return places(entry["files"])


def queries_of_corpus(wildcards):
    """The queries of all benchmarks that are searched in a corpus."""
    return expand(
        "<results>/benchmarks/{benchmark}/queries.jsonl", benchmark=sharing(wildcards.searched)
    )


def excluded_of_corpus(wildcards):
    """The documents that queries of these benchmarks must not find."""
    return expand(
        "<results>/benchmarks/{benchmark}/excluded.json", benchmark=sharing(wildcards.searched)
    )


def hits_of(file):
    """A file of every shard of a retriever's search in the corpus of the rule's benchmark."""

    def found(wildcards):
        searched = searched_corpus(wildcards.benchmark)
        return expand(
            f"<results>/search/{{retriever}}/{{searched}}/{{shard}}/{file}",
            retriever=wildcards.retriever,
            searched=searched,
            shard=corpus_shards(searched),
            setting=SETTINGS,
        )

    return found


def truncation_of(benchmark):
    """How much of the training evidence each retriever of a benchmark does not see."""
    return expand("<results>/truncation/{retriever}.csv", retriever=retrievers_of(benchmark))


def provenance_of(benchmark):
    """What a figure about one benchmark says of its origin."""
    return {**PROVENANCE, "retrievers": retrievers_of(benchmark)}


def all_measures(benchmark):
    """A benchmark's measures: of its retrievers under every setting, then of its references."""
    folder = f"<results>/evaluation/{benchmark}"
    trained = expand(
        f"{folder}/{{retriever}}/{{setting}}/measures.json",
        retriever=retrievers_of(benchmark),
        setting=SETTINGS,
    )
    return trained + expand(
        f"{folder}/references/{{name}}/measures.json", name=references_of(benchmark)
    )
