"""Station 8: tables of the training data and of the retrievers (Tables 1, 2 and 6 to 10)."""


rule make_pool_table:
    """Tables 1 and 8: verified queries by length bin and position, and the budget."""
    input:
        cells="<results>/verification/pool_by_cell.csv",
        budget="<results>/balance/budget.json",
        src=sources("make_pool_table.py"),
    output:
        pdf=report(
            "figures/pool_table.pdf",
            caption="../workflow/report/pool_table.rst",
            category="Retriever study",
            labels={"item": "Tables 1, 8", "content": "retained pool and budget"},
        ),
        csv="figures/pool_table.csv",
        tex="figures/pool_table.tex",
        meta="figures/pool_table.meta.json",
    log:
        "<logs>/make_pool_table.log",
    benchmark:
        "<benchmarks>/make_pool_table.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        provenance=PROVENANCE,
    message:
        "drawing {output.pdf}"
    script:
        "../workflow/scripts/make_pool_table.py"


rule make_filter_table:
    """Table 6: candidates that pass each threshold of the margin."""
    input:
        statistics="<results>/verification/filter_statistics.csv",
        src=sources("make_filter_table.py"),
    output:
        pdf=report(
            "figures/filter_table.pdf",
            caption="../workflow/report/filter_table.rst",
            category="Retriever study",
            labels={"item": "Table 6", "content": "filter statistics"},
        ),
        csv="figures/filter_table.csv",
        tex="figures/filter_table.tex",
        meta="figures/filter_table.meta.json",
    log:
        "<logs>/make_filter_table.log",
    benchmark:
        "<benchmarks>/make_filter_table.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        provenance=PROVENANCE,
        delta=lookup(dpath="verification/delta", within=config),
    message:
        "drawing {output.pdf}"
    script:
        "../workflow/scripts/make_filter_table.py"


rule make_audit_table:
    """Table 7: what a judge says of the segments, by stratum of the margin."""
    input:
        audit="<results>/audit/summary.json",
        src=sources("make_audit_table.py"),
    output:
        pdf=report(
            "figures/audit_table.pdf",
            caption="../workflow/report/audit_table.rst",
            category="Retriever study",
            labels={"item": "Table 7", "content": "segment-wise audit"},
        ),
        csv="figures/audit_table.csv",
        tex="figures/audit_table.tex",
        meta="figures/audit_table.meta.json",
    log:
        "<logs>/make_audit_table.log",
    benchmark:
        "<benchmarks>/make_audit_table.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        provenance=PROVENANCE,
    message:
        "drawing {output.pdf}"
    script:
        "../workflow/scripts/make_audit_table.py"


rule make_retrievers_table:
    """Tables 2 and 9: the retrievers, their sizes and parts."""
    input:
        described=of_retrievers("described/{retriever}.json"),
        src=sources("make_retrievers_table.py"),
    output:
        pdf=report(
            "figures/retrievers_table.pdf",
            caption="../workflow/report/retrievers_table.rst",
            category="Retriever study",
            labels={"item": "Tables 2, 9", "content": "retrievers"},
        ),
        csv="figures/retrievers_table.csv",
        tex="figures/retrievers_table.tex",
        meta="figures/retrievers_table.meta.json",
    log:
        "<logs>/make_retrievers_table.log",
    benchmark:
        "<benchmarks>/make_retrievers_table.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        provenance=PROVENANCE,
    message:
        "drawing {output.pdf}"
    script:
        "../workflow/scripts/make_retrievers_table.py"


rule make_training_table:
    """Table 10: how the retrievers are trained, beside the paper's values."""
    input:
        described=of_retrievers("described/{retriever}.json"),
        src=sources("make_training_table.py"),
    output:
        pdf=report(
            "figures/training_table.pdf",
            caption="../workflow/report/training_table.rst",
            category="Retriever study",
            labels={"item": "Table 10", "content": "training"},
        ),
        csv="figures/training_table.csv",
        tex="figures/training_table.tex",
        meta="figures/training_table.meta.json",
    log:
        "<logs>/make_training_table.log",
    benchmark:
        "<benchmarks>/make_training_table.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        provenance=PROVENANCE,
        training=lookup(dpath="training", within=config),
        seed=SEED,
    message:
        "drawing {output.pdf}"
    script:
        "../workflow/scripts/make_training_table.py"
