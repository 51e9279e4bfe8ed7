"""Listwise study, station 3: slots, orders, permutations, and their summary (section 4)."""


rule evaluate_slots:
    """nDCG@10 by the slot of the relevant passage (Figs. 4 and 6)."""
    input:
        **of_collections([LISTWISE["evaluation"]["slots"]["collection"]], one=True),
        run=runs_of([LISTWISE["evaluation"]["slots"]["collection"]], [LISTWISE["main_stage"]])[0],
        checkpoints=checkpoints_of,
        src=sources("evaluate_slots.py"),
    output:
        values="<results>/listwise/evaluation/slots/{system}.parquet",
        summary="<results>/listwise/evaluation/slots/{system}.json",
    log:
        "<logs>/evaluate_slots/{system}.log",
    benchmark:
        "<benchmarks>/evaluate_slots/{system}.tsv"
    conda:
        "../envs/train.yaml"
    threads: LISTWISE["threads"]
    resources:
        mem_mb=growing(3000),
        runtime=growing(240),
        accelerators=1,
    params:
        model="{system}",
        seeds=lookup(dpath="listwise/seeds", within=config),
        inferences=inferences_of,
        scorer=lookup(dpath="listwise/scorer", within=config),
        window=lookup(dpath="listwise/window", within=config),
        limit=lookup(dpath="listwise/evaluation/slots/queries", within=config),
        cutoff=lookup(dpath="listwise/cutoff", within=config),
        batch_size=lookup(dpath="listwise/batch_size", within=config),
        threads=lookup(dpath="listwise/threads", within=config),
        # Not an output: a killed job goes on from the scores it had.
        resume_dir=f"results/{config['scale']}/resume/slots-{{system}}",
    message:
        "placing the relevant passage at every slot for {wildcards.system}"
    script:
        "../workflow/scripts/evaluate_slots.py"


rule evaluate_orders:
    """Original against shuffled orders on every test set, four first stages (Tables 1 to 3)."""
    input:
        **of_collections(LISTWISE["test_collections"]),
        runs=runs_of(LISTWISE["test_collections"], LISTWISE["first_stages"]),
        checkpoints=checkpoints_of,
        src=sources("evaluate_orders.py"),
    output:
        values="<results>/listwise/evaluation/orders/{system}.parquet",
        stability="<results>/listwise/evaluation/orders/{system}.stability.parquet",
        reranked=directory("<results>/listwise/evaluation/orders/{system}.runs"),
        summary="<results>/listwise/evaluation/orders/{system}.json",
    log:
        "<logs>/evaluate_orders/{system}.log",
    benchmark:
        "<benchmarks>/evaluate_orders/{system}.tsv"
    conda:
        "../envs/train.yaml"
    threads: LISTWISE["threads"]
    resources:
        mem_mb=growing(3000),
        runtime=growing(240),
        accelerators=1,
    params:
        model="{system}",
        seeds=lookup(dpath="listwise/seeds", within=config),
        inferences=inferences_of,
        scorer=lookup(dpath="listwise/scorer", within=config),
        collections=lookup(dpath="listwise/test_collections", within=config),
        stages=list(LISTWISE["first_stages"]),
        main_stage=lookup(dpath="listwise/main_stage", within=config),
        evaluation=listwise_evaluation("depth", **LISTWISE["evaluation"]["orders"]),
        seed=SEED,
        # Not an output: a killed job goes on from the scores it had.
        resume_dir=f"results/{config['scale']}/resume/orders-{{system}}",
    message:
        "reranking original and shuffled orders by {wildcards.system} (progress: {log})"
    script:
        "../workflow/scripts/evaluate_orders.py"


rule evaluate_permutations:
    """Permutation self-consistency over 1 to 20 orders (Fig. 5)."""
    input:
        **of_collections(LISTWISE["evaluation"]["permutations"]["collections"]),
        runs=runs_of(
            LISTWISE["evaluation"]["permutations"]["collections"], [LISTWISE["main_stage"]]
        ),
        checkpoints=checkpoints_of,
        src=sources("evaluate_permutations.py"),
    output:
        values="<results>/listwise/evaluation/permutations/{system}.parquet",
        summary="<results>/listwise/evaluation/permutations/{system}.json",
    log:
        "<logs>/evaluate_permutations/{system}.log",
    benchmark:
        "<benchmarks>/evaluate_permutations/{system}.tsv"
    conda:
        "../envs/train.yaml"
    threads: LISTWISE["threads"]
    resources:
        mem_mb=growing(3000),
        runtime=growing(480),
        accelerators=1,
    params:
        model="{system}",
        seeds=lookup(dpath="listwise/seeds", within=config),
        scorer=lookup(dpath="listwise/scorer", within=config),
        collections=lookup(dpath="listwise/evaluation/permutations/collections", within=config),
        depths=lookup(dpath="listwise/evaluation/permutations/depths", within=config),
        evaluation=listwise_evaluation(),
        orders=lookup(dpath="listwise/evaluation/permutations/orders", within=config),
        limit=lookup(dpath="listwise/evaluation/permutations/queries", within=config),
        seed=SEED,
        # Not an output: a killed job goes on from the scores it had.
        resume_dir=f"results/{config['scale']}/resume/permutations-{{system}}",
    message:
        "aggregating shuffled orders of {wildcards.system} (progress: {log})"
    script:
        "../workflow/scripts/evaluate_permutations.py"


rule summarise_listwise:
    """One record of all that was measured: every figure, table and claim of the listwise study."""
    input:
        **evaluations("slots", "slots", "slot_summaries", LISTWISE_SYSTEMS),
        **evaluations("orders", "orders", "order_summaries", LISTWISE_SYSTEMS),
        **evaluations(
            "permutations", "permutations", "permutation_summaries", LISTWISE["roles"].values()
        ),
        stability=expand(
            "<results>/listwise/evaluation/orders/{system}.stability.parquet",
            system=LISTWISE_SYSTEMS,
        ),
        propensity=expand("<results>/listwise/propensity/{seed}.json", seed=LISTWISE["seeds"]),
        teacher="<results>/listwise/training/teacher.json",
        shown="<results>/listwise/training/shown.json",
        src=sources("summarise_listwise.py"),
    output:
        measures="<results>/listwise/measures.json",
    log:
        "<logs>/summarise_listwise.log",
    benchmark:
        "<benchmarks>/summarise_listwise.tsv"
    conda:
        "../envs/train.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(60),
    params:
        study=listwise_names(),
        first_slots=lookup(dpath="claims/first_slots", within=config),
        resamples=lookup(dpath="listwise/evaluation/resamples", within=config),
        level=lookup(dpath="listwise/evaluation/level", within=config),
        seed=SEED,
    message:
        "summarising the listwise study"
    script:
        "../workflow/scripts/summarise_listwise.py"
