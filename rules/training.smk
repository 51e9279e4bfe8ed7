"""Station 5: every retriever under every setting (section 4.2, appendix D)."""


rule train_retriever:
    """One checkpoint of Table 3 and Fig. 1; loads with SentenceTransformer(path)."""
    input:
        pairs="<results>/balance/{setting}.jsonl",
        documents="<results>/corpus/documents.jsonl",
        encoder="<results>/encoders/minilm_l6",
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
        mem_mb=3000,
        runtime=240,
    params:
        retriever="{retriever}",
        setting="{setting}",
        entry=lookup(dpath="retrievers/known/{retriever}", within=config),
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
