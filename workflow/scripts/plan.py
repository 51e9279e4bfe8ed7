"""Print what a scale would cost: jobs, GPU-hours, disk and dollars, by station and by target."""

import logging
import sys
from pathlib import Path

from adapter import start
from config_checks import check_consistency, check_schema
from config_files import merged, read_yaml
from places import WITH_PERSONA, data_files, models_of
from posbias.queries.api_options import read_options
from posbias.queries.generators import answerer_options
from posbias.report import analysis_costs, cost_sheet
from posbias.report.cost_sheet import Cost, Plan
from selection import chosen, select

SCHEMA = Path(__file__).parents[1] / "schemas" / "config.schema.yaml"
MAIN_TARGET = "figures/psi_table.pdf"

log = logging.getLogger("plan")


def read_configs(files: list[Path]) -> dict:
    """Merge config files as the workflow does, later ones over earlier, and check the result."""
    config = merged(files)
    check_schema(config, SCHEMA)
    check_consistency(config)
    return config


def own_downloads(config: dict, names: list[str]) -> list[str]:
    """Return those names that are downloads."""
    return [name for name in names if name in config["downloads"]]


def api_prices(options: dict) -> dict[str, float]:
    """Return dollars per million tokens read and written, with the batch endpoint's discount."""
    read = read_options(answerer_options(options)[1], "queries.options")
    factor = read.batch_factor if read.mode == "batch" else 1.0
    return {"input": factor * read.input_price, "output": factor * read.output_price}


def sheet(plan: Plan) -> dict[str, list[Cost]]:
    """Return the stations that every target needs, then those of each further target."""
    config = plan.config
    generator = config["queries"]["generators"][config["queries"]["generator"]]
    personas = config["queries"]["personas"] if generator["kind"] in WITH_PERSONA else None
    benchmarks = config["benchmarks"]
    source = config["article_sources"][config["documents"]["articles"]]
    common = [
        *models_of([*config["verification"]["panel"], generator]),
        *[plan.checkpoint(name) for name in plan.retrievers if plan.checkpoint(name)],
        *([personas["encoder"], personas["source"]] if personas else []),
        *([source["folder"]] if "folder" in source else []),
    ]
    price = api_prices(generator["options"]) if generator["kind"] == "openai" else None

    paid: set[str] = set()

    def target(name: str) -> list[Cost]:
        """The downloads and the search of one benchmark; a shared corpus is paid for once."""
        entry = benchmarks["known"][name]
        whole = chosen("benchmarks", entry["retrievers"], config["retrievers"]["known"])
        referred = [
            reference
            for reference in config["references"]
            if name in chosen("references", reference["benchmarks"], benchmarks["known"])
        ]
        fetched = own_downloads(config, [*data_files(entry), *models_of(referred)])
        encoded = entry["corpus"] in paid
        paid.add(entry["corpus"] or name)
        return [
            cost_sheet.downloads(plan, [name for name in fetched if name not in common]),
            cost_sheet.search(plan, name, [r for r in plan.retrievers if r in whole], encoded),
        ]

    shared = [
        cost_sheet.downloads(plan, own_downloads(config, common)),
        cost_sheet.corpus(plan),
        *cost_sheet.queries(plan, price, personas["encoder"] if personas else None),
        cost_sheet.verification(plan),
        *cost_sheet.training(plan),
    ]
    main, *others = [benchmarks["main"], *(n for n in plan.benchmarks if n != benchmarks["main"])]
    return {
        MAIN_TARGET: [*shared, *target(main)],
        **{name: target(name) for name in others},
        "pooling, segments, moved evidence, audit, Fig. 9": analyses(plan),
    }


def analyses(plan: Plan) -> list[Cost]:
    """Return the stations of the analyses beside retrieval, with the data that only they read."""
    block = plan.config["analyses"]
    judge = block["audit"]["judges"][block["audit"]["judge"]]
    pairs = block["evidence_moving"]["known"][block["evidence_moving"]["pairs"]]
    placed = [one for one in block["evidence_places"] if one in plan.benchmarks]
    read = [
        *data_files(pairs),
        *(file for one in placed for file in block["evidence_places"][one]["files"]),
    ]
    known = plan.config["benchmarks"]["known"]
    fetched = {file for one in plan.benchmarks for file in data_files(known[one])}
    return [
        cost_sheet.downloads(
            plan, [name for name in own_downloads(plan.config, read) if name not in fetched]
        ),
        analysis_costs.pooling(plan),
        analysis_costs.segments(plan),
        analysis_costs.moved_evidence(plan),
        analysis_costs.audit(
            plan, api_prices(judge["options"]) if judge["kind"] == "openai" else None
        ),
    ]


def printed(targets: dict[str, list[Cost]]) -> str:
    """Return the sheet as text: a line a station, a sum a target, and the sum of all."""
    head = f"{'station':<40}{'jobs':>8}{'GPU-hours':>12}{'disk, GB':>12}{'dollars':>10}"
    lines = [head, "-" * len(head)]

    def line(cost: Cost, indent: str = "  ") -> str:
        name = f"{indent}{cost.station}"
        return (
            f"{name:<40}{cost.jobs:>8,}{cost.gpu_hours:>12,.1f}"
            f"{cost.disk_gb:>12,.1f}{cost.dollars:>10,.0f}"
        )

    for name, costs in targets.items():
        told = f"{name}, all that it needs" if name == MAIN_TARGET else f"{name}, on top of that"
        lines += [line(cost_sheet.total(told, costs), ""), *(line(cost) for cost in costs), ""]
    everything = cost_sheet.total("all of it", [c for costs in targets.values() for c in costs])
    return "\n".join([*lines, "-" * len(head), line(everything, "")])


def main(configs: list[Path], assumptions: Path = Path("config/plan.yaml")) -> None:
    """Print the cost sheet of a scale.

    Args:
        configs: the complete config, then overlays
        assumptions: what is assumed beyond them
    """
    config = read_configs(configs)
    plan = Plan(
        config,
        select("retrievers", config["retrievers"]),
        select("benchmarks", config["benchmarks"]),
        read_yaml(assumptions),
    )
    unknown = [name for name in plan.benchmarks if name not in plan.assumed["benchmarks"]]
    sys.stdout.write(
        f"Scale {config['scale']}: estimates from {assumptions}, not measurements; one GPU of "
        f"{plan.assumed['gpu_tflops']} TFLOP/s sustained.\n\n{printed(sheet(plan))}\n"
        + "".join(f"Nothing is assumed of the size of {name}.\n" for name in unknown)
    )


if __name__ == "__main__":
    start(main)
