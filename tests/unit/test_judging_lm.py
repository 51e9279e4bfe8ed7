"""A local judge: it can only say yes or no, whatever shares its batch, and is asked once."""

import pytest

import audit_queries
from audit_toy import arguments, outputs
from posbias.files import read_json
from posbias.queries.llm_judge import judge_prompt


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """The folder of a random model of two narrow layers with a chat template."""
    torch = pytest.importorskip("torch")
    from listwise_models import byte_level_tokenizer, tiny_llama

    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("lm")
    tokenizer = byte_level_tokenizer()
    tiny_llama(tokenizer).save_pretrained(str(folder))
    tokenizer.save_pretrained(str(folder))
    return folder


def local_entry(**options) -> dict:
    options = {"max_tokens": 2048, "max_new_tokens": 8, "temperature": 1.0, **options}
    return {"kind": "local_lm", "options": {"model": "tiny", **options}}


def test_a_local_judge_fills_in_yes_or_no_and_is_asked_once(tiny, tmp_path, monkeypatch):
    from posbias.queries.judging_lm import JudgingLm

    given = arguments(tmp_path, "lm", local_entry(fill_form=True), models=[tiny],
                      model_names=["tiny"], per_stratum=2)  # fmt: skip
    audit_queries.main(**given)
    summary = read_json(given["summary"])
    assert summary["counts"]["unreadable"] == {}
    assert summary["counts"]["yes"] and summary["counts"]["no"]  # it may say both
    first = outputs(given)
    monkeypatch.setattr(JudgingLm, "_complete", None)  # whoever asks it again fails
    audit_queries.main(**given)
    assert outputs(given) == first
    given["entry"] = local_entry(fill_form=True, temperature=0.5)
    with pytest.raises(TypeError):  # other settings are another judge
        audit_queries.main(**given)


def test_a_local_judge_depends_on_no_batch_and_its_form_is_no_generator_s(tiny):
    from posbias.queries.chat import ChatRequest
    from posbias.queries.judging_lm import FORM, JudgingLm
    from posbias.queries.local_lm import LocalLm
    from posbias.queries.prompts import FORMS

    requests = [ChatRequest(f"q{i}|segment1", judge_prompt("q " * i, "a b " * i)) for i in range(6)]
    options = {"max_tokens": 2048, "max_new_tokens": 8, "temperature": 1.0}
    whole = JudgingLm.load(tiny, "tiny", 1, fill_form=True, batch_tokens=9000, **options)
    single = JudgingLm.load(tiny, "tiny", 1, fill_form=True, batch_tokens=1, **options)
    by_key = {a.key: a for a in whole.answers(requests)}
    assert {a.key: a for a in single.answers(requests[::-1])} == by_key
    assert {a.text for a in by_key.values()} <= {'{"answer": "yes"}', '{"answer": "no"}'}
    assert all(a.finish == "stop" for a in by_key.values())
    assert whole.settings["form"] == FORM
    free = JudgingLm.load(tiny, "tiny", 1, **options)
    plain = LocalLm.load(tiny, "tiny", 1, **options)
    assert free.settings == plain.settings
    assert list(free.answers(requests)) == list(plain.answers(requests))
    assert LocalLm.load(tiny, "tiny", 1, fill_form=True, **options).settings["form"] == FORMS
