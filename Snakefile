"""Position bias, from raw text to every figure; rules/ holds a file per station of the data.

snakemake --cores 8 figures/psi_table.pdf                    the retriever study, offline
snakemake --cores 8 figures/listwise_position_curves.pdf     the listwise study, offline
snakemake --cores 8 figure_7                                 an item of the retriever study's paper
"""

from snakemake.utils import min_version

min_version("9.19")


configfile: "config.yaml"


include: "rules/common.smk"


pathvars:
    results=RESULTS,
    logs=f"logs/{config['scale']}",
    benchmarks=f"benchmarks/{config['scale']}",


report: "workflow/report/workflow.rst"


include: "rules/retriever_common.smk"
include: "rules/listwise_common.smk"
include: f"rules/{config['metrics_from']}.smk"
include: "rules/figures.smk"
include: "rules/curves.smk"
include: "rules/data_tables.smk"
include: "rules/standard_tables.smk"
include: "rules/representation_figures.smk"
include: "rules/listwise_figures.smk"
include: "rules/verdicts.smk"
include: "rules/comparison.smk"
include: "rules/checklist.smk"
include: "rules/items.smk"


rule all:
    """Every figure, table and verdict of the configured scale."""
    default_target: True
    input:
        those_shown(*(f"{figure}.pdf" for figure in RETRIEVER_FIGURES)),
        "figures/checklist.md",
        LISTWISE_RESULTS,
        "<results>/claims.json",
        "<results>/verify.json",
