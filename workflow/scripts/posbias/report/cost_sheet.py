"""What a scale would cost before it runs: jobs, GPU-hours, disk and dollars of each station."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from posbias.corpus.bins import length_bins
from posbias.errors import ConfigError

FORWARD, TRAIN = 2, 8  # operations a parameter and token; training caches gradients: 6 + a forward
MILLION, GIGA = 1e6, 1e9
SEGMENTS = 3


@dataclass(frozen=True)
class Cost:
    """One station: its jobs, hours of one GPU, gigabytes (10^9 bytes) that stay, dollars."""

    station: str
    jobs: int
    gpu_hours: float = 0.0
    disk_gb: float = 0.0
    dollars: float = 0.0


@dataclass(frozen=True)
class Plan:
    """What the numbers are computed from: a config, what is selected of it, and assumptions."""

    config: Mapping[str, Any]
    retrievers: list[str]
    benchmarks: list[str]
    assumed: Mapping[str, Any]

    def hours(self, operations: float) -> float:
        """Return the hours that one GPU takes for so many operations."""
        return operations / (self.assumed["gpu_tflops"] * 1e12) / 3600

    def tokens(self, chars: float) -> float:
        """Return about how many tokens so many characters are."""
        return chars / self.assumed["chars_per_token"]

    def parameters(self, model: str) -> float:
        """Return a model's parameters; raises ConfigError for one that is not assumed."""
        return MILLION * _assumption(self.assumed["parameters"], model, "parameters")

    def documents(self) -> list[tuple[int, float]]:
        """Return the number of training documents and their mean characters, by bin."""
        block = self.config["documents"]
        return [
            (block["max_per_bin"]["train"], (b.low + b.high) / 2)
            for b in length_bins(block["bin_edges"])
        ]

    def checkpoint(self, retriever: str) -> str | None:
        """Return the trained weights that a retriever starts from, None from scratch."""
        return self.config["retrievers"]["known"][retriever].get("checkpoint")

    def longest(self, retriever: str) -> int:
        """Return where a retriever's input is cut, in tokens."""
        entry = self.config["retrievers"]["known"][retriever]
        return entry.get("max_tokens") or self.config["training"]["max_tokens"]


def _assumption(block: Mapping[str, float], name: str, what: str) -> float:
    if name not in block:
        raise ConfigError(
            f"config/plan.yaml, {what}: nothing is assumed of {name!r}; add a line for it."
        )
    return block[name]


def downloads(plan: Plan, needed: Iterable[str]) -> Cost:
    """Return what fetching the needed downloads takes."""
    names = [name for name in plan.config["downloads"] if name in set(needed)]
    sizes = plan.assumed["download_gb"]
    return Cost(
        "downloads", len(names), 0.0, sum(_assumption(sizes, n, "download_gb") for n in names)
    )


def corpus(plan: Plan) -> Cost:
    """Return what the documents and their segments take."""
    return Cost("documents", 1, 0.0, sum(n * (chars + 400) for n, chars in plan.documents()) / GIGA)


def queries(plan: Plan, price: Mapping[str, float] | None, encoder: str | None) -> list[Cost]:
    """Return personas and query candidates.

    price: dollars per million tokens of the API, `input` and `output`; None where no API is asked.
    encoder: the model that finds personas, None without personas.
    """
    number = sum(n for n, _ in plan.documents())
    found = []
    if encoder is not None:
        read = sum(n * plan.tokens(chars) for n, chars in plan.documents())
        people = plan.assumed["personas"]
        read += people["number"] * plan.tokens(people["chars"])
        operations = FORWARD * plan.parameters(encoder) * read
        found.append(Cost("personas", 1, plan.hours(operations), number * 200 / GIGA))
    dollars = 0.0
    if price is not None:
        for kind, calls, passages in (("first", 1, 1.0), ("second", 3, 1 + 1 / SEGMENTS)):
            call = plan.assumed["calls"][kind]
            fixed = call["instructions"] + call["personas"]
            sent = sum(n * (fixed + passages * plan.tokens(c)) for n, c in plan.documents())
            got = number * call["answer"]
            dollars += calls * (sent * price["input"] + got * price["output"]) / MILLION
    found.append(Cost("queries", 1, 0.0, SEGMENTS * number * 900 / GIGA, dollars))
    return found


def verification(plan: Plan) -> Cost:
    """Return what the panel takes; the members after the first see what it passes on."""
    block = plan.config["verification"]
    pairs_tokens = sum(
        SEGMENTS * n * (plan.tokens(chars) + SEGMENTS * plan.assumed["query_tokens"])
        for n, chars in plan.documents()
    )
    share, operations = 1.0, 0.0
    for member in block["panel"]:
        if "model" in member["options"]:
            operations += (
                share * FORWARD * plan.parameters(member["options"]["model"]) * pairs_tokens
            )
        if block["cascade"]:
            share = plan.assumed["passed_on"]
    candidates = SEGMENTS * sum(n for n, _ in plan.documents())
    return Cost(
        "verification", block["shards"] + 1, plan.hours(operations), candidates * 700 / GIGA
    )


def training(plan: Plan) -> list[Cost]:
    """Return what training each retriever under all settings takes."""
    block, settings = plan.config["training"], len(plan.config["balance"]["settings"])
    budget = plan.config["balance"]["max_budget"] or 0
    found = []
    for name in plan.retrievers:
        model = plan.checkpoint(name)
        if model is None:
            found.append(Cost(f"training, {name}", settings))
            continue
        read = sum(
            budget * (min(plan.tokens(chars), plan.longest(name)) + plan.assumed["query_tokens"])
            for _, chars in plan.documents()
        )
        operations = TRAIN * plan.parameters(model) * read * block["epochs"] * settings
        disk = 4 * plan.parameters(model) * settings / GIGA
        found.append(Cost(f"training, {name}", settings, plan.hours(operations), disk))
    return found


def search(plan: Plan, benchmark: str, retrievers: Iterable[str], encoded: bool = False) -> Cost:
    """Return what searching one benchmark takes, for its retrievers under all settings.

    encoded: whether a benchmark that shares its corpus pays for the encoding. A benchmark of whose
    size nothing is assumed costs no more than its jobs.
    """
    entry = plan.config["benchmarks"]["known"][benchmark]
    settings = len(plan.config["balance"]["settings"])
    retrievers = list(retrievers)
    jobs = len(retrievers) * (1 if encoded else 1 + entry["shards"])
    if benchmark not in plan.assumed["benchmarks"]:
        return Cost(f"search, {benchmark}", jobs)
    size = plan.assumed["benchmarks"][benchmark]
    operations, disk = 0.0, size["documents"] * (size["chars"] + 40) / GIGA
    for name in retrievers:
        model = plan.checkpoint(name)
        if model is not None:
            documents = 0 if encoded else size["documents"]
            read = documents * min(plan.tokens(size["chars"]), plan.longest(name))
            read += size["queries"] * plan.assumed["query_tokens"]
            operations += settings * FORWARD * plan.parameters(model) * read
        # A hit is an index and a score in the search, a line in the run.
        kept = size["queries"] * plan.config["evaluation"]["depth"] * settings
        disk += kept * (12 * entry["shards"] + 60) / GIGA
    return Cost(f"search, {benchmark}", jobs, plan.hours(operations), disk)


def total(name: str, costs: Iterable[Cost]) -> Cost:
    """Return the sum of several stations under a name."""
    costs = list(costs)
    return Cost(
        name,
        sum(cost.jobs for cost in costs),
        sum(cost.gpu_hours for cost in costs),
        sum(cost.disk_gb for cost in costs),
        sum(cost.dollars for cost in costs),
    )
