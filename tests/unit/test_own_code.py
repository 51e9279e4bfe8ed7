"""Models that bring their own code: run where allowed, pinned and local, nowhere else."""

import hashlib
import json
import shutil
import sys

import numpy as np
import pytest

from posbias.errors import ConfigError, DataError
from posbias.queries.panel import make_member
from small_cross_encoder import save_random

torch = pytest.importorskip("torch")

SEGMENTS = [("glacier river", "castle wall", "desert sand")]
CODE = """
from transformers import BertConfig, BertForSequenceClassification

from .shift import SHIFT


class OwnConfig(BertConfig):
    model_type = "own_bert"


class OwnForSequenceClassification(BertForSequenceClassification):
    config_class = OwnConfig

    def forward(self, *args, **kwargs):
        output = super().forward(*args, **kwargs)
        output.logits = output.logits + SHIFT
        return output
"""
FILES = {"modeling_own.py": CODE, "shift.py": "SHIFT = 5.0\n"}
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(scope="module", autouse=True)
def module_cache(tmp_path_factory):
    """Keep the library's copies of the code among the tests' files."""
    cache = str(tmp_path_factory.mktemp("modules"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", cache)
        patch.setattr(sys, "path", list(sys.path))  # the library adds the folder
        yield
    for name in [name for name in sys.modules if name.startswith("transformers_modules")]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    torch.set_num_threads(1)
    return save_random(tmp_path_factory.mktemp("random") / "tiny")


def pin(folder, revision=COMMIT):
    files = [
        {"path": path.name, "bytes": path.stat().st_size,
         "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        for path in sorted(folder.iterdir())
    ]  # fmt: skip
    manifest = {"name": folder.name, "repo": "owner/own", "type": "model", "revision": revision,
                "licence": None, "files": files, "total_bytes": 0}  # fmt: skip
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def own_model(folder, plain, prefix="", code=True):
    """Save the plain model as one of a class of its own, not pinned yet."""
    shutil.copytree(plain, folder)
    config = json.loads((folder / "config.json").read_text())
    config |= {
        "model_type": "own_bert",
        "architectures": ["OwnForSequenceClassification"],
        "auto_map": {
            "AutoConfig": f"{prefix}modeling_own.OwnConfig",
            "AutoModelForSequenceClassification":
                f"{prefix}modeling_own.OwnForSequenceClassification",
        },
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config))
    return write_code(folder) if code else folder


def write_code(folder):
    folder.mkdir(exist_ok=True)
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


def scores(folder, **options):
    options = {"model": folder, "max_tokens": 60, "batch_tokens": 200, **options}
    member = make_member("ce", "cross_encoder", SEGMENTS, options)
    return member.score(["castle river"], np.array([0])).raw


def test_own_code_runs_where_it_is_allowed_and_pinned(tmp_path, plain):
    own = pin(own_model(tmp_path / "own", plain))
    assert scores(own, trust_remote_code=True) == pytest.approx(scores(plain) + 5, abs=1e-5)


def test_own_code_does_not_run_by_default(tmp_path, plain):
    own = pin(own_model(tmp_path / "own", plain))
    with pytest.raises(ConfigError, match=r"own brings its own code .*trust_remote_code: true"):
        scores(own)


def test_a_known_model_type_does_not_hide_own_code(tmp_path, plain):
    # The library would take its own class for the type, and leave the model's aside.
    own = pin(own_model(tmp_path / "own", plain))
    config = json.loads((own / "config.json").read_text())
    (own / "config.json").write_text(json.dumps({**config, "model_type": "bert"}))
    with pytest.raises(ConfigError, match="brings its own code"):
        scores(own)


@pytest.mark.parametrize("revision", [None, "main", COMMIT[:39], COMMIT.upper(), COMMIT + "\n"])
def test_own_code_of_no_commit_does_not_run(tmp_path, plain, revision):
    own = own_model(tmp_path / "own", plain)
    if revision:
        pin(own, revision)
    with pytest.raises(ConfigError, match="no download of a commit"):
        scores(own, trust_remote_code=True)


def test_trust_is_refused_to_a_folder_of_no_commit_even_if_it_has_no_code(plain):
    with pytest.raises(ConfigError, match="no download of a commit"):
        scores(plain, trust_remote_code=True)


def test_code_that_was_changed_after_the_download_does_not_run(tmp_path, plain):
    own = pin(own_model(tmp_path / "own", plain))
    (own / "shift.py").write_text("SHIFT = 7.0\n")
    with pytest.raises(DataError, match=r"shift\.py: corrupted"):
        scores(own, trust_remote_code=True)


@pytest.mark.parametrize(
    "name", ["extra.py", "below/extra.py", "tokenizer_config.json", "new.json"]
)
def test_code_and_settings_that_the_download_did_not_bring_stop_it(tmp_path, plain, name):
    own = own_model(tmp_path / "own", plain)
    (own / name).unlink(missing_ok=True)
    pin(own)
    (own / name).parent.mkdir(exist_ok=True)
    (own / name).write_text('{"auto_map": {}}' if name.endswith("json") else "SHIFT = 9.0\n")
    with pytest.raises(DataError, match=rf"{name}: not in manifest\.json"):
        scores(own, trust_remote_code=True)


def test_a_class_chosen_after_the_download_does_not_run(tmp_path, plain):
    # All code is as it came, but the config names another part of it.
    own = own_model(tmp_path / "own", plain)
    (own / "other.py").write_text(CODE.replace("+ SHIFT", "- SHIFT"))
    pin(own)
    config = (own / "config.json").read_text()
    (own / "config.json").write_text(config.replace("modeling_own.OwnFor", "other.OwnFor"))
    with pytest.raises(DataError, match=r"own/config\.json: "):
        scores(own, trust_remote_code=True)
    # The same change of the same length is found by its hash.
    swapped = config.replace("modeling_own.OwnFor", "modelinh_own.OwnFor")
    (own / "config.json").write_text(swapped)
    with pytest.raises(DataError, match=r"own/config\.json: corrupted"):
        scores(own, trust_remote_code=True)


def test_added_code_in_the_other_repository_stops_it_too(tmp_path, plain):
    own = pin(own_model(tmp_path / "own", plain, prefix="owner/impl--", code=False))
    code = pin(write_code(tmp_path / "impl"))
    (code / "more.py").write_text("")
    with pytest.raises(DataError, match=r"impl/more\.py: not in manifest\.json"):
        scores(own, trust_remote_code=True, code=code)


@pytest.mark.parametrize("where", ["config", "tokenizer"])
def test_own_code_of_a_part_alone_is_refused_as_well(tmp_path, plain, where):
    own = write_code(shutil.copytree(plain, tmp_path / "own"))
    path = own / ("config.json" if where == "config" else "tokenizer_config.json")
    mapped = {"AutoConfig": "modeling_own.OwnConfig"}
    if where == "tokenizer":
        mapped = {"AutoTokenizer": [None, "modeling_own.OwnTokenizer"]}
    path.write_text(json.dumps({**json.loads(path.read_text()), "auto_map": mapped}))
    with pytest.raises(ConfigError, match=r"panel\.ce: .*own brings its own code \(auto_map of"):
        scores(own)


def test_code_in_another_repository_is_taken_from_its_download(tmp_path, plain):
    own = pin(own_model(tmp_path / "own", plain, prefix="owner/impl--", code=False))
    before = sorted(path.name for path in own.iterdir())
    code = pin(write_code(tmp_path / "impl"))
    found = scores(own, trust_remote_code=True, code=code)
    assert found == pytest.approx(scores(plain) + 5, abs=1e-5)
    assert sorted(path.name for path in own.iterdir()) == before


def test_code_in_another_repository_is_never_fetched(tmp_path, plain):
    own = pin(own_model(tmp_path / "own", plain, prefix="owner/impl--", code=False))
    with pytest.raises(ConfigError, match=r"modeling_own\.py, lies in the repository owner/impl"):
        scores(own, trust_remote_code=True)


def test_code_of_another_repository_that_lies_beside_the_model_is_taken(tmp_path, plain):
    own = pin(own_model(tmp_path / "own", plain, prefix="owner/impl--"))
    assert scores(own, trust_remote_code=True) == pytest.approx(scores(plain) + 5, abs=1e-5)


def test_the_other_repository_must_be_pinned_too(tmp_path, plain):
    own = pin(own_model(tmp_path / "own", plain, prefix="owner/impl--", code=False))
    code = write_code(tmp_path / "impl")
    with pytest.raises(ConfigError, match="impl, which is no download of a commit"):
        scores(own, trust_remote_code=True, code=code)
