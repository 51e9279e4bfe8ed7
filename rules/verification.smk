"""Station 3: a panel of scorers verifies the candidates (section 3.1.3, appendix B)."""


rule score_candidates:
    """Raw panel scores and margins of one shard; delta is not applied yet."""
    input:
        documents="<results>/corpus/documents.jsonl",
        candidates="<results>/queries/candidates.jsonl",
        models=places(PANEL_MODELS),
        watched=files_in(places(PANEL_MODELS)),
        src=sources("score_candidates.py"),
    output:
        scores="<results>/verification/scores-{shard}.jsonl",
    log:
        "<logs>/score_candidates/{shard}.log",
    benchmark:
        "<benchmarks>/score_candidates/{shard}.tsv"
    conda:
        "../envs/train.yaml"
    threads: config["verification"]["threads"]
    resources:
        mem_mb=growing(3000),
        runtime=growing(240),
        accelerators=1,
    params:
        panel=lookup(dpath="verification/panel", within=config),
        model_names=PANEL_MODELS,
        cascade=lookup(dpath="verification/cascade", within=config),
        threads=lookup(dpath="verification/threads", within=config),
        shards=lookup(dpath="verification/shards", within=config),
        shard=lambda wildcards: int(wildcards.shard),
        seed=SEED,
        # Not an output: a killed job goes on from the scores it had.
        resume_dir=f"results/{config['scale']}/resume/scores-{{shard}}",
    message:
        "scoring candidates, shard {wildcards.shard} (progress: {log})"
    script:
        "../workflow/scripts/score_candidates.py"


rule filter_candidates:
    """The verified pool; Table 6 (filter statistics) and Tables 1 and 8 (pool by bin and position)."""
    input:
        candidates="<results>/queries/candidates.jsonl",
        scores=expand("<results>/verification/scores-{shard}.jsonl", shard=SHARDS),
        src=sources("filter_candidates.py"),
    output:
        pool="<results>/verification/pool.jsonl",
        statistics="<results>/verification/filter_statistics.csv",
        cells="<results>/verification/pool_by_cell.csv",
        summary="<results>/verification/summary.json",
    log:
        "<logs>/filter_candidates.log",
    benchmark:
        "<benchmarks>/filter_candidates.tsv"
    conda:
        "../envs/core.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(30),
    params:
        delta=lookup(dpath="verification/delta", within=config),
        thresholds=lookup(dpath="verification/thresholds", within=config),
        panel=lookup(dpath="verification/panel", within=config),
        bins=BINS,
    message:
        "filtering candidates by their consensus margin"
    script:
        "../workflow/scripts/filter_candidates.py"
