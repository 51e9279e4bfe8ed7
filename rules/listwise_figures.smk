"""Station 7, listwise study: its printed results, each with its numbers and sources."""


rule make_listwise_causal_graph:
    """Fig. 1: passages, reranker, positions and ranking."""
    input:
        src=sources("make_listwise_causal_graph.py"),
    output:
        pdf=report(
            "figures/listwise_causal_graph.pdf",
            caption="../workflow/report/listwise_causal_graph.rst",
            category="Listwise study",
            labels={"item": "Fig. 1", "content": "causal graph"},
        ),
        csv="figures/listwise_causal_graph.csv",
        meta="figures/listwise_causal_graph.meta.json",
    log:
        "<logs>/make_listwise_causal_graph.log",
    benchmark:
        "<benchmarks>/make_listwise_causal_graph.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        provenance=LISTWISE_PROVENANCE,
    message:
        "drawing {output.pdf}"
    script:
        "../workflow/scripts/make_listwise_causal_graph.py"


rule make_listwise_propensity:
    """Equation 5: how often a slot of the input comes out at a rank, as a heat map."""
    input:
        measures="<results>/listwise/measures.json",
        src=sources("make_listwise_propensity.py"),
    output:
        pdf=report(
            "figures/listwise_propensity.pdf",
            caption="../workflow/report/listwise_propensity.rst",
            category="Listwise study",
            labels={"item": "eq. 5", "content": "propensity matrix"},
        ),
        csv="figures/listwise_propensity.csv",
        meta="figures/listwise_propensity.meta.json",
    log:
        "<logs>/make_listwise_propensity.log",
    benchmark:
        "<benchmarks>/make_listwise_propensity.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        provenance=LISTWISE_PROVENANCE,
    message:
        "drawing {output.pdf}"
    script:
        "../workflow/scripts/make_listwise_propensity.py"


rule make_listwise_training_positions:
    """Fig. 3(a): where the relevant passage stands in training lists."""
    input:
        measures="<results>/listwise/measures.json",
        src=sources("make_listwise_training_positions.py"),
    output:
        pdf=report(
            "figures/listwise_training_positions.pdf",
            caption="../workflow/report/listwise_training_positions.rst",
            category="Listwise study",
            labels={"item": "Fig. 3(a)", "content": "training positions"},
        ),
        csv="figures/listwise_training_positions.csv",
        meta="figures/listwise_training_positions.meta.json",
    log:
        "<logs>/make_listwise_training_positions.log",
    benchmark:
        "<benchmarks>/make_listwise_training_positions.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        provenance=LISTWISE_PROVENANCE,
    message:
        "drawing {output.pdf}"
    script:
        "../workflow/scripts/make_listwise_training_positions.py"


rule make_listwise_coverage:
    """How many slots an item is shown at, by augmentation."""
    input:
        measures="<results>/listwise/measures.json",
        src=sources("make_listwise_coverage.py"),
    output:
        pdf=report(
            "figures/listwise_coverage.pdf",
            caption="../workflow/report/listwise_coverage.rst",
            category="Listwise study",
            labels={"item": "coverage", "content": "slots covered by augmentation"},
        ),
        csv="figures/listwise_coverage.csv",
        meta="figures/listwise_coverage.meta.json",
    log:
        "<logs>/make_listwise_coverage.log",
    benchmark:
        "<benchmarks>/make_listwise_coverage.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        provenance=LISTWISE_PROVENANCE,
    message:
        "drawing {output.pdf}"
    script:
        "../workflow/scripts/make_listwise_coverage.py"


rule make_listwise_position_curves:
    """Fig. 4: nDCG@10 by the slot of the relevant passage."""
    input:
        measures="<results>/listwise/measures.json",
        src=sources("make_listwise_position_curves.py"),
    output:
        pdf=report(
            "figures/listwise_position_curves.pdf",
            caption="../workflow/report/listwise_position_curves.rst",
            category="Listwise study",
            labels={"item": "Fig. 4", "content": "curves over slots"},
        ),
        csv="figures/listwise_position_curves.csv",
        meta="figures/listwise_position_curves.meta.json",
    log:
        "<logs>/make_listwise_position_curves.log",
    benchmark:
        "<benchmarks>/make_listwise_position_curves.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        provenance=LISTWISE_PROVENANCE,
    message:
        "drawing {output.pdf}"
    script:
        "../workflow/scripts/make_listwise_position_curves.py"


rule make_listwise_permutations:
    """Fig. 5: single shuffled orders, and PermSC over several."""
    input:
        measures="<results>/listwise/measures.json",
        src=sources("make_listwise_permutations.py"),
    output:
        pdf=report(
            "figures/listwise_permutations.pdf",
            caption="../workflow/report/listwise_permutations.rst",
            category="Listwise study",
            labels={"item": "Fig. 5", "content": "shuffled orders and PermSC"},
        ),
        csv="figures/listwise_permutations.csv",
        meta="figures/listwise_permutations.meta.json",
    log:
        "<logs>/make_listwise_permutations.log",
    benchmark:
        "<benchmarks>/make_listwise_permutations.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        provenance=LISTWISE_PROVENANCE,
    message:
        "drawing {output.pdf}"
    script:
        "../workflow/scripts/make_listwise_permutations.py"


rule make_listwise_ablation_curves:
    """Fig. 6: augmentation and IPS, by the slot of the relevant passage."""
    input:
        measures="<results>/listwise/measures.json",
        src=sources("make_listwise_ablation_curves.py"),
    output:
        pdf=report(
            "figures/listwise_ablation_curves.pdf",
            caption="../workflow/report/listwise_ablation_curves.rst",
            category="Listwise study",
            labels={"item": "Fig. 6", "content": "curves of the ablation"},
        ),
        csv="figures/listwise_ablation_curves.csv",
        meta="figures/listwise_ablation_curves.meta.json",
    log:
        "<logs>/make_listwise_ablation_curves.log",
    benchmark:
        "<benchmarks>/make_listwise_ablation_curves.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        provenance=LISTWISE_PROVENANCE,
    message:
        "drawing {output.pdf}"
    script:
        "../workflow/scripts/make_listwise_ablation_curves.py"


rule make_listwise_table1:
    """Table 1: every system on every collection, in the first stage's order and shuffled."""
    input:
        measures="<results>/listwise/measures.json",
        src=sources("make_listwise_table1.py"),
    output:
        pdf=report(
            "figures/listwise_table1.pdf",
            caption="../workflow/report/listwise_table1.rst",
            category="Listwise study",
            labels={"item": "Table 1", "content": "original and shuffled input"},
        ),
        csv="figures/listwise_table1.csv",
        tex="figures/listwise_table1.tex",
        meta="figures/listwise_table1.meta.json",
    log:
        "<logs>/make_listwise_table1.log",
    benchmark:
        "<benchmarks>/make_listwise_table1.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        provenance=LISTWISE_PROVENANCE,
        alpha=lookup(dpath="claims/alpha", within=config),
    message:
        "drawing {output.pdf}"
    script:
        "../workflow/scripts/make_listwise_table1.py"


rule make_listwise_table2:
    """Table 2: baseline and proposed model on each first stage."""
    input:
        measures="<results>/listwise/measures.json",
        src=sources("make_listwise_table2.py"),
    output:
        pdf=report(
            "figures/listwise_table2.pdf",
            caption="../workflow/report/listwise_table2.rst",
            category="Listwise study",
            labels={"item": "Table 2", "content": "first stages"},
        ),
        csv="figures/listwise_table2.csv",
        tex="figures/listwise_table2.tex",
        meta="figures/listwise_table2.meta.json",
    log:
        "<logs>/make_listwise_table2.log",
    benchmark:
        "<benchmarks>/make_listwise_table2.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        provenance=LISTWISE_PROVENANCE,
    message:
        "drawing {output.pdf}"
    script:
        "../workflow/scripts/make_listwise_table2.py"


rule make_listwise_table3:
    """Table 3: augmentation, IPS and language-model loss, one by one."""
    input:
        measures="<results>/listwise/measures.json",
        src=sources("make_listwise_table3.py"),
    output:
        pdf=report(
            "figures/listwise_table3.pdf",
            caption="../workflow/report/listwise_table3.rst",
            category="Listwise study",
            labels={"item": "Table 3", "content": "ablation"},
        ),
        csv="figures/listwise_table3.csv",
        tex="figures/listwise_table3.tex",
        meta="figures/listwise_table3.meta.json",
    log:
        "<logs>/make_listwise_table3.log",
    benchmark:
        "<benchmarks>/make_listwise_table3.tsv"
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        provenance=LISTWISE_PROVENANCE,
    message:
        "drawing {output.pdf}"
    script:
        "../workflow/scripts/make_listwise_table3.py"
