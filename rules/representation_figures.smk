"""Station 8: what the vectors say (Figs. 3 and 7, Tables 5, 12 and 13)."""


rule make_segment_cosine:
    """Fig. 7: cosine of a document with each of its segments, all retrievers."""
    input:
        measures=of_retrievers("representation/segments/{retriever}.json"),
        src=sources("make_segment_cosine.py"),
    output:
        pdf=report(
            "figures/segment_cosine.pdf",
            caption="../workflow/report/segment_cosine.rst",
            category="Retriever study",
            labels={"item": "Fig. 7", "content": "document and segments"},
        ),
        csv="figures/segment_cosine.csv",
        meta="figures/segment_cosine.meta.json",
    log:
        "<logs>/make_segment_cosine.log",
    benchmark:
        "<benchmarks>/make_segment_cosine.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        provenance=PROVENANCE,
        benchmark=benchmark_entry(ANALYSES["segments"]["benchmark"])["label"],
    message:
        "drawing {output.pdf}"
    script:
        "../workflow/scripts/make_segment_cosine.py"


rule make_segment_cosine_pair:
    """Fig. 3: cosine of a document with each of its segments, two retrievers."""
    input:
        measures=of_retrievers("representation/segments/{retriever}.json"),
        src=sources("make_segment_cosine_pair.py"),
    output:
        pdf=report(
            "figures/segment_cosine_pair.pdf",
            caption="../workflow/report/segment_cosine_pair.rst",
            category="Retriever study",
            labels={"item": "Fig. 3", "content": "document and segments, two retrievers"},
        ),
        csv="figures/segment_cosine_pair.csv",
        meta="figures/segment_cosine_pair.meta.json",
    log:
        "<logs>/make_segment_cosine_pair.log",
    benchmark:
        "<benchmarks>/make_segment_cosine_pair.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        provenance=PROVENANCE,
        pair=those_run(ANALYSES["segments"]["pair"]),
        benchmark=benchmark_entry(ANALYSES["segments"]["benchmark"])["label"],
    message:
        "drawing {output.pdf}"
    script:
        "../workflow/scripts/make_segment_cosine_pair.py"


rule make_evidence_moving:
    """Table 13: cosine of query and document, the evidence at each of ten places."""
    input:
        moving=of_retrievers("representation/moving/{retriever}.json"),
        src=sources("make_evidence_moving.py"),
    output:
        pdf=report(
            "figures/evidence_moving.pdf",
            caption="../workflow/report/evidence_moving.rst",
            category="Retriever study",
            labels={"item": "Table 13", "content": "moved evidence"},
        ),
        csv="figures/evidence_moving.csv",
        tex="figures/evidence_moving.tex",
        meta="figures/evidence_moving.meta.json",
    log:
        "<logs>/make_evidence_moving.log",
    benchmark:
        "<benchmarks>/make_evidence_moving.tsv"
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
        "../workflow/scripts/make_evidence_moving.py"


rule make_evidence_moving_short:
    """Table 5: peak, lowest and range as the evidence moves."""
    input:
        moving=of_retrievers("representation/moving/{retriever}.json"),
        src=sources("make_evidence_moving_short.py"),
    output:
        pdf=report(
            "figures/evidence_moving_short.pdf",
            caption="../workflow/report/evidence_moving_short.rst",
            category="Retriever study",
            labels={"item": "Table 5", "content": "moved evidence, in short"},
        ),
        csv="figures/evidence_moving_short.csv",
        tex="figures/evidence_moving_short.tex",
        meta="figures/evidence_moving_short.meta.json",
    log:
        "<logs>/make_evidence_moving_short.log",
    benchmark:
        "<benchmarks>/make_evidence_moving_short.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        provenance=PROVENANCE,
        short=those_run(ANALYSES["evidence_moving"]["short"]),
    message:
        "drawing {output.pdf}"
    script:
        "../workflow/scripts/make_evidence_moving_short.py"


rule make_reversal_table:
    """Table 12: nDCG@10 before and after the documents are turned around."""
    input:
        original=lambda wildcards: all_measures(shown("fine")),
        mirrored=lambda wildcards: all_measures(shown("reversed")),
        summary=lambda wildcards: f"<results>/benchmarks/{shown('reversed')}/summary.json",
        src=sources("make_reversal_table.py"),
    output:
        pdf=report(
            "figures/reversal_table.pdf",
            caption="../workflow/report/reversal_table.rst",
            category="Retriever study",
            labels={"item": "Table 12", "content": "documents reversed"},
        ),
        csv="figures/reversal_table.csv",
        tex="figures/reversal_table.tex",
        meta="figures/reversal_table.meta.json",
    log:
        "<logs>/make_reversal_table.log",
    benchmark:
        "<benchmarks>/make_reversal_table.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        provenance=lambda wildcards: provenance_of(shown("fine")),
        benchmark=lambda wildcards: benchmark_entry(shown("fine"))["label"],
        segments=lambda wildcards: zones_of(shown("fine"))["segments"],
        at_each_end=lambda wildcards: zones_of(shown("fine"))["at_each_end"],
    message:
        "drawing {output.pdf}"
    script:
        "../workflow/scripts/make_reversal_table.py"
