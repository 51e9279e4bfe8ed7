"""What several test files share: the checkout, its configuration, a tiny encoder, fake packages."""

import hashlib
import os
from pathlib import Path

import pytest
import yaml
from hypothesis import settings

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

# A busy machine must not fail a test: no example has a time limit of its own.
settings.register_profile("posbias", deadline=None)
settings.load_profile("posbias")


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return Path(__file__).parents[1]


@pytest.fixture(scope="session")
def scripts(root) -> Path:
    """The folder of the scripts and the library."""
    return root / "workflow" / "scripts"


@pytest.fixture(scope="session")
def config(root) -> dict:
    """The mini scale's configuration; copy it before you change it."""
    return yaml.safe_load((root / "config.yaml").read_text("utf-8"))


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory) -> Path:
    """A SentenceTransformer folder: one random BERT layer and the letters' own WordPiece."""
    torch = pytest.importorskip("torch")
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizer

    folder = tmp_path_factory.mktemp("encoder") / "tiny"
    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,"
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters]
    vocabulary += [f"##{letter}" for letter in letters]
    tokenizer = BertTokenizer(vocab={token: i for i, token in enumerate(vocabulary)})
    torch.manual_seed(0)
    body = BertModel(
        BertConfig(
            vocab_size=len(vocabulary),
            hidden_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=64,
            initializer_range=0.3,
        )
    )
    body.save_pretrained(folder / "body")
    tokenizer.save_pretrained(folder / "body")
    transformer = Transformer(str(folder / "body"), max_seq_length=128)
    pooling = Pooling(32, "mean")
    SentenceTransformer(modules=[transformer, pooling], device="cpu").save(
        str(folder), create_model_card=False
    )
    return folder


@pytest.fixture
def fake_package(tmp_path, monkeypatch):
    """Return a function that installs a package of given files and yields its file hashes."""

    def install(name: str, files: dict[str, bytes], unlisted: tuple[str, ...] = ()) -> dict:
        site = tmp_path / "site"
        info = site / f"{name.replace('-', '_')}-1.0.dist-info"
        info.mkdir(parents=True)
        for file, content in files.items():
            path = site / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        listed = [file for file in files if file not in unlisted]
        (info / "RECORD").write_text("".join(f"{file},,\n" for file in listed))
        monkeypatch.syspath_prepend(str(site))
        return {file: hashlib.sha256(content).hexdigest() for file, content in files.items()}

    return install
