"""Station 1: Wikipedia articles to documents in length bins, documents to segments (section 3.1.1)."""


rule build_corpus:
    """Documents and segments: Tables 1 and 8 count them, everything else reads them."""
    input:
        files=article_files(),
        watched=files_in(article_files()),
        src=sources("build_corpus.py"),
    output:
        documents="<results>/corpus/documents.jsonl",
        segments="<results>/corpus/segments.jsonl",
        summary="<results>/corpus/summary.json",
    log:
        "<logs>/build_corpus.log",
    benchmark:
        "<benchmarks>/build_corpus.tsv"
    conda:
        "../envs/core.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(30),
    params:
        article_source=ARTICLES,
        asset=ASSETS.get(ARTICLES.get("asset")),
        options=lookup(dpath="documents", within=config),
        seed=SEED,
    message:
        "cutting articles into documents and segments (progress: {log})"
    script:
        "../workflow/scripts/build_corpus.py"
