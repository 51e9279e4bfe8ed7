"""Downloads come whole and as the hub has them, through every fault that a hub can have."""

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
import yaml

from fake_hub import FakeHub, Fault, Repo
from posbias.downloads.fetch import adopt, fetch
from posbias.downloads.hub import Hub
from posbias.downloads.manifest import checked_artefact
from posbias.downloads.patterns import as_regex, chosen_files
from posbias.downloads.source import read_source
from posbias.downloads.waits import Patience
from posbias.errors import ConfigError, DataError, PosbiasError

SCRIPTS = Path(__file__).parents[2] / "workflow" / "scripts"
OLD, NEW, ABSENT = "a" * 40, "b" * 40, "c" * 40
WEIGHTS = random.Random(7).randbytes(300_000)
FILES = {
    "config.json": b'{"hidden_size": 8}',
    "tokenizer.json": b"{}",
    "empty.txt": b"",
    "model.safetensors": WEIGHTS,
    "onnx/config.json": b"[]",
    "onnx/model.onnx": b"o" * 100,
}
CHOICE = ["*.json", "empty.txt", "*.safetensors"]
CHOSEN = ["config.json", "empty.txt", "model.safetensors", "tokenizer.json"]
PATHS = {name: f"/owner/model/resolve/{NEW}/{name}" for name in FILES}
LARGE = f"/storage/{hashlib.sha256(WEIGHTS).hexdigest()}"
INFO = f"/api/models/owner/model/revision/{NEW}"


@pytest.fixture(autouse=True)
def online(monkeypatch):
    """With a network, whatever the shell that runs the tests says, and without anyone's token."""
    from huggingface_hub import close_session, constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    for variable in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", "/nowhere/token")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    close_session()
    yield
    close_session()


@pytest.fixture
def hub():
    with FakeHub() as server:
        server.repos["owner/model"] = Repo(
            "model",
            {OLD: {"config.json": b"old"}, NEW: FILES},
            large=frozenset({"model.safetensors"}),
            licence="apache-2.0",
        )
        yield server


def source(**changes):
    told = {"repo": "owner/model", "type": "model", "revision": NEW, "files": CHOICE}
    return read_source("tiny", {**told, **changes})


class Client(Hub):
    """The hub's client, which notes its waits and does not wait."""

    def __init__(self, server: FakeHub, tries: int = 4) -> None:
        self.waits: list[float] = []
        super().__init__(server.endpoint, Patience(tries=tries), self.waits.append)


def get(server, folder, client=None, **changes):
    return fetch(folder / "tiny", source(**changes), folder / "staging", client or Client(server))


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "manifest.json"
    }


def chosen() -> dict[str, bytes]:
    return {name: FILES[name] for name in CHOSEN}


# What comes


def test_the_chosen_files_of_the_commit_come_and_nothing_else(hub, tmp_path):
    manifest = get(hub, tmp_path)
    assert contents(tmp_path / "tiny") == chosen()
    assert manifest == json.loads((tmp_path / "tiny" / "manifest.json").read_text())
    assert (manifest["repo"], manifest["revision"]) == ("owner/model", NEW)
    assert manifest["licence"] == "apache-2.0"
    assert manifest["total_bytes"] == sum(map(len, chosen().values()))
    assert {e["path"]: e["sha256"] for e in manifest["files"]} == {
        name: hashlib.sha256(body).hexdigest() for name, body in chosen().items()
    }
    assert not list((tmp_path / "staging").iterdir()), "what was staged stays behind"
    assert not [path for _, path, _ in hub.seen if "onnx" in path]


def test_an_older_commit_is_what_is_asked_for(hub, tmp_path):
    get(hub, tmp_path, revision=OLD, files=["config.json"])
    assert contents(tmp_path / "tiny") == {"config.json": b"old"}


def test_the_fake_hub_speaks_to_the_hubs_own_client(hub, tmp_path):
    from huggingface_hub import HfApi, snapshot_download

    snapshot_download(
        "owner/model",
        revision=NEW,
        endpoint=hub.endpoint,
        local_dir=tmp_path / "own",
        allow_patterns=CHOSEN,
    )
    shutil.rmtree(tmp_path / "own" / ".cache")
    assert {k: v for k, v in contents(tmp_path / "own").items() if "/" not in k} == chosen()
    assert HfApi(endpoint=hub.endpoint).model_info("owner/model").sha == NEW


def test_a_data_set_is_asked_for_where_data_sets_are(hub, tmp_path):
    hub.repos["owner/data"] = Repo("dataset", {NEW: {"en/a.parquet": b"1", "fr/a.parquet": b"2"}})
    wanted = read_source(
        "data", {"repo": "owner/data", "type": "dataset", "revision": NEW, "files": ["en/*"]}
    )
    manifest = fetch(tmp_path / "data", wanted, tmp_path / "staging", Client(hub))
    assert contents(tmp_path / "data") == {"en/a.parquet": b"1"}
    assert manifest["licence"] is None
    with pytest.raises(ConfigError, match="no such model"):
        get(hub, tmp_path, repo="owner/data")


def test_what_was_there_before_is_replaced_whole(hub, tmp_path):
    get(hub, tmp_path, revision=OLD, files=["config.json"])
    (tmp_path / "tiny" / "stray.txt").write_text("of another time")
    get(hub, tmp_path)
    assert contents(tmp_path / "tiny") == chosen()


# Faults that pass


@pytest.mark.parametrize("path", [INFO, PATHS["config.json"], LARGE])
def test_a_busy_hub_is_waited_for(hub, tmp_path, path):
    hub.faults[path] = [
        Fault(status=429, headers={"RateLimit": '"api";r=0;t=55'}),
        Fault(status=429, headers={"Retry-After": "7"}),
        Fault(status=503),
    ]
    client = Client(hub)
    get(hub, tmp_path, client)
    assert contents(tmp_path / "tiny") == chosen()
    assert client.waits == [56.0, 8.0, 8.0]  # told, told, and its own third wait: 2 * 2^2


def test_waits_double_and_end(hub, tmp_path):
    hub.faults[INFO] = [Fault(status=500)] * 9
    client = Client(hub, tries=5)
    with pytest.raises(PosbiasError, match=r"given up after 5 tries.*500.*run again"):
        get(hub, tmp_path, client)
    assert client.waits == [2.0, 4.0, 8.0, 16.0]
    assert Patience(longest=300).wait(20, None) == 300
    assert Patience(longest=300).wait(1, 9999) == 300


def test_a_broken_connection_goes_on_where_it_ended(hub, tmp_path):
    hub.faults[LARGE] = [Fault(cut=100_000), Fault(cut=50_000)]
    client = Client(hub)
    get(hub, tmp_path, client)
    assert contents(tmp_path / "tiny") == chosen()
    ranges = [headers.get("range") for headers in hub.asked("GET", LARGE)]
    assert ranges == [None, "bytes=100000-", "bytes=150000-"]
    assert client.waits == [2.0, 2.0], "bytes were gained: patience starts anew"


def test_more_breaks_than_patience_are_borne_while_bytes_come(hub, tmp_path):
    hub.faults[LARGE] = [Fault(cut=20_000)] * 10
    get(hub, tmp_path, Client(hub, tries=2))
    assert contents(tmp_path / "tiny") == chosen()


def test_breaks_without_a_byte_end_and_keep_what_came(hub, tmp_path):
    hub.faults[LARGE] = [Fault(cut=100_000), *[Fault(cut=0)] * 9]
    with pytest.raises(PosbiasError, match="given up after 4 tries"):
        get(hub, tmp_path)
    assert not (tmp_path / "tiny").exists()
    hub.faults.clear()
    hub.seen.clear()
    get(hub, tmp_path)
    assert [h.get("range") for h in hub.asked("GET", LARGE)] == ["bytes=100000-"]
    assert not hub.asked("GET", PATHS["config.json"]), "a file that was whole came again"
    assert contents(tmp_path / "tiny") == chosen()


def test_a_server_that_pays_no_heed_to_ranges_is_read_from_the_start(hub, tmp_path):
    hub.faults[LARGE] = [Fault(cut=100_000), Fault(whole=True)]
    get(hub, tmp_path)
    assert contents(tmp_path / "tiny") == chosen()


def test_nobody_at_the_address(tmp_path):
    nobody = Client(FakeHub())
    nobody.endpoint = "http://127.0.0.1:1"
    with pytest.raises(PosbiasError, match=r"given up after 4 tries.*ConnectError.*HTTPS_PROXY"):
        fetch(tmp_path / "tiny", source(), tmp_path / "staging", nobody)


# Faults that stay


def test_a_corrupted_file_is_told_of_and_removed(hub, tmp_path):
    for path, name in ((LARGE, "model.safetensors"), (PATHS["tokenizer.json"], "tokenizer.json")):
        hub.faults[path] = [Fault(body=b"x" * len(FILES[name]))]
        with pytest.raises(DataError, match=f"{name} came corrupted.*Run again"):
            get(hub, tmp_path)
        assert not (tmp_path / "tiny").exists()
    get(hub, tmp_path)
    assert contents(tmp_path / "tiny") == chosen()


def test_a_file_longer_than_listed_is_refused(hub, tmp_path):
    hub.faults[LARGE] = [Fault(body=WEIGHTS + b"more")]
    with pytest.raises(DataError, match="300,004 bytes came, the hub lists 300,000"):
        get(hub, tmp_path)


def test_a_hub_that_serves_another_commit_is_refused(hub, tmp_path):
    hub.served_commit = OLD
    with pytest.raises(DataError, match=f"asked for commit {NEW}, told of {OLD}"):
        get(hub, tmp_path)
    hub.served_commit = None
    client = Client(hub)
    listing = client.listing("owner/model", "model", NEW)
    hub.served_commit = OLD
    with pytest.raises(DataError, match=f"answered with commit {OLD}"):
        client.fetch("owner/model", "model", NEW, listing.files[0], tmp_path / "part", print)


def test_a_commit_that_the_hub_does_not_know(hub, tmp_path):
    with pytest.raises(ConfigError, match=f"owner/model: the hub knows no commit {ABSENT}"):
        get(hub, tmp_path, revision=ABSENT)


def test_a_repository_that_the_hub_does_not_know(hub, tmp_path):
    with pytest.raises(ConfigError, match=r"owner/modle: no such model.*private.*HF_TOKEN"):
        get(hub, tmp_path, repo="owner/modle")


def test_a_file_that_is_listed_and_not_there(hub, tmp_path):
    hub.faults[PATHS["tokenizer.json"]] = [
        Fault(status=404, headers={"X-Error-Code": "EntryNotFound"})
    ]
    with pytest.raises(DataError, match="a file that the hub lists is not there"):
        get(hub, tmp_path)


def test_a_gated_repository_asks_for_its_licence_and_a_token(hub, tmp_path, monkeypatch):
    hub.repos["owner/model"].gated, hub.token = True, "hf_secret"
    with pytest.raises(PosbiasError, match=f"gated.*{hub.endpoint}/owner/model.*HF_TOKEN"):
        get(hub, tmp_path)
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    hub.seen.clear()
    get(hub, tmp_path)
    assert contents(tmp_path / "tiny") == chosen()
    assert hub.asked("GET", PATHS["model.safetensors"])[0]["authorization"] == "Bearer hf_secret"
    assert "authorization" not in hub.asked("GET", LARGE)[0], "the storage was told the token"


@pytest.mark.parametrize("token", ["hf_“curly”", "hf_one two", "hf_one\nhf_two", "hf_\x1b"])
def test_a_token_that_no_header_can_hold_is_named_and_not_shown(hub, tmp_path, monkeypatch, token):
    monkeypatch.setenv("HF_TOKEN", token)
    with pytest.raises(ConfigError, match=r"^the environment variable HF_TOKEN holds") as caught:
        get(hub, tmp_path)
    assert not hub.seen
    assert token not in str(caught.value) and "hf_" not in str(caught.value)
    monkeypatch.setenv("HF_TOKEN", " hf_fine\n")
    get(hub, tmp_path)
    assert hub.seen


def test_a_stored_token_that_no_header_can_hold_is_named(hub, tmp_path, monkeypatch):
    (tmp_path / "token").write_text("hf_“curly”")
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", str(tmp_path / "token"))
    with pytest.raises(ConfigError, match=r"hf auth login.*HF_TOKEN.* beyond ASCII") as caught:
        get(hub, tmp_path)
    assert "curly”" not in str(caught.value)


@pytest.mark.parametrize("name", ["../../evil", "/etc/evil", "a/../../evil"])
def test_a_file_outside_of_the_repository_is_refused(hub, tmp_path, name):
    hub.repos["owner/model"].commits[NEW] = {name: b"x"}
    with pytest.raises(DataError, match="outside of the repository"):
        get(hub, tmp_path, files=["**"])


def test_a_disk_without_room_is_told_before_anything_comes(hub, tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr("posbias.downloads.fetch.shutil.disk_usage", lambda _: usage)
    with pytest.raises(PosbiasError, match="still to come"):
        get(hub, tmp_path)
    assert not [path for _, path, _ in hub.seen if "resolve" in path]


def test_a_manifest_of_the_repository_is_not_overwritten(hub, tmp_path):
    hub.repos["owner/model"].commits[NEW] = {"manifest.json": b"{}"}
    with pytest.raises(ConfigError, match="leave it out"):
        get(hub, tmp_path, files=["*"])


# Killed and run again


def test_a_job_killed_anywhere_goes_on(hub, tmp_path):
    """Stop at the n-th byte that arrives, for several n; each run adds to the one before."""

    class Killed(BaseException):
        pass

    class Dying(Client):
        def fetch(self, repo, kind, revision, file, part, progress):
            def dies(done):
                if file.path == "model.safetensors" and done >= self.dies_at:
                    raise Killed
                progress(done)

            super().fetch(repo, kind, revision, file, part, dies)

    starts = []
    for dies_at in (1, 80_000, 200_000):
        client = Dying(hub)
        client.dies_at = dies_at
        hub.seen.clear()
        with pytest.raises(Killed):
            get(hub, tmp_path, client)
        assert not (tmp_path / "tiny").exists()
        starts += [h.get("range", "bytes=0-") for h in hub.asked("GET", LARGE)]
    hub.seen.clear()
    get(hub, tmp_path)
    assert contents(tmp_path / "tiny") == chosen()
    starts += [h.get("range", "bytes=0-") for h in hub.asked("GET", LARGE)]
    firsts = [int(start.removeprefix("bytes=").removesuffix("-")) for start in starts]
    assert firsts == sorted(set(firsts)) and firsts[0] == 0 and len(firsts) == 4


def test_a_process_killed_in_a_file_goes_on_in_it(hub, tmp_path):
    # SIGKILL: nothing is cleaned up, so only what is on disk counts.
    body = random.Random(8).randbytes(40_000_000)
    hub.repos["owner/model"] = Repo("model", {NEW: {"big.bin": body}})
    path = f"/owner/model/resolve/{NEW}/big.bin"
    hub.faults[path] = [Fault(cut=20_000_000)]  # then the client waits two seconds
    arguments = {
        "artefact": str(tmp_path / "tiny"),
        "name": "tiny",
        "source": {"repo": "owner/model", "type": "model", "revision": NEW, "files": ["*"]},
        "staging": str(tmp_path / "staging"),
    }
    process = subprocess.Popen(script(tmp_path, arguments), env=shell(hub), cwd=tmp_path)
    part = tmp_path / "staging" / NEW / "parts" / "big.bin"
    limit = time.monotonic() + 60
    while not (part.exists() and part.stat().st_size) and time.monotonic() < limit:
        time.sleep(0.01)
    process.kill()
    process.wait()
    have = part.stat().st_size
    assert 0 < have <= 20_000_000 and not (tmp_path / "tiny").exists()
    hub.faults.clear()
    hub.seen.clear()
    done = subprocess.run(
        script(tmp_path, arguments), env=shell(hub), cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert [h.get("range") for h in hub.asked("GET", path)] == [f"bytes={have}-"]
    assert contents(tmp_path / "tiny") == {"big.bin": body}


def test_staged_files_of_another_commit_or_other_patterns_are_removed(hub, tmp_path):
    hub.faults[LARGE] = [Fault(body=b"x" * len(WEIGHTS))]
    with pytest.raises(DataError):
        get(hub, tmp_path)
    assert (tmp_path / "staging" / NEW / "tree" / "config.json").is_file()
    get(hub, tmp_path, files=["tokenizer.json"])
    assert contents(tmp_path / "tiny") == {"tokenizer.json": b"{}"}
    hub.faults[LARGE] = [Fault(body=b"x" * len(WEIGHTS))]
    with pytest.raises(DataError):
        get(hub, tmp_path)
    get(hub, tmp_path, revision=OLD, files=["config.json"])
    assert not list((tmp_path / "staging").iterdir())


def test_another_disk_for_the_artefact(hub, tmp_path, monkeypatch):
    import errno

    real = Path.replace

    def replace(self, target):
        if self.name == "tree":
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    copy, copied = shutil.copy2, []

    def fills_up(source, target, **options):
        if len(copied) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        copied.append(target)
        return copy(source, target, **options)

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copytree", partial(shutil.copytree, copy_function=fills_up))
        with pytest.raises(PosbiasError):
            get(hub, tmp_path)
    assert not (tmp_path / "tiny").exists(), "half an artefact"
    hub.seen.clear()
    get(hub, tmp_path)
    assert not hub.asked("GET", LARGE), "what was staged came again"
    assert contents(tmp_path / "tiny") == chosen()
    checked_artefact(tmp_path / "tiny", hashes=True)


# The config


@pytest.mark.parametrize("revision", [None, "main", "abc1234", NEW.upper(), NEW + "0", 1234567])
def test_a_revision_that_is_no_commit_says_how_to_find_one(revision):
    with pytest.raises(ConfigError, match=r"downloads\.tiny\.revision.*pin_revisions\.py"):
        source(revision=revision)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"repo": None}, "give a repo"),
        ({"repo": "model"}, "expected owner/name"),
        ({"type": "space"}, "known: model, dataset"),
        ({"files": []}, "name what to fetch"),
        ({"branch": "main"}, r"unknown key\(s\) branch"),
    ],
)
def test_a_wrong_source_is_named(changes, message):
    with pytest.raises(ConfigError, match=message):
        source(**changes)


def test_a_pattern_without_a_match_names_what_is_near(hub, tmp_path):
    with pytest.raises(ConfigError, match=r"owner/model.*'tokeniser\.json'.*tokenizer\.json"):
        get(hub, tmp_path, files=["config.json", "tokeniser.json"])


@pytest.mark.parametrize(
    ("pattern", "matches", "others"),
    [
        ("*.json", ["a.json", ".json"], ["x/a.json", "a.jsonl", "ajson"]),
        ("**/*.json", ["a.json", "x/a.json", "x/y/a.json"], ["a.txt"]),
        ("x/**", ["x/a", "x/y/a"], ["y/x/a", "xa"]),
        ("**", ["a", "x/y"], []),
        ("a?.txt", ["ab.txt"], ["a.txt", "a/.txt"]),
        ("a[1].txt", ["a[1].txt"], ["a1.txt"]),
        ("**/en/*_b/**", ["en/a_b/c", "x/en/a_b/c/d"], ["en/x/a_b/c", "fen/a_b/c"]),
    ],
)
def test_patterns(pattern, matches, others):
    assert [n for n in (*matches, *others) if as_regex(pattern).fullmatch(n)] == matches
    assert chosen_files("here", [*others, *matches], [pattern]) == sorted(matches)


# Offline


def test_offline_says_what_to_run_and_asks_nobody(hub, tmp_path, monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ConfigError, match=r"snakemake --profile profiles/paper downloads/tiny"):
        get(hub, tmp_path)
    with pytest.raises(ConfigError, match="HF_HUB_OFFLINE"):
        Client(hub).listing("owner/model", "model", None)
    assert not hub.seen


# A folder of the user's


def folder_with(tmp_path: Path, files: dict[str, bytes]) -> Path:
    folder = tmp_path / "given"
    for name, body in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(body)
    return folder


def test_a_folder_is_taken_as_it_is(tmp_path):
    folder = folder_with(tmp_path, {**FILES, ".git/config": b"x"})
    manifest = adopt(tmp_path / "tiny", source(path=str(folder)))
    assert contents(tmp_path / "tiny") == chosen()
    assert manifest["origin"] == str(folder)
    assert manifest["revision"] == NEW
    checked_artefact(tmp_path / "tiny", {"repo": "owner/model", "revision": NEW}, hashes=True)
    everything = adopt(tmp_path / "all", read_source("all", {"path": str(folder)}))
    assert contents(tmp_path / "all") == FILES
    assert (everything["repo"], everything["revision"]) == (None, None)


def test_links_of_a_cache_are_followed(tmp_path):
    blobs = folder_with(tmp_path, {"blob": b"weights"})
    (tmp_path / "snapshot").mkdir()
    (tmp_path / "snapshot" / "model.bin").symlink_to(blobs / "blob")
    adopt(tmp_path / "tiny", read_source("tiny", {"path": str(tmp_path / "snapshot")}))
    shutil.rmtree(blobs)
    assert contents(tmp_path / "tiny") == {"model.bin": b"weights"}


def test_an_artefact_of_another_machine_is_checked_and_keeps_its_revision(hub, tmp_path):
    fetched = get(hub, tmp_path)
    shutil.copytree(tmp_path / "tiny", tmp_path / "copy")
    wanted = read_source("tiny", {"path": str(tmp_path / "copy")})
    adopted = adopt(tmp_path / "here", wanted)
    same = ("repo", "type", "revision", "licence", "files", "total_bytes")
    assert {k: adopted[k] for k in same} == {k: fetched[k] for k in same}

    with pytest.raises(DataError, match=f"revision is {NEW}, the config says {OLD}"):
        adopt(tmp_path / "here", source(revision=OLD, path=str(tmp_path / "copy")))
    (tmp_path / "copy" / "stray.txt").write_text("x")
    with pytest.raises(DataError, match=r"stray\.txt not in its manifest"):
        adopt(tmp_path / "here", wanted)
    (tmp_path / "copy" / "stray.txt").unlink()
    (tmp_path / "copy" / "tokenizer.json").write_bytes(b"[]")
    with pytest.raises(DataError, match=r"tokenizer\.json: corrupted"):
        adopt(tmp_path / "here", wanted)
    assert contents(tmp_path / "here") == chosen(), "a fault took what was there"


def test_a_pointer_in_place_of_a_file_is_told_of(tmp_path):
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    folder = folder_with(tmp_path, {"model.bin": pointer})
    with pytest.raises(DataError, match=r"model\.bin: only a pointer.*git lfs pull"):
        adopt(tmp_path / "tiny", read_source("tiny", {"path": str(folder)}))
    assert not (tmp_path / "tiny").exists()


def test_a_folder_without_what_is_wanted(tmp_path):
    with pytest.raises(ConfigError, match="is no folder"):
        adopt(tmp_path / "tiny", source(path=str(tmp_path / "nowhere")))
    folder = folder_with(tmp_path, {"config.jsn": b"{}"})
    with pytest.raises(ConfigError, match=r"'config\.json'.*config\.jsn"):
        adopt(tmp_path / "tiny", source(path=str(folder), files=["config.json"]))


# The check of who loads it


def test_the_check_accepts_what_was_fetched(hub, tmp_path):
    told = {"repo": "owner/model", "type": "model", "revision": NEW, "files": CHOICE}
    manifest = get(hub, tmp_path)
    assert checked_artefact(tmp_path / "tiny", told) == manifest
    assert checked_artefact(tmp_path / "tiny", {**told, "revision": None}, hashes=True) == manifest


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (lambda f: shutil.rmtree(f), r"manifest\.json: no such file.*downloads/tiny"),
        (lambda f: (f / "manifest.json").unlink(), "no complete download"),
        (lambda f: (f / "manifest.json").write_text("{}"), "no manifest"),
        (lambda f: (f / "manifest.json").write_text("{"), "not valid JSON"),
        (lambda f: (f / "config.json").unlink(), r"config\.json: missing"),
        (lambda f: (f / "config.json").write_bytes(b""), r"config\.json: 0 bytes, .* says 18"),
    ],
)
def test_the_check_refuses(hub, tmp_path, fault, message):
    get(hub, tmp_path)
    fault(tmp_path / "tiny")
    with pytest.raises(DataError, match=message):
        checked_artefact(tmp_path / "tiny")


def test_the_check_compares_with_the_config_and_reads_files_only_if_asked(hub, tmp_path):
    get(hub, tmp_path)
    with pytest.raises(DataError, match=f"revision is {NEW}, the config says {OLD}"):
        checked_artefact(tmp_path / "tiny", {"revision": OLD})
    with pytest.raises(DataError, match="repo is owner/model"):
        checked_artefact(tmp_path / "tiny", {"repo": "owner/other"})
    with pytest.raises(ConfigError, match="no file matches"):
        checked_artefact(tmp_path / "tiny", {"files": ["vocab.txt"]})
    (tmp_path / "tiny" / "tokenizer.json").write_bytes(b"[]")  # of the same length
    checked_artefact(tmp_path / "tiny")
    with pytest.raises(DataError, match="corrupted"):
        checked_artefact(tmp_path / "tiny", hashes=True)


# The scripts


def shell(hub: FakeHub, **more: str) -> dict[str, str]:
    dropped = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_TOKEN")
    kept = {key: value for key, value in os.environ.items() if key not in dropped}
    return {**kept, "HF_ENDPOINT": hub.endpoint, "NO_PROXY": "127.0.0.1", **more}


def script(folder: Path, arguments: dict) -> list[str]:
    (folder / "arguments.json").write_text(json.dumps(arguments))
    return [sys.executable, str(SCRIPTS / "fetch_artefact.py"), "--config", "arguments.json"]


def test_the_script_fetches_and_tells_faults_in_one_line(hub, tmp_path):
    arguments = {
        "artefact": str(tmp_path / "downloads" / "tiny"),
        "name": "tiny",
        "source": {"repo": "owner/model", "type": "model", "revision": NEW, "files": CHOICE},
        "staging": str(tmp_path / "staging"),
    }

    def run(**more):
        return subprocess.run(
            script(tmp_path, arguments),
            env=shell(hub, **more),
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )

    offline = run(HF_HUB_OFFLINE="1")
    assert offline.returncode == 1
    assert "snakemake --profile profiles/paper downloads/tiny" in offline.stderr
    assert "Traceback" not in offline.stderr
    done = run()
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "downloads" / "tiny") == chosen()
    assert "4 files" in done.stderr and "apache-2.0" in done.stderr
    assert "/storage/" not in done.stderr, "addresses of the storage are secret"


def test_pins_are_printed_as_an_overlay(hub, tmp_path, capsys):
    from pin_revisions import main

    base, overlay = tmp_path / "config.yaml", tmp_path / "paper.yaml"
    base.write_text(yaml.safe_dump({"downloads": {}}))
    known = {
        "pinned": {"repo": "owner/model", "type": "model", "revision": OLD, "files": ["*"]},
        "open": {"repo": "owner/model", "type": "model", "revision": None, "files": ["*"]},
        "mine": {"path": "/somewhere"},
    }
    overlay.write_text(yaml.safe_dump({"downloads": known}))
    assert main([base, overlay], False, Client(hub)) == 0
    printed = capsys.readouterr().out
    assert yaml.safe_load(printed) == {"downloads": {"open": {"revision": NEW}}}
    assert "owner/model" in printed
    assert main([base, overlay], True, Client(hub)) == 0
    printed = capsys.readouterr().out
    assert yaml.safe_load(printed)["downloads"]["pinned"] == {"revision": NEW}
    assert f"was {OLD}" in printed


def test_a_repository_that_cannot_be_pinned_does_not_hide_the_others(hub, tmp_path, capsys):
    from pin_revisions import main

    config = tmp_path / "config.yaml"
    known = {
        "gone": {"repo": "owner/gone", "type": "model"},
        "open": {"repo": "owner/model", "type": "model"},
    }
    config.write_text(yaml.safe_dump({"downloads": known}))
    assert main([config], False, Client(hub)) == 1
    assert yaml.safe_load(capsys.readouterr().out) == {"downloads": {"open": {"revision": NEW}}}
    with pytest.raises(ConfigError, match="not a readable configuration"):
        main([tmp_path / "absent.yaml"], False, Client(hub))
