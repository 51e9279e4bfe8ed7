"""Station 4: balanced training sets of the settings MB, MM, ME, MU (sections 3.1.4, 3.2.2)."""


rule balance_settings:
    """Equal cells per bin; the budget of Tables 1 and 8."""
    input:
        pool="<results>/verification/pool.jsonl",
        src=sources("balance_settings.py"),
    output:
        pairs=expand("<results>/balance/{setting}.jsonl", setting=SETTINGS),
        budget="<results>/balance/budget.json",
    log:
        "<logs>/balance_settings.log",
    benchmark:
        "<benchmarks>/balance_settings.tsv"
    conda:
        "../envs/core.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(30),
    params:
        settings=lookup(dpath="balance/settings", within=config),
        least=lookup(dpath="balance/least", within=config),
        max_budget=lookup(dpath="balance/max_budget", within=config),
        bins=BINS,
        seed=SEED,
    message:
        "drawing the balanced training sets"
    script:
        "../workflow/scripts/balance_settings.py"
