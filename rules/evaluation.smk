"""Station 7: retrieval by the position of the evidence (section 4.3, equation 3)."""


rule search_corpus:
    """The best documents of one shard of a corpus, for one retriever under all settings."""
    input:
        corpus=searched_file,
        queries=queries_of_corpus,
        excluded=excluded_of_corpus,
        checkpoints=expand("<results>/models/{{retriever}}/{setting}", setting=SETTINGS),
        src=sources("search_corpus.py"),
    output:
        hits=expand(
            "<results>/search/{{retriever}}/{{searched}}/{{shard}}/{setting}.npz",
            setting=SETTINGS,
        ),
        info=f"{SEARCHED}/info.json",
    log:
        "<logs>/search_corpus/{retriever}-{searched}-{shard}.log",
    benchmark:
        "<benchmarks>/search_corpus/{retriever}-{searched}-{shard}.tsv"
    conda:
        "../envs/train.yaml"
    threads: config["evaluation"]["threads"]
    resources:
        mem_mb=growing(3000),
        runtime=growing(240),
        accelerators=1,
    params:
        retriever="{retriever}",
        settings=SETTINGS,
        benchmarks=lambda wildcards: sharing(wildcards.searched),
        shard=lambda wildcards: int(wildcards.shard),
        shards=lambda wildcards: len(corpus_shards(wildcards.searched)),
        evaluation=evaluation_options(SEARCH),
        # Not an output: a killed search goes on from what it had found.
        resume_dir=f"results/{config['scale']}/resume/search-{{retriever}}-{{searched}}-{{shard}}",
    message:
        "searching {wildcards.searched} with {wildcards.retriever} (progress: {log})"
    script:
        "../workflow/scripts/search_corpus.py"


rule evaluate_retriever:
    """Runs, nDCG@10 per position group and PSI of one retriever under all settings (Table 3, Fig. 1)."""
    input:
        **JUDGED,
        hits=hits_of("{setting}.npz"),
        infos=hits_of("info.json"),
        src=sources("evaluate_retriever.py"),
    output:
        runs=expand(
            "<results>/evaluation/{{benchmark}}/{{retriever}}/{setting}/run.txt",
            setting=SETTINGS,
        ),
        measures=expand(
            "<results>/evaluation/{{benchmark}}/{{retriever}}/{setting}/measures.json",
            setting=SETTINGS,
        ),
        scores=expand(
            "<results>/evaluation/{{benchmark}}/{{retriever}}/{setting}/scores.csv",
            setting=SETTINGS,
        ),
    log:
        "<logs>/evaluate_retriever/{benchmark}-{retriever}.log",
    benchmark:
        "<benchmarks>/evaluate_retriever/{benchmark}-{retriever}.tsv"
    conda:
        "../envs/train.yaml"
    threads: 1
    resources:
        mem_mb=growing(6000),
        runtime=growing(120),
    params:
        retriever="{retriever}",
        label=lambda wildcards: retriever_entry(wildcards)["label"],
        settings=SETTINGS,
        benchmark="{benchmark}",
        groups=lookup(dpath="benchmarks/known/{benchmark}/groups", within=config),
        evaluation=evaluation_options(MEASURE),
        seed=SEED,
    message:
        "evaluating {wildcards.retriever} on {wildcards.benchmark} under all settings"
    script:
        "../workflow/scripts/evaluate_retriever.py"


rule evaluate_reference:
    """BM25 or an untrained encoder on the same benchmark: a row to compare with."""
    input:
        **JUDGED,
        models=lambda wildcards: places(models_of([REFERENCES[wildcards.reference]])),
        src=sources("evaluate_reference.py"),
    output:
        run=f"{EVALUATED}/references/{{reference}}/run.txt",
        measures=f"{EVALUATED}/references/{{reference}}/measures.json",
        scores=f"{EVALUATED}/references/{{reference}}/scores.csv",
    log:
        "<logs>/evaluate_reference/{benchmark}-{reference}.log",
    benchmark:
        "<benchmarks>/evaluate_reference/{benchmark}-{reference}.tsv"
    conda:
        "../envs/train.yaml"
    threads: config["evaluation"]["threads"]
    resources:
        mem_mb=growing(3000),
        runtime=growing(120),
        accelerators=lambda wildcards, input: int(bool(input.models)),
    params:
        reference=lambda wildcards: REFERENCES[wildcards.reference],
        model_names=lambda wildcards: models_of([REFERENCES[wildcards.reference]]),
        benchmark="{benchmark}",
        groups=lookup(dpath="benchmarks/known/{benchmark}/groups", within=config),
        evaluation=evaluation_options(dict.fromkeys(SEARCH + MEASURE)),
        seed=SEED,
    message:
        "evaluating {wildcards.reference} on {wildcards.benchmark}"
    script:
        "../workflow/scripts/evaluate_reference.py"
