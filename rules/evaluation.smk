"""Station 6: retrieval by the position of the evidence (section 4.3, equation 3)."""


rule build_benchmark:
    """Held-out documents and queries whose evidence position is known; qrels in TREC format."""
    input:
        documents="<results>/corpus/documents.jsonl",
        candidates="<results>/queries/candidates.jsonl",
        src=sources("build_benchmark.py"),
    output:
        corpus="<results>/benchmark/corpus.jsonl",
        queries="<results>/benchmark/queries.jsonl",
        qrels="<results>/benchmark/qrels.txt",
        summary="<results>/benchmark/summary.json",
    log:
        "<logs>/build_benchmark.log",
    benchmark:
        "<benchmarks>/build_benchmark.tsv"
    conda:
        "../envs/core.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        queries_per_position=lookup(dpath="evaluation/queries_per_position", within=config),
        seed=SEED,
    message:
        "building the held-out benchmark"
    script:
        "../workflow/scripts/build_benchmark.py"


rule evaluate_retriever:
    """Runs, nDCG@10 per position group and PSI of one retriever under all settings (Table 3, Fig. 1)."""
    input:
        corpus="<results>/benchmark/corpus.jsonl",
        queries="<results>/benchmark/queries.jsonl",
        qrels="<results>/benchmark/qrels.txt",
        checkpoints=expand("<results>/models/{{retriever}}/{setting}", setting=SETTINGS),
        src=sources("evaluate_retriever.py"),
    output:
        runs=expand("<results>/evaluation/{{retriever}}/{setting}/run.txt", setting=SETTINGS),
        measures=expand(
            "<results>/evaluation/{{retriever}}/{setting}/measures.json",
            setting=SETTINGS,
        ),
        scores=expand(
            "<results>/evaluation/{{retriever}}/{setting}/scores.csv",
            setting=SETTINGS,
        ),
    log:
        "<logs>/evaluate_retriever/{retriever}.log",
    benchmark:
        "<benchmarks>/evaluate_retriever/{retriever}.tsv"
    conda:
        "../envs/train.yaml"
    threads: config["evaluation"]["threads"]
    resources:
        mem_mb=3000,
        runtime=120,
    params:
        retriever="{retriever}",
        label=lookup(dpath="retrievers/known/{retriever}/label", within=config),
        settings=SETTINGS,
        evaluation=evaluation_params(),
    message:
        "evaluating {wildcards.retriever} under all settings"
    script:
        "../workflow/scripts/evaluate_retriever.py"


rule evaluate_references:
    """BM25 and the untrained encoder on the same benchmark: the rows to compare with."""
    input:
        corpus="<results>/benchmark/corpus.jsonl",
        queries="<results>/benchmark/queries.jsonl",
        qrels="<results>/benchmark/qrels.txt",
        encoder="<results>/encoders/minilm_l6",
        src=sources("evaluate_references.py"),
    output:
        runs=expand("<results>/evaluation/references/{name}/run.txt", name=REFERENCES),
        measures=expand("<results>/evaluation/references/{name}/measures.json", name=REFERENCES),
        scores=expand("<results>/evaluation/references/{name}/scores.csv", name=REFERENCES),
    log:
        "<logs>/evaluate_references.log",
    benchmark:
        "<benchmarks>/evaluate_references.tsv"
    conda:
        "../envs/train.yaml"
    threads: config["evaluation"]["threads"]
    resources:
        mem_mb=3000,
        runtime=120,
    params:
        references=lookup(dpath="references", within=config),
        evaluation=evaluation_params(),
    message:
        "evaluating the reference rows"
    script:
        "../workflow/scripts/evaluate_references.py"
