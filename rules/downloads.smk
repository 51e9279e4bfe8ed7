"""Station 0: models and data of the hub, each fetched once; all else reads them offline."""


localrules:  # nodes of a cluster often reach no network, the machine that starts a run does
    fetch_artefact,


rule fetch_artefact:
    """One repository of the hub at its commit, with a manifest of hashes (Tables 2 and 9)."""
    input:
        watched=lambda wildcards: files_in(
            [config["downloads"][wildcards.artefact].get("path", "")]
        ),
        src=sources("fetch_artefact.py"),
    output:
        artefact=directory("downloads/{artefact}"),
    log:
        "<logs>/fetch_artefact/{artefact}.log",
    benchmark:
        "<benchmarks>/fetch_artefact/{artefact}.tsv"
    conda:
        "../envs/core.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(1440),
        hub=1,
    params:
        name="{artefact}",
        source=lambda wildcards: {
            key: value
            for key, value in config["downloads"][wildcards.artefact].items()
            if key != "licence"
        },
        # Not an output: what was fetched before a job was killed must survive it.
        staging="downloads/.staging/{artefact}",
    message:
        "fetching {wildcards.artefact} (progress: {log})"
    script:
        "../workflow/scripts/fetch_artefact.py"
