"""What the rules of the listwise study share: names from the config, files of a collection."""

LISTWISE = config["listwise"]
# The references are evaluated as the models are, without checkpoints.
LISTWISE_SYSTEMS = [*LISTWISE["models"], *LISTWISE["references"]]
LISTWISE_FIGURES = expand(
    "figures/listwise_{item}.pdf",
    item=[
        "causal_graph",
        "propensity",
        "training_positions",
        "coverage",
        "position_curves",
        "permutations",
        "ablation_curves",
        "table1",
        "table2",
        "table3",
    ],
)
# What a run of everything makes of this study.
LISTWISE_RESULTS = LISTWISE_FIGURES if "listwise" in STUDIES else []
# The bands of these figures are over queries, of means over these trainings.
LISTWISE_PROVENANCE = {**PROVENANCE, "seed": LISTWISE["seeds"]}
CORPORA = "<results>/listwise/corpora"
COLLECTIONS = "<results>/listwise/collections"


wildcard_constraints:
    corpus="|".join(LISTWISE["corpora"]),
    collection="|".join(LISTWISE["collections"]),
    reranker="|".join(LISTWISE["models"]),
    rerank_seed=r"\d+",
    system="|".join(LISTWISE_SYSTEMS),


def corpus_of(collection):
    """The name of the corpus that a collection is searched in."""
    return LISTWISE["collections"][collection]["corpus"]


def of_corpus(file):
    """A file of the corpus of the rule's collection."""
    return lambda wildcards: f"{CORPORA}/{corpus_of(wildcards.collection)}/{file}"


def files_of(collection):
    """The files that make up one collection, by the names that the scripts give them."""
    own, corpus = f"{COLLECTIONS}/{collection}", f"{CORPORA}/{corpus_of(collection)}"
    return {
        "passages": f"{corpus}/passages.jsonl",
        "queries": f"{own}/queries.jsonl",
        "qrels": f"{own}/qrels.txt",
        "vectors": f"{corpus}/vectors.safetensors",
        "query_vectors": f"{own}/vectors.safetensors",
    }


def of_train_collection():
    """The files of the collection that the rerankers are trained on."""
    return files_of(LISTWISE["train_collection"])


def of_collections(collections, one=False):
    """The files of several collections, a list under each name; `one`: of one, no lists."""
    found = [files_of(collection) for collection in collections]
    return found[0] if one else {name: [files[name] for files in found] for name in found[0]}


def runs_of(collections, stages):
    """The runs of first stages, all of one collection after the other."""
    return [f"{COLLECTIONS}/{name}/runs/{stage}.txt" for name in collections for stage in stages]


def train_run():
    """The run that training lists and propensities come from."""
    return runs_of([LISTWISE["train_collection"]], [LISTWISE["training_stage"]])[0]


def shown_to_model(wildcards):
    """The lists as the model's augmentation shows them."""
    kind = LISTWISE["models"][wildcards.reranker]["augmentation"]
    return f"<results>/listwise/training/shown/{kind}.jsonl"


def propensity_of_model(wildcards):
    """The propensities of the baseline with the same seed, for a model that is trained with them."""
    uses = LISTWISE["models"][wildcards.reranker]["ips"]
    return [f"<results>/listwise/propensity/{wildcards.rerank_seed}.json"] if uses else []


def ips_of_model(wildcards):
    """How propensities become weights, for a model that is trained with them; else nothing."""
    return LISTWISE["ips"] if LISTWISE["models"][wildcards.reranker]["ips"] else {}


def checkpoints_of(wildcards):
    """A model's checkpoints, one per seed; a reference has none."""
    if wildcards.system not in LISTWISE["models"]:
        return []
    return [f"<results>/listwise/models/{wildcards.system}/{seed}" for seed in LISTWISE["seeds"]]


def inferences_of(wildcards):
    """The ways of inference that a system is evaluated with."""
    model = LISTWISE["models"].get(wildcards.system)
    return ["plain", "calibrated"] if model and model["calibrate"] else ["plain"]


def listwise_evaluation(*more, **options):
    """Window, stride and the like, as the evaluation scripts take them."""
    names = ("window", "stride", "cutoff", "batch_size", "threads", *more)
    return {**{name: LISTWISE[name] for name in names}, **options}


def evaluations(kind, values, summaries, systems):
    """Values and summaries of one kind of evaluation, under the names that the summary wants."""
    place = f"<results>/listwise/evaluation/{kind}/{{system}}"
    return {
        values: expand(f"{place}.parquet", system=systems),
        summaries: expand(f"{place}.json", system=systems),
    }


def listwise_names():
    """What the summary must know of the study: names, labels, roles, sizes."""
    evaluation = LISTWISE["evaluation"]
    names = ("models", "references", "roles", "seeds", "main_stage", "window", "depth", "cutoff")
    return {
        "ips": LISTWISE["ips"],
        **{name: LISTWISE[name] for name in names},
        "collections": {
            name: {field: LISTWISE["collections"][name][field] for field in ("label", "domain")}
            for name in LISTWISE["test_collections"]
        },
        "first_stages": {name: s["label"] for name, s in LISTWISE["first_stages"].items()},
        "slots_collection": evaluation["slots"]["collection"],
        "depths": [entry["depth"] for entry in evaluation["permutations"]["depths"]],
    }


def listwise_measures():
    """The measures of the listwise study, in a run that is about it."""
    return ["<results>/listwise/measures.json"] if "listwise" in STUDIES else []


def base_model():
    """The folder that a language model's training starts from; a decoder starts from nothing."""
    model = LISTWISE["scorer"]["model"]
    if model is None:
        return []
    return ["<results>/language_models/smollm2" if model == "smollm2" else model]
