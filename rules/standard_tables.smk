"""Station 8: benchmarks whose evidence has no known position (Tables 4 and 14, Fig. 9)."""


rule make_standard_table:
    """Table 14: nDCG@10 of every retriever and setting on standard benchmarks."""
    input:
        measures=lambda wildcards: some(
            [file for name in STANDARD for file in all_measures(name)], "figures.standard"
        ),
        src=sources("make_standard_table.py"),
    output:
        pdf=report(
            "figures/standard_table.pdf",
            caption="../workflow/report/standard_table.rst",
            category="Retriever study",
            labels={"item": "Table 14", "content": "standard benchmarks"},
        ),
        csv="figures/standard_table.csv",
        tex="figures/standard_table.tex",
        meta="figures/standard_table.meta.json",
    log:
        "<logs>/make_standard_table.log",
    benchmark:
        "<benchmarks>/make_standard_table.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        provenance=provenance_of(*STANDARD),
        benchmarks=labels_of(STANDARD),
    message:
        "drawing {output.pdf}"
    script:
        "../workflow/scripts/make_standard_table.py"


rule make_standard_mean_table:
    """Table 4: the mean over the retrievers on standard benchmarks."""
    input:
        measures=lambda wildcards: some(
            [file for name in STANDARD for file in all_measures(name)], "figures.standard"
        ),
        src=sources("make_standard_mean_table.py"),
    output:
        pdf=report(
            "figures/standard_mean_table.pdf",
            caption="../workflow/report/standard_mean_table.rst",
            category="Retriever study",
            labels={"item": "Table 4", "content": "standard benchmarks, means"},
        ),
        csv="figures/standard_mean_table.csv",
        tex="figures/standard_mean_table.tex",
        meta="figures/standard_mean_table.meta.json",
    log:
        "<logs>/make_standard_mean_table.log",
    benchmark:
        "<benchmarks>/make_standard_mean_table.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        provenance=provenance_of(*STANDARD),
        benchmarks=labels_of(STANDARD),
    message:
        "drawing {output.pdf}"
    script:
        "../workflow/scripts/make_standard_mean_table.py"


rule make_evidence_places:
    """Fig. 9: where the evidence of standard benchmarks begins."""
    input:
        places=lambda wildcards: some(
            expand("<results>/evidence_places/{standard}.json", standard=PLACED),
            "analyses.evidence_places",
        ),
        src=sources("make_evidence_places.py"),
    output:
        pdf=report(
            "figures/evidence_places.pdf",
            caption="../workflow/report/evidence_places.rst",
            category="Retriever study",
            labels={"item": "Fig. 9", "content": "places of the evidence"},
        ),
        csv="figures/evidence_places.csv",
        meta="figures/evidence_places.meta.json",
    log:
        "<logs>/make_evidence_places.log",
    benchmark:
        "<benchmarks>/make_evidence_places.tsv"
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
        "../workflow/scripts/make_evidence_places.py"
