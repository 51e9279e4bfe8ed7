"""Station 10: the reproducibility checklist, filled from what is known of the run."""


rule make_checklist:
    """Hardware, time, seeds, what varies, licences: as Markdown, and the licences as a table."""
    input:
        record="<results>/provenance.json",
        claims="<results>/claims.json",
        watched=["config.yaml", "config/paper.yaml"],
        src=sources("make_checklist.py"),
    output:
        checklist="figures/checklist.md",
        licences="figures/licences.csv",
    log:
        "<logs>/make_checklist.log",
    benchmark:
        "<benchmarks>/make_checklist.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        paper_config=lambda wildcards: merged(["config.yaml", "config/paper.yaml"]),
    message:
        "filling the reproducibility checklist"
    script:
        "../workflow/scripts/make_checklist.py"
