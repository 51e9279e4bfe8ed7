"""Station 9: the paper's own numbers beside this run's (all its tables and figures)."""


rule compare_with_paper:
    """Every published cell beside ours, and each claim about a direction; PDF, HTML and CSV."""
    input:
        published="expected/paper/retriever_tables.json",
        inconsistencies="expected/paper/inconsistencies.json",
        psi=["figures/psi_table.csv", *of_others("figures/{benchmark}/psi_table.csv")],
        curves=["figures/position_curves.csv", *those_shown("fine_position_curves.csv")],
        standard=those_shown("standard_table.csv"),
        moving=["figures/evidence_moving.csv"],
        segments=["figures/segment_cosine.csv"],
        reversal=those_shown("reversal_table.csv"),
        filters=["figures/filter_table.csv"],
        pool=["figures/pool_table.csv"],
        audit=["figures/audit_table.csv"],
        places=those_shown("evidence_places.csv"),
        src=sources("compare_with_paper.py"),
    output:
        pdf=report(
            "figures/paper_vs_ours.pdf",
            caption="../workflow/report/paper_vs_ours.rst",
            category="Claims",
            labels={"item": "retriever study", "content": "the paper's numbers beside ours"},
        ),
        html=report(
            "figures/paper_vs_ours.html",
            caption="../workflow/report/paper_vs_ours.rst",
            category="Claims",
            labels={"item": "retriever study", "content": "the same, as a page"},
        ),
        csv="figures/paper_vs_ours.csv",
        directions="figures/paper_vs_ours_directions.csv",
        meta="figures/paper_vs_ours.meta.json",
    log:
        "<logs>/compare_with_paper.log",
    benchmark:
        "<benchmarks>/compare_with_paper.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        provenance=PROVENANCE,
        comparison={
            **config["comparison"],
            "mean_tolerance": config["claims"]["mean_tolerance"],
            "labels": labels_of(BENCHMARKS),
            "judge": JUDGE["kind"],
            "panel": [member["kind"] for member in config["verification"]["panel"]],
        },
    message:
        "comparing this run with the paper"
    script:
        "../workflow/scripts/compare_with_paper.py"
