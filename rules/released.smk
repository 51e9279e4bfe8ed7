"""Stations 0 to 7 from a release: its measures are unpacked, nothing is trained (metrics_from: released)."""


rule unpack_release:
    """All measures of a release, each held against its hash; behind every figure and table."""
    input:
        archive=config["release"]["archive"],
        src=sources("unpack_release.py"),
    output:
        unpacked=expand("<results>/{file}", file=RELEASE.unpacked()),
    log:
        "<logs>/unpack_release.log",
    benchmark:
        "<benchmarks>/unpack_release.tsv"
    conda:
        "../envs/core.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(10),
    params:
        results_folder=lambda wildcards: RESULTS,
        sha256=lookup(dpath="release/sha256", within=config),
    message:
        "unpacking {input.archive}"
    script:
        "../workflow/scripts/unpack_release.py"
