"""Station 8: the printed results, each with its numbers and where they come from."""


rule make_psi_table:
    """Table 3: nDCG@10 and PSI of every retriever under every setting, on the main benchmark."""
    input:
        measures=all_measures(MAIN),
        truncation=truncation_of(MAIN),
        src=sources("make_psi_table.py"),
    output:
        pdf=report(
            "figures/psi_table.pdf",
            caption="../workflow/report/psi_table.rst",
            category="Retriever study",
            labels={"item": "Table 3", "content": "nDCG@10 and PSI"},
        ),
        csv="figures/psi_table.csv",
        tex="figures/psi_table.tex",
        meta="figures/psi_table.meta.json",
    log:
        "<logs>/make_psi_table.log",
    benchmark:
        "<benchmarks>/make_psi_table.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        provenance=provenance_of(MAIN),
        benchmark=benchmark_entry(MAIN)["label"],
        grouping=benchmark_entry(MAIN)["psi_groups"],
    message:
        "drawing {output.pdf}"
    script:
        "../workflow/scripts/make_psi_table.py"


use rule make_psi_table as make_psi_table_of with:
    input:
        measures=lambda wildcards: all_measures(wildcards.positioned),
        truncation=lambda wildcards: truncation_of(wildcards.positioned),
        src=sources("make_psi_table.py"),
    output:
        pdf="figures/{positioned}/psi_table.pdf",
        csv="figures/{positioned}/psi_table.csv",
        tex="figures/{positioned}/psi_table.tex",
        meta="figures/{positioned}/psi_table.meta.json",
    log:
        "<logs>/make_psi_table_of/{positioned}.log",
    benchmark:
        "<benchmarks>/make_psi_table_of/{positioned}.tsv"
    params:
        provenance=lambda wildcards: provenance_of(wildcards.positioned),
        benchmark=lookup(dpath="benchmarks/known/{positioned}/label", within=config),
        grouping=lookup(dpath="benchmarks/known/{positioned}/psi_groups", within=config),


rule make_truncation_table:
    """Evidence that each retriever does not see in training, by length bin and position."""
    input:
        truncation=truncation_of(MAIN),
        src=sources("make_truncation_table.py"),
    output:
        pdf=report(
            "figures/truncation.pdf",
            caption="../workflow/report/truncation.rst",
            category="Retriever study",
            labels={"item": "truncation", "content": "evidence beyond the longest input"},
        ),
        csv="figures/truncation.csv",
        tex="figures/truncation.tex",
        meta="figures/truncation.meta.json",
    log:
        "<logs>/make_truncation_table.log",
    benchmark:
        "<benchmarks>/make_truncation_table.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        provenance=provenance_of(MAIN),
    message:
        "drawing {output.pdf}"
    script:
        "../workflow/scripts/make_truncation_table.py"


use rule make_psi_table as make_fine_psi_table with:
    input:
        measures=lambda wildcards: all_measures(shown("fine")),
        truncation=lambda wildcards: truncation_of(shown("fine")),
        src=sources("make_psi_table.py"),
    output:
        pdf=report(
            "figures/fine_psi_table.pdf",
            caption="../workflow/report/fine_psi_table.rst",
            category="Retriever study",
            labels={"item": "Table 11", "content": "nDCG@10 and PSI, fine positions"},
        ),
        csv="figures/fine_psi_table.csv",
        tex="figures/fine_psi_table.tex",
        meta="figures/fine_psi_table.meta.json",
    log:
        "<logs>/make_fine_psi_table.log",
    benchmark:
        "<benchmarks>/make_fine_psi_table.tsv"
    params:
        provenance=lambda wildcards: provenance_of(shown("fine")),
        benchmark=lambda wildcards: benchmark_entry(shown("fine"))["label"],
        grouping=lambda wildcards: benchmark_entry(shown("fine"))["psi_groups"],
