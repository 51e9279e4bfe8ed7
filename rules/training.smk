"""Station 5: every retriever under every setting (section 4.2, appendix D)."""


rule train_retriever:
    """One checkpoint of Table 3 and Fig. 1; loads with SentenceTransformer(path)."""
    input:
        pairs="<results>/balance/{setting}.jsonl",
        documents="<results>/corpus/documents.jsonl",
        encoder=encoder_input,
        checkpoint_folder=checkpoint_input,
        watched=lambda wildcards: files_in(checkpoint_input(wildcards)),
        src=sources("train_retriever.py"),
    output:
        checkpoint=directory("<results>/models/{retriever}/{setting}"),
    log:
        "<logs>/train_retriever/{retriever}-{setting}.log",
    benchmark:
        "<benchmarks>/train_retriever/{retriever}-{setting}.tsv"
    conda:
        "../envs/train.yaml"
    threads: config["training"]["threads"]
    resources:
        mem_mb=growing(3000),
        runtime=growing(240),
        accelerators=1,
    params:
        retriever="{retriever}",
        setting="{setting}",
        entry=retriever_entry,
        token_vectors_std=lookup(dpath="retrievers/token_vectors_std", within=config),
        training=lookup(dpath="training", within=config),
        seed=SEED,
        # Not an output: Snakemake deletes outputs of a failed job, this must survive it.
        resume_dir=f"results/{config['scale']}/resume/{{retriever}}-{{setting}}",
        scale=SCALE,
    message:
        "training {wildcards.retriever} on {wildcards.setting} (progress: {log})"
    script:
        "../workflow/scripts/train_retriever.py"


rule measure_truncation:
    """The share of evidence beyond a retriever's longest input, by bin and position (Table 3's notes)."""
    input:
        pairs=expand("<results>/balance/{setting}.jsonl", setting=["begin", "middle", "end"]),
        documents="<results>/corpus/documents.jsonl",
        tokenizer=lambda wildcards: checkpoint_input(wildcards) or encoder_input(wildcards),
        src=sources("measure_truncation.py"),
    output:
        table="<results>/truncation/{retriever}.csv",
        summary="<results>/truncation/{retriever}.json",
    log:
        "<logs>/measure_truncation/{retriever}.log",
    benchmark:
        "<benchmarks>/measure_truncation/{retriever}.tsv"
    conda:
        "../envs/train.yaml"
    threads: 1
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        retriever="{retriever}",
        entry=retriever_entry,
        training={"max_tokens": config["training"]["max_tokens"]},
    message:
        "measuring what {wildcards.retriever} does not see"
    script:
        "../workflow/scripts/measure_truncation.py"
