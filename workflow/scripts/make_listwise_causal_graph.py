"""Draw where the position bias of a listwise reranker comes from: PDF, and its edges as CSV."""

import logging
from functools import partial
from pathlib import Path
from typing import Any

from adapter import start
from posbias.report.causal_graph import draw_causal_graph, edge_frame
from posbias.report.outputs import About, write_outputs

TITLE = "How the order of the input bears on a listwise ranking"
VARIES = "a drawing; nothing in it is measured"

log = logging.getLogger("causal_graph")


def main(pdf: Path, csv: Path, meta: Path, provenance: dict[str, Any]) -> None:
    """Draw the causal graph of passages, reranker, positions and ranking (listwise study, Fig. 1).

    Args:
        pdf: the figure
        csv: its edges, one a row
        meta: where the figure comes from, as JSON
        provenance: scale, note, config_hash, seed and commit
    """
    about = About(TITLE, VARIES, None, provenance, ())
    draw = partial(draw_causal_graph, TITLE)
    write_outputs(about, edge_frame(), draw, pdf, csv, meta)
    log.info("wrote %s, %s and %s", pdf, csv, meta)


if "snakemake" in globals():
    start(main, snakemake)  # noqa: F821
elif __name__ == "__main__":
    start(main)
