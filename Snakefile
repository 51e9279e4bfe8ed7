"""Position bias, from raw text to every figure; rules/ holds a file per station of the data.

snakemake --cores 8 figures/psi_table.pdf                    the retriever study, offline
snakemake --cores 8 figures/listwise_position_curves.pdf     the listwise study, offline
"""

from snakemake.utils import min_version

min_version("9.19")


configfile: "config.yaml"


include: "rules/common.smk"


pathvars:
    results=f"results/{config['scale']}",
    logs=f"logs/{config['scale']}",
    benchmarks=f"benchmarks/{config['scale']}",


report: "workflow/report/workflow.rst"


include: "rules/retriever_common.smk"
include: "rules/downloads.smk"
include: "rules/encoders.smk"
include: "rules/corpus.smk"
include: "rules/queries.smk"
include: "rules/verification.smk"
include: "rules/balance.smk"
include: "rules/training.smk"
include: "rules/benchmarks.smk"
include: "rules/evaluation.smk"
include: "rules/figures.smk"
include: "rules/listwise_common.smk"
include: "rules/listwise_data.smk"
include: "rules/listwise_training.smk"
include: "rules/listwise_evaluation.smk"
include: "rules/listwise_figures.smk"
include: "rules/verdicts.smk"


localrules:  # nodes of a cluster often reach no network, the machine that starts a run does
    all,
    fetch_artefact,


rule all:
    """Every figure, table and verdict of the configured scale."""
    default_target: True
    input:
        "figures/psi_table.pdf",
        "figures/position_curves.pdf",
        "figures/truncation.pdf",
        LISTWISE_RESULTS,
        "<results>/claims.json",
        "<results>/verify.json",
