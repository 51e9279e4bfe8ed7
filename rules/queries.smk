"""Station 2: query candidates, each aimed at one segment (section 3.1.2)."""


rule choose_personas:
    """The personas nearest to each document, of whom a language model chooses the asker."""
    input:
        documents="<results>/corpus/documents.jsonl",
        personas=persona_source(),
        encoder=places([PERSONAS["encoder"]] if PERSONAS else []),
        src=sources("choose_personas.py"),
    output:
        choices="<results>/queries/personas.jsonl",
    log:
        "<logs>/choose_personas.log",
    benchmark:
        "<benchmarks>/choose_personas.tsv"
    conda:
        "../envs/train.yaml"
    threads: 1
    resources:
        mem_mb=growing(8000),
        runtime=growing(600),
        accelerators=1,
    params:
        options=PERSONAS,
    message:
        "choosing personas near each document (progress: {log})"
    script:
        "../workflow/scripts/choose_personas.py"


rule estimate_queries:
    """What the generator would ask and cost, by stage; asks nothing, and nothing else needs it."""
    input:
        documents="<results>/corpus/documents.jsonl",
        personas=persona_choices(),
        src=sources("estimate_queries.py"),
    output:
        estimate="<results>/queries/estimate.json",
    log:
        "<logs>/estimate_queries.log",
    benchmark:
        "<benchmarks>/estimate_queries.tsv"
    conda:
        "../envs/train.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(60),
    params:
        generator=lookup(dpath="queries/generator", within=config),
        entry=GENERATOR,
        seed=SEED,
    message:
        "estimating what the queries would cost"
    script:
        "../workflow/scripts/estimate_queries.py"


rule generate_queries:
    """Candidates by the configured generator; Table 6 starts from their number."""
    input:
        documents="<results>/corpus/documents.jsonl",
        personas=persona_choices(),
        models=places(models_of([GENERATOR])),
        watched=files_in(places(models_of([GENERATOR]))),
        src=sources("generate_queries.py"),
    output:
        candidates="<results>/queries/candidates.jsonl",
        summary="<results>/queries/summary.json",
    log:
        "<logs>/generate_queries.log",
    benchmark:
        "<benchmarks>/generate_queries.tsv"
    localrule: GENERATOR["kind"] == "openai"
    conda:
        "../envs/train.yaml"
    threads: 1
    resources:
        mem_mb=growing(4000),
        runtime=growing(2880),
        accelerators=lambda wildcards, input: int(bool(input.models)),
    params:
        generator=lookup(dpath="queries/generator", within=config),
        entry=GENERATOR,
        model_names=models_of([GENERATOR]),
        # Not an output: an answer that was paid for must survive a failed job.
        answers=f"results/{config['scale']}/answers",
        seed=SEED,
    message:
        "generating query candidates (progress: {log})"
    script:
        "../workflow/scripts/generate_queries.py"
