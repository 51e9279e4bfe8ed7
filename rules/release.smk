"""Station 10: what is known of a run, and its measures in one archive (`make release`)."""


rule gather_provenance:
    """Hardware, versions, run times, seeds and licences: what the checklist says, and a release."""
    input:
        measured=measured_files(),
        lock="envs/lock.txt",
        src=sources("gather_provenance.py"),
    output:
        record="<results>/provenance.json",
    log:
        "<logs>/gather_provenance.log",
    benchmark:
        "<benchmarks>/gather_provenance.tsv"
    conda:
        "../envs/train.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(30),
    params:
        config=config,
        stamp=PROVENANCE,
        benchmarks_folder=f"benchmarks/{config['scale']}",
        downloads_folder=DOWNLOADS,
        used=used_names(),
        rules=lambda wildcards: sorted(rule.name for rule in workflow.rules),
    message:
        "gathering what is known of this run"
    script:
        "../workflow/scripts/gather_provenance.py"


rule make_release:
    """The measures behind every figure and table, with configuration, environment and hashes."""
    input:
        measured=measured_files(),
        provenance="<results>/provenance.json",
        lock="envs/lock.txt",
        citation="CITATION.cff",
        licence="LICENSE",
        src=sources("make_release.py"),
    output:
        archive=f"released/{config['scale']}.tar.xz",
        checksum=f"released/{config['scale']}.tar.xz.sha256",
    log:
        "<logs>/make_release.log",
    benchmark:
        "<benchmarks>/make_release.tsv"
    conda:
        "../envs/core.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        results_folder=lambda wildcards: RESULTS,
        config=config,
        stamp=PROVENANCE,
    message:
        "making a release of the measures"
    script:
        "../workflow/scripts/make_release.py"
