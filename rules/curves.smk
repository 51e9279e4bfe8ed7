"""Station 8: nDCG@10 by the position of the evidence (Figs. 1, 2 and 8)."""


rule make_position_curves:
    """Fig. 1: nDCG@10 by the position of the evidence, one panel per setting."""
    input:
        measures=[file for name in CURVES for file in all_measures(name)],
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
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        provenance=provenance_of(*CURVES),
        benchmarks=curves_of(CURVES, ["characters", "thirds"]),
        title="nDCG@10 by position of the evidence, for each training setting",
    message:
        "drawing {output.pdf}"
    script:
        "../workflow/scripts/make_position_curves.py"


use rule make_position_curves as make_pooling_curves with:
    input:
        measures=lambda wildcards: some(pooled_measures(), "figures.position_curves"),
        src=sources("make_position_curves.py"),
    output:
        pdf=report(
            "figures/pooling_curves.pdf",
            caption="../workflow/report/pooling_curves.rst",
            category="Retriever study",
            labels={"item": "Fig. 2", "content": "ways of pooling"},
        ),
        csv="figures/pooling_curves.csv",
        meta="figures/pooling_curves.meta.json",
    log:
        "<logs>/make_pooling_curves.log",
    benchmark:
        "<benchmarks>/make_pooling_curves.tsv"
    params:
        provenance={**PROVENANCE, "retrievers": list(POOLED.values())},
        benchmarks=curves_of(CURVES, ["characters", "thirds"]),
        title=f"nDCG@10 of {TRAINED[POOLED_FROM]['label']} by position of the evidence",
        labels={name: f"{pooling} pooling" for pooling, name in POOLED.items()},


use rule make_position_curves as make_fine_position_curves with:
    input:
        measures=lambda wildcards: all_measures(shown("fine")),
        src=sources("make_position_curves.py"),
    output:
        pdf=report(
            "figures/fine_position_curves.pdf",
            caption="../workflow/report/fine_position_curves.rst",
            category="Retriever study",
            labels={"item": "Fig. 8", "content": "position curves, fine"},
        ),
        csv="figures/fine_position_curves.csv",
        meta="figures/fine_position_curves.meta.json",
    log:
        "<logs>/make_fine_position_curves.log",
    benchmark:
        "<benchmarks>/make_fine_position_curves.tsv"
    params:
        provenance=lambda wildcards: provenance_of(shown("fine")),
        benchmarks=lambda wildcards: curves_of([shown("fine")], ["bins"]),
        title="nDCG@10 by fine position of the evidence, for each training setting",
