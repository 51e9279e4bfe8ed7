"""Station 8: which claims of the paper held, and whether this run repeats the reference run."""


rule judge_claims:
    """Each claim as held, not held or not measurable, from the measures alone."""
    input:
        measures=all_measures(),
        listwise="<results>/listwise/measures.json",
        src=sources("judge_claims.py"),
    output:
        claims="<results>/claims.json",
        text=report(
            "<results>/claims.txt",
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
        mem_mb=1000,
        runtime=10,
    params:
        mean_tolerance=lookup(dpath="claims/mean_tolerance", within=config),
        first_slots=lookup(dpath="claims/first_slots", within=config),
        saturation_tolerance=lookup(dpath="claims/saturation_tolerance", within=config),
        alpha=lookup(dpath="claims/alpha", within=config),
        single_share=lookup(dpath="claims/single_share", within=config),
    message:
        "judging the claims"
    script:
        "../workflow/scripts/judge_claims.py"


rule check_expected:
    """Our own reference numbers beside this run's, with tolerances."""
    input:
        measures=all_measures(),
        listwise="<results>/listwise/measures.json",
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
        mem_mb=1000,
        runtime=10,
    params:
        scale=lookup(dpath="scale", within=config),
        wanted=[*RETRIEVERS, *REFERENCES, "listwise"],
    message:
        "comparing this run with the reference numbers"
    script:
        "../workflow/scripts/check_expected.py"
