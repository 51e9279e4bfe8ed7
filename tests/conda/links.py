"""Packages of one environment lent to another by symbolic links, with everything that they need."""

import re
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement


def normal(name: str) -> str:
    """Return a package's name as lock files write it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def with_needs(names: list[str], site: Path) -> dict[str, Distribution]:
    """Return these packages of a site-packages folder and all that they need, by name.

    Raises:
        LookupError: one of them is not there.
    """
    there = {normal(found.name): found for found in distributions(path=[str(site)])}
    found: dict[tuple[str, str], Distribution] = {}
    waiting = [(normal(name), "") for name in names]
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in found:
            continue
        if name not in there:
            raise LookupError(f"{site} has no {name}")
        found[name, extra] = there[name]
        for need in map(Requirement, there[name].requires or []):
            if need.marker is None or need.marker.evaluate({"extra": extra}):
                waiting += [(normal(need.name), wanted) for wanted in ("", *need.extras)]
    return {name: distribution for (name, _), distribution in found.items()}


def lend(names: list[str], site: Path, borrower: Path) -> dict[str, str]:
    """Link the files of packages and of all that they need; return the versions, by name.

    Both folders are site-packages. What the borrower has already it keeps. Programs in bin/ are not
    lent: they start the lender's Python.
    """
    had = {normal(found.name) for found in distributions(path=[str(borrower)])}
    lent = {name: found for name, found in with_needs(names, site).items() if name not in had}
    for distribution in lent.values():
        for file in distribution.files or []:
            link = borrower / file
            if ".." in file.parts:
                continue
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(site / file)
    return {name: distribution.version for name, distribution in lent.items()}
