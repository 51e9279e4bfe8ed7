"""Sections of the checklist on what a run was done with: code, data, licences, machine, time."""

from posbias.logs import clock
from posbias.release.manifest import differs_from_commit
from posbias.report.checklist import UNKNOWN, Record, Section, Table, at, listed, said
from posbias.report.licences import NO, NOT_KNOWN, RESTRICTED, YES

MB, GB = 2**20, 2**30  # bytes


def _commit(record: Record) -> str:
    commit = record.get("commit")
    differed = ", but files differed from this commit" if differs_from_commit(commit) else ""
    return f"{said(commit)}{differed}"


def code_section(record: Record) -> Section:
    """Tell the commit, and where installed packages are not those of the lock."""
    packages = record.get("packages") or []
    there = [one for one in packages if one["installed"]]
    other = [
        f"{one['name']} {one['installed']} (pinned: {one['pinned']})"
        for one in there
        if one["pinned"] and one["installed"] != one["pinned"]
    ]
    unpinned = [f"{one['name']} {one['installed']}" for one in there if not one["pinned"]]
    absent = [one["name"] for one in packages if not one["installed"]]
    answers = (
        ("Which commit of the code?", _commit(record)),
        ("Which configuration?", f"hash {record['config_hash']}" if record.get("config_hash")
         else UNKNOWN),
        ("Which Python?", said(at(record, "machine", "python"))),
        ("How many packages are pinned to one version?",
         said(sum(bool(one["pinned"]) for one in packages)) if packages else UNKNOWN),
        ("Which were installed in another version?",
         (listed(other) if other else "none") if packages else UNKNOWN),
        ("Which versions are beside the lock?",
         (listed(unpinned) if unpinned else "none") if packages else UNKNOWN),
        ("Which were not in the environment that made this record?",
         (listed(absent) if absent else "none") if packages else UNKNOWN),
    )  # fmt: skip
    return Section("Code", answers)


def _names(rows: list[Record], use: str, column: str = "commercial_use") -> str:
    found = [f"{row['name']} ({row['licence'] or 'no licence known'})" for row in rows
             if row[column] == use]  # fmt: skip
    return listed(found) if found else "none"


def data_section(record: Record) -> Section:
    """Tell data sets and models with revisions and licences; those not used are in the CSV only."""
    used = [row for row in record.get("licences") or [] if row["used"]]
    rows = tuple(
        (row["name"], row["kind"], row["source"], row["revision"] or "-",
         said(row["licence"]), row["commercial_use"], row.get("share_alike", "-"))
        for row in used
    )  # fmt: skip
    fetched = [one for one in record.get("downloads") or [] if one["fetched"]]
    size = sum(one["bytes"] or 0 for one in fetched)
    answers = (
        ("How many data sets and models did the run use?", said(len(used)) if used else UNKNOWN),
        ("Which must not be used commercially?", _names(used, NO) if used else UNKNOWN),
        ("Which restrict their use?", _names(used, RESTRICTED) if used else UNKNOWN),
        ("Of which is it not known?", _names(used, NOT_KNOWN) if used else UNKNOWN),
        ("Which ask that what is made from them be shared alike?",
         _names(used, YES, "share_alike") if used and "share_alike" in used[0] else UNKNOWN),
        ("How many were downloaded, each at one revision?",
         f"{len(fetched)} ({size / GB:.1f} GiB)" if "downloads" in record else UNKNOWN),
    )  # fmt: skip
    header = ("name", "kind", "source", "revision", "licence", "commercial use", "share alike")
    return Section("Data and models", answers, (Table(header, rows),) if rows else ())


def _gpus(record: Record) -> str:
    gpus = at(record, "machine", "gpus")
    if gpus is None:
        return UNKNOWN
    if gpus:
        return listed(f"{one['name']} ({one['memory']})" for one in gpus)
    how = at(record, "machine", "gpus_looked_for")
    return f"no GPU found{f' ({how})' if how else ''}"


def machine_section(record: Record) -> Section:
    """Describe the machine that made the record; jobs of a cluster may have run on others."""
    memory = at(record, "machine", "memory_bytes")
    answers = (
        ("Which processor?", said(at(record, "machine", "cpu"))),
        ("How many cores, and how many of them usable?",
         f"{said(at(record, 'machine', 'cores'))}, {said(at(record, 'machine', 'usable_cores'))}"
         if at(record, "machine", "cores") else UNKNOWN),
        ("How much main memory?", f"{memory / GB:.1f} GiB" if memory else UNKNOWN),
        ("Which NVIDIA GPUs?", _gpus(record)),
        ("Which system?", said(at(record, "machine", "system"))),
    )  # fmt: skip
    return Section("Hardware (of the machine that made the record)", answers)


def _cost_row(name: str, costs: Record) -> tuple[str, ...]:
    def time(field: str) -> str:
        return "-" if costs[field] is None else clock(costs[field])

    memory = costs["max_rss_mb"]
    return (
        name, str(costs["jobs"]), time("seconds"), time("longest_seconds"), time("cpu_seconds"),
        "-" if memory is None else f"{memory:,.0f}",
    )  # fmt: skip


def _left_out(left: Record | None) -> str:
    if left is None:
        return UNKNOWN
    return f"{left['files']:,}: {listed(left['names'])}" if left["files"] else "none"


def cost_section(record: Record) -> Section:
    """Tell time and memory by station, the dearest first, and in total."""
    stations = sorted(
        record.get("stations") or [], key=lambda one: (-(one["seconds"] or 0), one["rule"])
    )
    total = record.get("total") or {}
    rows = [_cost_row(one["rule"], one) for one in stations]
    rows += [_cost_row("all", total)] if rows else []
    seconds, memory = total.get("seconds"), total.get("max_rss_mb")
    lacking = max(total.get("jobs_without_cpu_time", 0), total.get("jobs_without_memory", 0))
    answers = (
        ("How long did all jobs take together, each counted by itself?",
         clock(seconds) if seconds is not None else UNKNOWN),
        ("How much memory did the largest job take?",
         f"{memory:,.0f} MiB" if memory is not None else UNKNOWN),
        ("Of how many jobs is this known?", said(total.get("jobs")) if rows else UNKNOWN),
        ("How many of these have no CPU time or no memory?", said(lacking) if rows else UNKNOWN),
        ("Which files of other runs' stations lay beside them, and were left out?",
         _left_out(record.get("left_out"))),
        ("How long did failed and repeated jobs take?", UNKNOWN),
        ("How much time of GPUs?", UNKNOWN),
    )  # fmt: skip
    header = ("station", "jobs", "time", "longest job", "CPU time", "memory (MiB)")
    return Section("Run time and memory", answers, (Table(header, tuple(rows)),) if rows else ())
