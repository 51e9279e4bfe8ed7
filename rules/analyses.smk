"""Station 7, retriever study: what is measured beside retrieval (section 6, appendices B.3, C, F)."""


rule measure_segments:
    """Figs. 3 and 7: cosine of a document with each of its segments, untrained and under all settings."""
    input:
        corpus=f"<results>/benchmarks/{ANALYSES['segments']['benchmark']}/corpus.jsonl",
        checkpoints=expand("<results>/models/{{retriever}}/{setting}", setting=SETTINGS),
        encoder=encoder_input,
        checkpoint_folder=checkpoint_input,
        src=sources("measure_segments.py"),
    output:
        measures="<results>/representation/segments/{retriever}.json",
    log:
        "<logs>/measure_segments/{retriever}.log",
    benchmark:
        "<benchmarks>/measure_segments/{retriever}.tsv"
    conda:
        "../envs/train.yaml"
    threads: config["evaluation"]["threads"]
    resources:
        mem_mb=growing(4000),
        runtime=growing(240),
        accelerators=1,
    params:
        retriever="{retriever}",
        entry=retriever_entry,
        token_vectors_std=lookup(dpath="retrievers/token_vectors_std", within=config),
        training=lookup(dpath="training", within=config),
        settings=SETTINGS,
        documents=lookup(dpath="analyses/segments/documents", within=config),
        segments=lookup(dpath="analyses/segments/count", within=config),
        evaluation=evaluation_options(REPRESENTATION),
        seed=SEED,
    message:
        "comparing documents with their segments, {wildcards.retriever} (progress: {log})"
    script:
        "../workflow/scripts/measure_segments.py"


rule make_evidence_pairs:
    """Tables 5 and 13: queries, and documents that hold their evidence as one passage."""
    input:
        files=pair_files(PAIRS),
        watched=files_in(pair_files(PAIRS)),
        src=sources("make_evidence_pairs.py"),
    output:
        pairs="<results>/representation/moving/pairs.jsonl",
        summary="<results>/representation/moving/pairs.json",
    log:
        "<logs>/make_evidence_pairs.log",
    benchmark:
        "<benchmarks>/make_evidence_pairs.tsv"
    conda:
        "../envs/core.yaml"
    threads: 1
    resources:
        mem_mb=growing(4000),
        runtime=growing(240),
    params:
        kind=PAIRS["kind"],
        options=PAIRS["options"],
        limit=lookup(dpath="analyses/evidence_moving/limit", within=config),
        seed=SEED,
    message:
        "choosing pairs of a query and its evidence"
    script:
        "../workflow/scripts/make_evidence_pairs.py"


rule measure_evidence_moving:
    """Tables 5 and 13: cosine of query and document, the evidence at each of ten places."""
    input:
        pairs="<results>/representation/moving/pairs.jsonl",
        checkpoints=expand("<results>/models/{{retriever}}/{setting}", setting=SETTINGS),
        src=sources("measure_evidence_moving.py"),
    output:
        measures="<results>/representation/moving/{retriever}.json",
    log:
        "<logs>/measure_evidence_moving/{retriever}.log",
    benchmark:
        "<benchmarks>/measure_evidence_moving/{retriever}.tsv"
    conda:
        "../envs/train.yaml"
    threads: config["evaluation"]["threads"]
    resources:
        mem_mb=growing(4000),
        runtime=growing(240),
        accelerators=1,
    params:
        retriever="{retriever}",
        label=lambda wildcards: retriever_entry(wildcards)["label"],
        settings=SETTINGS,
        positions=lookup(dpath="analyses/evidence_moving/positions", within=config),
        snap=lookup(dpath="analyses/evidence_moving/snap", within=config),
        evaluation=evaluation_options(REPRESENTATION),
        seed=SEED,
    message:
        "moving the evidence, {wildcards.retriever} (progress: {log})"
    script:
        "../workflow/scripts/measure_evidence_moving.py"


rule audit_queries:
    """Table 7: a judge says of every segment alone whether it answers the query."""
    input:
        documents="<results>/corpus/documents.jsonl",
        candidates="<results>/queries/candidates.jsonl",
        scores=expand("<results>/verification/scores-{shard}.jsonl", shard=SHARDS),
        models=places(models_of([JUDGE])),
        watched=files_in(places(models_of([JUDGE]))),
        src=sources("audit_queries.py"),
    output:
        judgements="<results>/audit/judgements.jsonl",
        summary="<results>/audit/summary.json",
    log:
        "<logs>/audit_queries.log",
    benchmark:
        "<benchmarks>/audit_queries.tsv"
    localrule: JUDGE["kind"] == "openai"
    conda:
        "../envs/train.yaml"
    threads: 1
    resources:
        mem_mb=growing(4000),
        runtime=growing(1440),
        accelerators=lambda wildcards, input: int(bool(input.models)),
    params:
        thresholds=lookup(dpath="verification/thresholds", within=config),
        judge=lookup(dpath="analyses/audit/judge", within=config),
        entry=JUDGE,
        model_names=models_of([JUDGE]),
        per_stratum=lookup(dpath="analyses/audit/per_stratum", within=config),
        # Not an output: an answer that was paid for must survive a failed job.
        answers=f"results/{config['scale']}/answers",
        evaluation=evaluation_options(("resamples", "level")),
        seed=SEED,
    message:
        "auditing verified and failed queries (progress: {log})"
    script:
        "../workflow/scripts/audit_queries.py"


rule locate_evidence:
    """Fig. 9: where the evidence of a standard benchmark begins in its document."""
    input:
        corpus="<results>/benchmarks/{standard}/corpus.jsonl",
        queries="<results>/benchmarks/{standard}/queries.jsonl",
        qrels="<results>/benchmarks/{standard}/qrels.txt",
        files=lambda wildcards: places(places_entry(wildcards)["files"]),
        watched=lambda wildcards: files_in(places(places_entry(wildcards)["files"])),
        src=sources("locate_evidence.py"),
    output:
        places="<results>/evidence_places/{standard}.json",
    log:
        "<logs>/locate_evidence/{standard}.log",
    benchmark:
        "<benchmarks>/locate_evidence/{standard}.tsv"
    conda:
        "../envs/core.yaml"
    threads: 1
    resources:
        mem_mb=growing(8000),
        runtime=growing(240),
    params:
        kind=lambda wildcards: places_entry(wildcards)["kind"],
        options=lambda wildcards: places_entry(wildcards)["options"],
        benchmark="{standard}",
        label=lookup(dpath="benchmarks/known/{standard}/label", within=config),
        seed=SEED,
    message:
        "locating the evidence of {wildcards.standard} (progress: {log})"
    script:
        "../workflow/scripts/locate_evidence.py"


rule describe_retriever:
    """Tables 2, 9 and 10: size and parts of a trained retriever, and what trained it."""
    input:
        checkpoint="<results>/models/{retriever}/begin",
        src=sources("describe_retriever.py"),
    output:
        described="<results>/described/{retriever}.json",
    log:
        "<logs>/describe_retriever/{retriever}.log",
    benchmark:
        "<benchmarks>/describe_retriever/{retriever}.tsv"
    conda:
        "../envs/train.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        retriever="{retriever}",
    message:
        "describing {wildcards.retriever}"
    script:
        "../workflow/scripts/describe_retriever.py"
