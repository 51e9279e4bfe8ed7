"""What Snakemake's own logs tell of runs: steps, cores, failures old and new."""

import time

from posbias.report.run_logs import Failure, last_failures, last_lines, read_run_log, read_run_logs
from run_traces_files import NOON, PLANNED, failed, job_log, run_log, stamp

LOG = "logs/mini/train_retriever/bert-begin.log"
OUTPUT = "results/mini/models/bert/begin"


def test_a_run_tells_its_steps_cores_and_failures(tmp_path):
    text = PLANNED + f"{stamp()}Finished jobid: 3 (Rule: a)\n1 of 4 steps (25%) done\n"
    text += failed("train_retriever", OUTPUT, LOG, NOON + 60) + stamp(NOON + 61)
    told = read_run_log(run_log(tmp_path, text + "2 of 4 steps (50%) done\n"))
    assert (told.cores, told.done, told.planned, told.slurm_run) == (4, 2, 4, None)
    (failure,) = told.failures
    assert failure == Failure(
        "train_retriever", (OUTPUT, f"{OUTPUT}.meta"), (LOG,), NOON + 60,
        "died with <Signals.SIGKILL: 9>",
    )  # fmt: skip


def test_a_group_that_failed_names_each_of_its_jobs(tmp_path):
    text = PLANNED + "SLURM run ID: 1b2c-3d\n" + stamp() + (
        "    message: None\n    log: .snakemake/slurm_logs/group_x/17.log (check log file(s) for "
        "error details)\n    jobs:\n"
        "        rule make_a:\n            jobid: 1\n            output: a.pdf, a.csv\n"
        "            log: a.log (check log file(s) for error details)\n"
        "        rule make_b:\n            jobid: 2\n            output: b.pdf\n"
        "            log: b.log (check log file(s) for error details)\n"
    )  # fmt: skip
    told = read_run_log(run_log(tmp_path, text))
    assert told.slurm_run == "1b2c-3d"
    assert [(f.rule, f.outputs, f.logs) for f in told.failures] == [
        ("make_a", ("a.pdf", "a.csv"), ("a.log",)),
        ("make_b", ("b.pdf",), ("b.log",)),
    ]


def test_how_a_process_ended_is_told_of_its_own_failure_only(tmp_path):
    slurm = failed("b", "b.pdf", "b.log").split("9>.\n")[1]
    text = PLANNED + failed("a", "a.pdf", "a.log") + slurm + failed("c", "c.pdf", "c.log")
    told = read_run_log(run_log(tmp_path, text)).failures
    assert [failure.rule for failure in told] == ["a", "b", "c"]
    killed = "died with <Signals.SIGKILL: 9>"
    assert [failure.ended for failure in told] == [killed, None, killed]


def test_the_announcement_of_a_job_is_no_failure(tmp_path):
    text = PLANNED + stamp() + "rule make_a:\n    output: a.pdf\n    log: a.log\n    jobid: 1\n"
    assert read_run_log(run_log(tmp_path, text)).failures == ()


def test_runs_that_planned_nothing_are_left_out(tmp_path):
    run_log(tmp_path, PLANNED, "2026-03-01T100000.000000")
    run_log(tmp_path, "Nothing to be done\n", "2026-03-02T100000.000000")
    run_log(tmp_path, "LockException:\n", "2026-03-03T100000.000000")
    (told,) = read_run_logs(tmp_path / ".snakemake/log")
    assert told.path.name.startswith("2026-03-01")
    assert read_run_logs(tmp_path / "nowhere") == []


def test_the_newest_failure_counts_unless_the_job_was_tried_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_log(tmp_path, PLANNED + failed("t", OUTPUT, LOG, NOON - 500), "2026-03-01T100000.000000")
    run_log(tmp_path, PLANNED + failed("t", OUTPUT, LOG, NOON), "2026-03-02T100000.000000")
    logs = read_run_logs(tmp_path / ".snakemake/log")
    assert last_failures(logs) == {}, "the job's log is gone: somebody has cleaned up"
    job_log(tmp_path, LOG, "11:59:58 loss\n11:59:59 error: no space left\n", NOON - 1)
    found = last_failures(logs)
    assert {name: failure.at for name, failure in found.items()} == {
        OUTPUT: NOON, f"{OUTPUT}.meta": NOON,
    }  # fmt: skip
    assert found[OUTPUT].last_lines(1) == ["11:59:59 error: no space left"]
    assert not found[OUTPUT].interrupted
    job_log(tmp_path, LOG, "12:30:00 begun anew\n", NOON + 1800)
    assert last_failures(logs) == {}


def test_a_job_stopped_by_hand_has_not_failed(tmp_path):
    log = job_log(tmp_path, "a.log", "12:00:00 interrupted; the next run goes on from here\n")
    assert Failure("a", ("a",), (str(log),), NOON, None).interrupted


def test_the_words_of_a_stopped_job_are_those_of_the_scripts(scripts):
    from posbias.report.run_logs import INTERRUPTED

    assert f'"{INTERRUPTED}"' in (scripts / "adapter.py").read_text("utf-8")


def test_last_lines_of_any_file(tmp_path):
    path = job_log(tmp_path, "long.log", "".join(f"line {i} {'x' * 300}\n\n" for i in range(5000)))
    begin = time.perf_counter()
    assert [line.split()[1] for line in last_lines(path, 3)] == ["4997", "4998", "4999"]
    assert time.perf_counter() - begin < 1
    path.write_bytes(b"\xff\xfe torn\n")
    assert last_lines(path) == ["\ufffd\ufffd torn"]
    assert last_lines(tmp_path / "none.log") == [] and last_lines(tmp_path) == []
