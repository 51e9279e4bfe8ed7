"""What the rules of the retriever study share: where models and data lie, who is measured on what."""

FIGURES, ANALYSES = config["figures"], config["analyses"]
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
REPRESENTATION = ("batch_size", "autocast", "threads", "resamples", "level")
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


# The benchmarks that figures and tables show, as far as they are run.
CURVES = [name for name in FIGURES["position_curves"] if name in BENCHMARKS] or [MAIN]
STANDARD = [name for name in FIGURES["standard"] if name in BENCHMARKS]
PLACED = [name for name in STANDARD if name in ANALYSES["evidence_places"]]
# Fig. 2: the retriever with each way of pooling; with its own one it is the retriever itself.
POOLED_FROM = ANALYSES["pooling"]["retriever"]
POOLED = {
    pooling: POOLED_FROM if pooling == entry["pooling"] else f"{POOLED_FROM}-{pooling}"
    for entry in [config["retrievers"]["known"][POOLED_FROM]]
    for pooling in ANALYSES["pooling"]["poolings"]
}
TRAINED = {
    **{name: config["retrievers"]["known"][name] for name in [*RETRIEVERS, POOLED_FROM]},
    **{
        name: {**entry, "pooling": pooling, "label": f"{entry['label']}, {pooling} pooling"}
        for entry in [config["retrievers"]["known"][POOLED_FROM]]
        for pooling, name in POOLED.items()
        if name != POOLED_FROM
    },
}
JUDGE = ANALYSES["audit"]["judges"][ANALYSES["audit"]["judge"]]
PAIRS = ANALYSES["evidence_moving"]["known"][ANALYSES["evidence_moving"]["pairs"]]


wildcard_constraints:
    retriever=one_of(TRAINED),
    standard=one_of(STANDARD),


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
    return TRAINED[wildcards.retriever]


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


def built(benchmark, *names):
    """Files of a benchmark that is built in this run, by their names in JUDGED."""
    return [JUDGED[name].format(benchmark=benchmark) for name in names]


def benchmark_inputs(wildcards):
    """What a loader reads: this study's own documents and candidates, or data from elsewhere."""
    entry = benchmark_entry(wildcards.benchmark)
    if entry["kind"] == "heldout":
        return ["<results>/corpus/documents.jsonl", "<results>/queries/candidates.jsonl"]
    if entry["kind"] == "leads":
        return ["<results>/corpus/documents.jsonl"]
    if entry["kind"] == "reversed":
        return built(entry["files"][0], "corpus", "queries", "qrels", "excluded")
    return places(entry["files"])


def packaged_file(wildcards):
    """The packaged file that a loader reads, found by the script; only lead sections are one."""
    return ASSETS["leads"] if benchmark_entry(wildcards.benchmark)["kind"] == "leads" else None


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


def provenance_of(*benchmarks):
    """What a figure about some benchmarks says of its origin."""
    read = {retriever for name in benchmarks for retriever in retrievers_of(name)}
    return {**PROVENANCE, "retrievers": [name for name in RETRIEVERS if name in read]}


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


def shown(figure):
    """The benchmark of a figure that shows one."""
    name = FIGURES[figure]
    if name not in BENCHMARKS:
        raise WorkflowError(
            f"config, figures.{figure}: {name!r} is not among benchmarks.selected; add it there, "
            "or ask for another figure."
        )
    return name


def zones_of(benchmark):
    """Into how many segments a document is cut, and how many are its front and its back."""
    return benchmark_entry(benchmark)["groups"]["zones"]


def some(files, place):
    """These files; without any, an error that names the place of the config that leaves none."""
    if not files:
        raise WorkflowError(
            f"config, {place}: names nothing that is among benchmarks.selected and is read by the "
            "retriever; add it there, or ask for another figure."
        )
    return files


def pooled_measures():
    """The measures of a retriever with each way of pooling, on each benchmark that it is read on."""
    known = config["retrievers"]["known"]
    return [
        f"<results>/evaluation/{benchmark}/{name}/{setting}/measures.json"
        for benchmark in CURVES
        if POOLED_FROM in chosen("retrievers", benchmark_entry(benchmark)["retrievers"], known)
        for name in POOLED.values()
        for setting in SETTINGS
    ]


def curves_of(benchmarks, groupings):
    """Labels of benchmarks, and those of the groupings that each has."""
    return {
        name: {
            "label": benchmark_entry(name)["label"],
            "groupings": [one for one in groupings if one in benchmark_entry(name)["groups"]],
        }
        for name in benchmarks
    }


def of_retrievers(file):
    """A file of every retriever."""
    return expand(f"<results>/{file}", retriever=RETRIEVERS)


def those_run(names):
    """The retrievers of a short table; the first two if none of them is run."""
    return [name for name in names if name in RETRIEVERS] or RETRIEVERS[:2]


def pair_files(entry):
    """What pairs of a query and its evidence, or places of evidence, are read from."""
    if entry["kind"] == "benchmark":
        return built(entry["files"][0], "corpus", "queries")
    return places(entry["files"])


def places_entry(wildcards):
    """How the evidence of a standard benchmark is located."""
    return ANALYSES["evidence_places"][wildcards.standard]


def labels_of(benchmarks):
    """The printed names of benchmarks."""
    return {name: benchmark_entry(name)["label"] for name in benchmarks}


def of_others(pattern):
    """A file of each benchmark with positions but the main one."""
    return expand(pattern, benchmark=[name for name in POSITIONED if name != MAIN])


# Figures that need a benchmark which a run may lack, and whether it has it.
OPTIONAL_FIGURES = {
    "pooling_curves": bool(pooled_measures()),
    "fine_position_curves": FIGURES["fine"] in BENCHMARKS,
    "fine_psi_table": FIGURES["fine"] in BENCHMARKS,
    "reversal_table": FIGURES["fine"] in BENCHMARKS and FIGURES["reversed"] in BENCHMARKS,
    "standard_table": bool(STANDARD),
    "standard_mean_table": bool(STANDARD),
    "evidence_places": bool(PLACED),
}


def those_shown(*files):
    """Those figure files whose benchmarks are run."""
    return [f"figures/{file}" for file in files if OPTIONAL_FIGURES.get(file.split(".")[0], True)]


# The file of each figure and table of the paper (its section numbers: 4, 6, appendices).
ITEMS = {
    "figure_1": "position_curves",
    "figure_2": "pooling_curves",
    "figure_3": "segment_cosine_pair",
    "figure_7": "segment_cosine",
    "figure_8": "fine_position_curves",
    "figure_9": "evidence_places",
    "table_1": "pool_table",
    "table_2": "retrievers_table",
    "table_3": "psi_table",
    "table_4": "standard_mean_table",
    "table_5": "evidence_moving_short",
    "table_6": "filter_table",
    "table_7": "audit_table",
    "table_8": "pool_table",
    "table_9": "retrievers_table",
    "table_10": "training_table",
    "table_11": "fine_psi_table",
    "table_12": "reversal_table",
    "table_13": "evidence_moving",
    "table_14": "standard_table",
}
RETRIEVER_FIGURES = [*dict.fromkeys(ITEMS.values()), "truncation", "paper_vs_ours"]


def measured_files():
    """All measures that figures, tables and verdicts are made of: what a release holds."""
    return list(
        dict.fromkeys(
            [
                *(file for name in BENCHMARKS for file in all_measures(name)),
                *pooled_measures(),
                *of_retrievers("truncation/{retriever}.csv"),
                *of_retrievers("described/{retriever}.json"),
                *of_retrievers("representation/segments/{retriever}.json"),
                *of_retrievers("representation/moving/{retriever}.json"),
                *expand("<results>/evidence_places/{standard}.json", standard=PLACED),
                "<results>/verification/filter_statistics.csv",
                "<results>/verification/pool_by_cell.csv",
                "<results>/balance/budget.json",
                "<results>/audit/summary.json",
                *expand("<results>/benchmarks/{benchmark}/summary.json", benchmark=BENCHMARKS),
                *listwise_measures(),
            ]
        )
    )


def used_names():
    """Names of the packaged, downloaded and own models and data that this run reads."""
    entries = [*config["verification"]["panel"], *REFERENCES.values(), GENERATOR, JUDGE]
    kinds = {benchmark_entry(name)["kind"] for name in BENCHMARKS}
    asked = PERSONAS if GENERATOR["kind"] in WITH_PERSONA else {}
    read = [
        *models_of(entries),
        *(entry.get("checkpoint", "minilm_l6") for entry in TRAINED.values()),
        *(ARTICLES[key] for key in ("asset", "folder") if key in ARTICLES),
        *(asked[key] for key in ("encoder", "source") if key in asked),
        *(file for name in BENCHMARKS for file in data_files(benchmark_entry(name))),
        *data_files(PAIRS),
        *(file for name in PLACED for file in ANALYSES["evidence_places"][name]["files"]),
    ]
    if "leads" in kinds or "listwise" in STUDIES:
        read.append("leads")
    if "listwise" in STUDIES:
        read += LISTWISE["embedding"]["encoders"]
        read.append(LISTWISE["queries"]["encoder"])
        read += [
            member["options"]["encoder"]
            for member in LISTWISE["teacher"]
            if "encoder" in member["options"]
        ]
    return [name for name in dict.fromkeys(read) if name != "own"]
