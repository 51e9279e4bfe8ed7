"""Station 6: test collections whose queries know where their evidence stands (section 4.3)."""


rule build_benchmark:
    """Documents and queries whose evidence position is known; qrels in TREC format."""
    input:
        files=benchmark_inputs,
        watched=lambda wildcards: files_in(benchmark_inputs(wildcards)),
        src=sources("build_benchmark.py"),
    output:
        corpus=f"{BENCHMARK_FILES}/corpus.jsonl",
        queries=f"{BENCHMARK_FILES}/queries.jsonl",
        qrels=f"{BENCHMARK_FILES}/qrels.txt",
        excluded=f"{BENCHMARK_FILES}/excluded.json",
        summary=f"{BENCHMARK_FILES}/summary.json",
    log:
        "<logs>/build_benchmark/{benchmark}.log",
    benchmark:
        "<benchmarks>/build_benchmark/{benchmark}.tsv"
    conda:
        "../envs/core.yaml"
    threads: 1
    resources:
        mem_mb=growing(4000),
        runtime=growing(240),
    params:
        kind=lookup(dpath="benchmarks/known/{benchmark}/kind", within=config),
        options=lookup(dpath="benchmarks/known/{benchmark}/options", within=config),
        asset=packaged_file,
        seed=SEED,
    message:
        "building the benchmark {wildcards.benchmark}"
    script:
        "../workflow/scripts/build_benchmark.py"


rule join_corpora:
    """The documents of benchmarks that share a corpus, each once, so that they are encoded once."""
    input:
        corpora=lambda wildcards: expand(
            "<results>/benchmarks/{benchmark}/corpus.jsonl", benchmark=sharing(wildcards.searched)
        ),
        src=sources("join_corpora.py"),
    output:
        joined="<results>/joined/{searched}.jsonl",
        summary="<results>/joined/{searched}.json",
    log:
        "<logs>/join_corpora/{searched}.log",
    benchmark:
        "<benchmarks>/join_corpora/{searched}.tsv"
    conda:
        "../envs/core.yaml"
    threads: 1
    resources:
        mem_mb=growing(4000),
        runtime=growing(240),
    params:
        # The few documents that two benchmarks word differently are kept twice, and counted.
        conflicts="apart",
    message:
        "joining the corpora that share {wildcards.searched}"
    script:
        "../workflow/scripts/join_corpora.py"
