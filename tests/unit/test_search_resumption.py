"""A search that was killed goes on from its last block, and finds the same."""

import pytest

import search_corpus
from posbias.benchmarks import corpus_search
from posbias.files import read_json
from search_toy import (
    NAME,
    ONE,
    N,
    WordRetriever,
    assert_same,
    merged,
    search,
)


@pytest.fixture
def models(toy_retrievers):
    return toy_retrievers


@pytest.fixture
def files(toy_collection):
    return toy_collection


class Killed(Exception):
    """Stands for a killed job."""


class DyingRetriever(WordRetriever):
    """Dies once it has encoded `life` blocks; then lives on."""

    def __init__(self, life: int) -> None:
        super().__init__(1000)
        self.life = life

    def encode_documents(self, texts):
        if self.life == 0:
            self.life = -1
            raise Killed
        self.life -= 1
        return super().encode_documents(texts)


@pytest.mark.parametrize("life", [0, 1, 3, 5])
def test_a_killed_search_goes_on_from_its_last_block(models, files, tmp_path, monkeypatch, life):
    monkeypatch.setattr(corpus_search, "SAVE_SECONDS", 0)
    models["dying"] = DyingRetriever(life)
    chosen = {"models": ("whole", "dying"), "resume": tmp_path / "states/shard"}
    with pytest.raises(Killed):
        search(files, tmp_path, **chosen)
    assert len(models["whole"].encoded) == N
    found = search(files, tmp_path, **chosen)
    assert len(models["whole"].encoded) == N  # a finished setting is not encoded again
    assert len(models["dying"].encoded) == N  # nor a block that was saved
    assert not (tmp_path / "states").exists()
    unbroken = search(files, tmp_path / "unbroken", models=("whole", "whole"))
    for broken, whole in zip(found["hits"], unbroken["hits"], strict=True):
        assert broken.read_bytes() == whole.read_bytes()
    of_both = [read_json(one["infos"][0]) for one in (found, unbroken)]
    assert of_both[0]["evidence_truncated"] == of_both[1]["evidence_truncated"]
    assert of_both[0]["documents"] == of_both[1]["documents"] == {NAME: N}


@pytest.mark.parametrize("fault", ["other queries", "other checkpoint", "other blocks", "damaged"])
def test_a_state_that_does_not_fit_is_not_gone_on_from(models, files, tmp_path, monkeypatch, fault):
    monkeypatch.setattr(corpus_search, "SAVE_SECONDS", 0)
    models["dying"] = DyingRetriever(3)
    chosen = {"models": ("dying",), "settings": ("begin",), "resume": tmp_path / "states"}
    with pytest.raises(Killed):
        search(files, tmp_path, **chosen)
    state = tmp_path / "states/begin.npz"
    if fault == "damaged":
        state.write_bytes(state.read_bytes()[:300])
    elif fault == "other queries":
        files["queries"].write_text(files["queries"].read_text().replace('"end001"', '"end002"'))
    elif fault == "other checkpoint":
        monkeypatch.setattr(search_corpus, "checked_settings", lambda *names: {"seed": 43})
    changed = {"block_documents": 9} if fault == "other blocks" else {}
    found = search(files, tmp_path, **chosen, **changed)
    assert len(models["dying"].encoded) == 3 * 8 + N
    assert_same(merged(found), merged(search(files, tmp_path / "whole", **ONE)))


def test_without_a_folder_to_resume_from_nothing_is_kept(models, files, tmp_path):
    before = set(tmp_path.iterdir())
    search(files, tmp_path, **ONE)
    assert {path.name for path in set(tmp_path.iterdir()) - before} == {"search"}
