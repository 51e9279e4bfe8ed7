"""What is written does not depend on whether the hub's variable forbids the network or not."""

import os
import subprocess
import sys

import pytest

WRITING = """
import sys
from pathlib import Path
import yaml
import prepare_encoders
from posbias.models.retriever import build_retriever
out, config = Path(sys.argv[1]), yaml.safe_load(Path(sys.argv[2]).read_text("utf-8"))
assets = {name: {key: value for key, value in asset.items() if key != "licence"}
          for name, asset in config["assets"].items()}
l6, l3 = out / "minilm_l6", out / "minilm_l3"
prepare_encoders.main(minilm_l6=l6, minilm_l3=l3, assets=assets, max_tokens=64)
for name in ("bert", "gpt2", "modernbert_base"):
    entry = config["retrievers"]["known"][name]
    model = build_retriever(entry, l6, config["retrievers"]["token_vectors_std"], 64, 1)
    model.save(str(out / name), create_model_card=False)
"""


@pytest.mark.slow
def test_encoders_and_retrievers_have_the_same_bytes(root, scripts, tmp_path):
    writing = [
        subprocess.Popen(
            [sys.executable, "-c", WRITING, tmp_path / value, root / "config.yaml"],
            cwd=scripts,
            env={**os.environ, "HF_HUB_OFFLINE": value},
        )
        for value in ("0", "1")
    ]
    assert [process.wait() for process in writing] == [0, 0]
    written = [
        {
            path.relative_to(tmp_path / value).as_posix(): path.read_bytes()
            for path in (tmp_path / value).rglob("*")
            if path.is_file()
        }
        for value in ("0", "1")
    ]
    assert len(written[0]) > 20
    assert written[0].keys() == written[1].keys()
    assert [name for name in written[0] if written[0][name] != written[1][name]] == []
