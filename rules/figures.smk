"""Station 7: the printed results, each with its numbers and where they come from."""


rule make_psi_table:
    """Table 3: nDCG@10 and PSI of every retriever under every setting."""
    input:
        measures=all_measures(),
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
        mem_mb=1000,
        runtime=10,
    params:
        provenance=PROVENANCE,
    message:
        "drawing {output.pdf}"
    script:
        "../workflow/scripts/make_psi_table.py"


rule make_position_curves:
    """Fig. 1: nDCG@10 by the position of the evidence, one panel per setting."""
    input:
        measures=all_measures(),
        src=sources("make_position_curves.py"),
    output:
        pdf=report(
            "figures/position_curves.pdf",
            caption="../workflow/report/position_curves.rst",
            category="Retriever study",
            labels={"item": "Fig. 1", "content": "position curves"},
        ),
        csv="figures/position_curves.csv",
        meta="figures/position_curves.meta.json",
    log:
        "<logs>/make_position_curves.log",
    benchmark:
        "<benchmarks>/make_position_curves.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        provenance=PROVENANCE,
    message:
        "drawing {output.pdf}"
    script:
        "../workflow/scripts/make_position_curves.py"
