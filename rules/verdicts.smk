"""Station 8: which claims of the paper held, and whether this run repeats the reference run."""


rule judge_claims:
    """Each claim as held, not held or not measurable, from the measures alone."""
    input:
        measures=all_measures(MAIN),
        listwise=listwise_measures(),
        src=sources("judge_claims.py"),
    output:
        claims="<results>/claims.json",
        text="<results>/claims.txt",
        page=report(
            "<results>/claims.html",
            caption="../workflow/report/claims.rst",
            category="Claims",
            labels={"item": "claims", "content": "held or not"},
        ),
    log:
        "<logs>/judge_claims.log",
    benchmark:
        "<benchmarks>/judge_claims.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        mean_tolerance=lookup(dpath="claims/mean_tolerance", within=config),
        first_slots=lookup(dpath="claims/first_slots", within=config),
        saturation_tolerance=lookup(dpath="claims/saturation_tolerance", within=config),
        alpha=lookup(dpath="claims/alpha", within=config),
        single_share=lookup(dpath="claims/single_share", within=config),
        grouping=benchmark_entry(MAIN)["psi_groups"],
        note=SCALE["note"],
    message:
        "judging the claims"
    script:
        "../workflow/scripts/judge_claims.py"


rule check_expected:
    """Our own reference numbers beside this run's, with tolerances."""
    input:
        measures=all_measures(MAIN),
        listwise=listwise_measures(),
        expected=lookup(dpath="expected", within=config) or [],
        src=sources("check_expected.py"),
    output:
        report="<results>/verify.json",
    log:
        "<logs>/check_expected.log",
    benchmark:
        "<benchmarks>/check_expected.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        scale=lookup(dpath="scale", within=config),
        wanted=[*retrievers_of(MAIN), *references_of(MAIN), *STUDIES[1:]],
    message:
        "comparing this run with the reference numbers"
    script:
        "../workflow/scripts/check_expected.py"


rule compare_anchors:
    """Published numbers of BM25 and public encoders beside ours, where both were run (section 4.3)."""
    input:
        anchors="expected/paper/anchors.json",
        measures=[
            f"<results>/evaluation/{benchmark}/references/{name}/measures.json"
            for benchmark in BENCHMARKS
            for name in references_of(benchmark)
        ],
        src=sources("compare_anchors.py"),
    output:
        report="<results>/anchors.json",
    log:
        "<logs>/compare_anchors.log",
    benchmark:
        "<benchmarks>/compare_anchors.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    message:
        "comparing the references with the published anchors"
    script:
        "../workflow/scripts/compare_anchors.py"
