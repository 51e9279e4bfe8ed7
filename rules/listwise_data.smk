"""Listwise study, station 1: passages, queries and first stages (section 4.1)."""


rule select_passages:
    """The passages of one listwise corpus: behind every table of the listwise study."""
    input:
        documents="<results>/corpus/documents.jsonl",
        src=sources("select_passages.py"),
    output:
        passages="<results>/listwise/corpora/{corpus}/passages.jsonl",
        summary="<results>/listwise/corpora/{corpus}/summary.json",
    log:
        "<logs>/select_passages/{corpus}.log",
    benchmark:
        "<benchmarks>/select_passages/{corpus}.tsv"
    conda:
        "../envs/core.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(30),
    params:
        corpus=lookup(dpath="listwise/corpora/{corpus}", within=config),
        asset=ASSETS["leads"],
        seed=SEED,
    message:
        "choosing the passages of {wildcards.corpus}"
    script:
        "../workflow/scripts/select_passages.py"


rule embed_passages:
    """Passage vectors for dense search and for the passage-embedding scorer."""
    input:
        passages="<results>/listwise/corpora/{corpus}/passages.jsonl",
        encoders=expand("<results>/encoders/{name}", name=LISTWISE["embedding"]["encoders"]),
        src=sources("embed_passages.py"),
    output:
        vectors="<results>/listwise/corpora/{corpus}/vectors.safetensors",
    log:
        "<logs>/embed_passages/{corpus}.log",
    benchmark:
        "<benchmarks>/embed_passages/{corpus}.tsv"
    conda:
        "../envs/train.yaml"
    threads: LISTWISE["threads"]
    resources:
        mem_mb=growing(2000),
        runtime=growing(240),
        accelerators=1,
    params:
        placeholder=lookup(dpath="listwise/embedding/placeholder", within=config),
        max_tokens=lookup(dpath="listwise/embedding/max_tokens", within=config),
        batch_size=lookup(dpath="listwise/batch_size", within=config),
        threads=lookup(dpath="listwise/threads", within=config),
    message:
        "encoding the passages of {wildcards.corpus} (progress: {log})"
    script:
        "../workflow/scripts/embed_passages.py"


rule make_listwise_queries:
    """Queries of one collection and their judgements, in TREC format."""
    input:
        passages=of_corpus("passages.jsonl"),
        encoder=f"<results>/encoders/{LISTWISE['queries']['encoder']}",
        src=sources("make_listwise_queries.py"),
    output:
        queries="<results>/listwise/collections/{collection}/queries.jsonl",
        qrels="<results>/listwise/collections/{collection}/qrels.txt",
        summary="<results>/listwise/collections/{collection}/summary.json",
    log:
        "<logs>/make_listwise_queries/{collection}.log",
    benchmark:
        "<benchmarks>/make_listwise_queries/{collection}.tsv"
    conda:
        "../envs/train.yaml"
    threads: LISTWISE["threads"]
    resources:
        mem_mb=growing(2000),
        runtime=growing(60),
    params:
        kind=lookup(dpath="listwise/collections/{collection}/queries", within=config),
        cloze={name: LISTWISE["queries"][name] for name in ("swap_share", "least_texts", "options")},
        limit=lookup(dpath="listwise/collections/{collection}/limit", within=config),
        seed=SEED,
        batch_size=lookup(dpath="listwise/batch_size", within=config),
        threads=lookup(dpath="listwise/threads", within=config),
    message:
        "making the queries of {wildcards.collection}"
    script:
        "../workflow/scripts/make_listwise_queries.py"


rule search_first_stages:
    """Runs of the four first stages (Table 2), in TREC format, and the queries' vectors."""
    input:
        passages=of_corpus("passages.jsonl"),
        queries="<results>/listwise/collections/{collection}/queries.jsonl",
        qrels="<results>/listwise/collections/{collection}/qrels.txt",
        vectors=of_corpus("vectors.safetensors"),
        encoders=expand("<results>/encoders/{name}", name=LISTWISE["embedding"]["encoders"]),
        src=sources("search_first_stages.py"),
    output:
        query_vectors="<results>/listwise/collections/{collection}/vectors.safetensors",
        runs=expand(
            "<results>/listwise/collections/{{collection}}/runs/{stage}.txt",
            stage=LISTWISE["first_stages"],
        ),
    log:
        "<logs>/search_first_stages/{collection}.log",
    benchmark:
        "<benchmarks>/search_first_stages/{collection}.tsv"
    conda:
        "../envs/train.yaml"
    threads: LISTWISE["threads"]
    resources:
        mem_mb=growing(3000),
        runtime=growing(120),
        accelerators=1,
    params:
        stages=lookup(dpath="listwise/first_stages", within=config),
        depth=lookup(dpath="listwise/depth", within=config),
        max_tokens=lookup(dpath="listwise/embedding/max_tokens", within=config),
        batch_size=lookup(dpath="listwise/batch_size", within=config),
        threads=lookup(dpath="listwise/threads", within=config),
    message:
        "searching {wildcards.collection} by every first stage (progress: {log})"
    script:
        "../workflow/scripts/search_first_stages.py"
