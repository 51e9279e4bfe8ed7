"""Station 2: query candidates, each aimed at one segment (section 3.1.2)."""


rule generate_queries:
    """Candidates by the configured generator; Table 6 starts from their number."""
    input:
        documents="<results>/corpus/documents.jsonl",
        src=sources("generate_queries.py"),
    output:
        candidates="<results>/queries/candidates.jsonl",
        summary="<results>/queries/summary.json",
    log:
        "<logs>/generate_queries.log",
    benchmark:
        "<benchmarks>/generate_queries.tsv"
    conda:
        "../envs/core.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        generator=lookup(dpath="queries/generator", within=config),
        options=lookup(dpath="queries/options", within=config),
        seed=SEED,
    message:
        "generating query candidates"
    script:
        "../workflow/scripts/generate_queries.py"
