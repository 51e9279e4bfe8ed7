"""A folder of states belongs to one process and one origin; its lock leaves nothing behind."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
import threading

import pytest

from posbias import kept_states
from posbias.errors import PosbiasError
from posbias.kept_states import contents, held, of_one_origin
from posbias.locks import LockedError, NoLocksError, take_lock

HOLDING = """
import sys, time
from posbias.kept_states import held
with held(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path, scripts):
    """A process that holds the folder `states`."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDING, tmp_path / "resume/states"],
        cwd=scripts,
        stdout=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_second_process_is_told_of_the_first_and_changes_nothing(tmp_path, holder):
    states = tmp_path / "resume/states"
    before = sorted(tmp_path.rglob("*"))
    with (
        pytest.raises(LockedError, match=rf"resume/states: another run \(process {holder.pid} on "),
        held(states),
    ):
        pytest.fail("two hold it")
    assert sorted(tmp_path.rglob("*")) == before
    with held(tmp_path / "resume/others"):
        pass


def test_the_lock_of_a_killed_process_is_free(tmp_path, holder):
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with held(tmp_path / "resume/states"):
        assert (tmp_path / "resume/.states.lock").read_text().startswith(f"{os.getpid()} on ")
    assert list((tmp_path / "resume").iterdir()) == []


@pytest.mark.parametrize("fault", [None, RuntimeError("a fault of the job")])
def test_afterwards_it_is_free_and_only_states_are_left(tmp_path, fault):
    states = tmp_path / "resume/states"
    try:
        with held(states):
            states.mkdir()
            if fault:
                raise fault
    except RuntimeError as raised:
        assert raised is fault
    assert list(tmp_path.rglob("*")) == [tmp_path / "resume", states]
    with held(states):
        pass


def test_a_file_system_without_locks_brings_a_warning(tmp_path, monkeypatch, caplog):
    def refuse(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with held(tmp_path / "states"):
        pass
    assert "no locks" in caplog.text and "would not be noticed" in caplog.text
    with pytest.raises(NoLocksError, match="no locks"):
        take_lock(tmp_path / "lock", tmp_path)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ("a folder as lock", "resume/.states.lock"),
        ("a file as folder", "resume"),
        ("a link to nowhere", "resume"),
    ],
)
def test_what_is_in_the_way_is_named(tmp_path, wrong, named):
    resume = tmp_path / "resume"
    if wrong == "a folder as lock":
        (resume / ".states.lock").mkdir(parents=True)
    elif wrong == "a file as folder":
        resume.write_text("no folder")
    else:
        resume.symlink_to(tmp_path / "nowhere" / "at all")
    with pytest.raises(PosbiasError) as told, held(resume / "states"):
        pytest.fail("held what cannot be")
    assert str(told.value).startswith(f"{tmp_path / named}: ")
    assert "remove it and run again" in str(told.value)


def test_states_of_another_origin_are_removed(tmp_path, caplog):
    states = tmp_path / "states"
    of_one_origin(states, {"code": "1", "texts": "1"})
    (states / "checkpoint-3").mkdir()
    of_one_origin(states, {"code": "1", "texts": "1"})
    assert (states / "checkpoint-3").is_dir()
    with caplog.at_level("INFO"):
        of_one_origin(states, {"code": "1", "texts": "2"})
    assert [path.name for path in states.iterdir()] == ["origin.json"]
    assert "made with other texts; starting anew" in caplog.text


@pytest.mark.parametrize("note", [None, b"", b"\xff\xfe", b"[1]", b"null"])
def test_states_that_do_not_say_where_they_came_from_are_removed(tmp_path, note):
    states = tmp_path / "states"
    (states / "checkpoint-3").mkdir(parents=True)
    if note is not None:
        (states / "origin.json").write_bytes(note)
    of_one_origin(states, {"code": "1"})
    assert [path.name for path in states.iterdir()] == ["origin.json"]


@pytest.mark.parametrize("wrong", ["file", "link"])
def test_what_is_no_folder_makes_room(tmp_path, wrong):
    states, elsewhere = tmp_path / "states", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("not ours")
    if wrong == "file":
        states.write_text("no folder")
    else:
        states.symlink_to(elsewhere)
    of_one_origin(states, {"code": "1"})
    assert [path.name for path in states.iterdir()] == ["origin.json"]
    assert (elsewhere / "kept").exists()


def test_contents_are_those_of_files_and_not_their_times(tmp_path, monkeypatch):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "weights").write_text("1234")
    (folder / ".snakemake_timestamp").touch()
    before = contents(folder)
    os.utime(folder / "weights", (1, 1))
    (folder / ".snakemake_timestamp").write_text("later")
    assert contents(folder) == before and [name for name, *_ in before] == ["model/weights"]
    (folder / "weights").write_text("1235")
    assert contents(folder) != before
    monkeypatch.setattr(kept_states, "HASHED", 3)
    large = contents(folder / "weights")
    os.utime(folder / "weights", (2, 2))
    assert contents(folder / "weights") != large


def test_a_lock_whose_file_was_removed_in_between_is_none(tmp_path, monkeypatch):
    path, real, taken = tmp_path / "lock", fcntl.flock, []

    def flock(descriptor, how):
        if not taken:
            path.unlink()  # what its last owner does at its end
        taken.append(descriptor)
        real(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    descriptor = take_lock(path, path)
    assert len(taken) == 2 and path.exists()
    with pytest.raises(LockedError):
        take_lock(path, path)
    os.close(descriptor)


def test_of_many_at_once_one_holds_it_at_a_time(tmp_path):
    inside, most, refused = [], [], []

    def work():
        for _ in range(40):
            try:
                with held(tmp_path / "resume/states"):
                    inside.append(1)
                    most.append(len(inside))
                    inside.pop()
            except LockedError:
                refused.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) + len(refused) == 4 * 40
    assert max(most) == 1
    assert list((tmp_path / "resume").iterdir()) == []
