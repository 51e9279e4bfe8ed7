"""Options of benchmarks: a wrong one is named before any data are read, a right one passes."""

import inspect
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posbias.benchmarks.loaders import LOADERS, check_loader, load
from posbias.errors import ConfigError

NEEDED = {
    "heldout": {"queries_per_position": 1},
    "leads": {"min_chars": 1, "max_chars": 9, "documents": 2, "queries": 1},
    "reversed": {"segments": 5},
}
SAMPLES = {"squad": {"by": "keyed", "size": 3}, "fineweb": {"by": "public", "per_position": 3}}
RIGHT = [
    *NEEDED.items(),
    *(
        (kind, {"duplicate_questions": way, "sample": sample})
        for kind, of_kind in SAMPLES.items()
        for way in ("keep", "last")
        for sample in (None, of_kind)
    ),
    *(("squad", {"misplaced_answers": way}) for way in ("count", "drop", "error")),
    ("fineweb", {"span_unit": None}),
    ("fineweb", {"span_unit": "characters"}),
    ("posir", {"domains": "all", "language": "fra-Latn"}),
    ("posir", {"domains": ["news", "law"]}),
    ("beir", {"split": "dev", "title_separator": "\n", "exclude_identical_ids": False}),
    ("beir", {"title_separator": None, "sample_documents": None}),
    ("beir", {"title_separator": "", "sample_documents": 0}),
]
WRONG = [
    ("heldout", {}, "missing a required argument: 'queries_per_position'"),
    ("heldout", {"queries_per_position": 0}, "queries_per_position must be a whole number"),
    ("heldout", {"queries_per_position": True}, "queries_per_position must be a whole number"),
    ("squad", {"duplicate_questions": "first"}, "'first' is not one of keep, last"),
    ("squad", {"misplaced_answers": "mend"}, "misplaced_answers 'mend' is not one of count, drop"),
    ("squad", {"misplaced_answers": ["drop"]}, r"misplaced_answers \['drop'\] is not one of"),
    ("squad", {"sample": {"by": "chance", "size": 3}}, r"sample\.by 'chance' is not one of public"),
    ("squad", {"sample": {"by": "keyed", "size": 0}}, r"sample\.size must be a whole number of"),
    ("squad", {"sample": {"by": "keyed", "size": "3"}}, r"sample\.size must be .*, is '3'"),
    ("squad", {"sample": {"by": "keyed"}}, "sample: .*'size'; its options: by, size"),
    ("squad", {"sample": {"size": 3}}, "sample: .*'by'"),
    ("squad", {"sample": {}}, "sample: .*'by'"),
    ("squad", {"sample": []}, r"sample must be null, or by and size, is \[\]"),
    ("squad", {"sample": 10}, "sample must be null, or by and size, is 10"),
    ("fineweb", {"sample": {"by": "public", "size": 3}}, "its options: by, per_position"),
    ("fineweb", {"sample": {"by": "public", "per_position": 0.5}}, r"sample\.per_position must"),
    ("fineweb", {"span_unit": "words"}, "span_unit 'words' is not one of None, characters"),
    ("posir", {"domains": "news"}, "domains must be a list of names or all, is 'news'"),
    ("posir", {"domains": None}, "domains must be a list of names or all, is None"),
    ("posir", {"domains": {"news": 1}}, "domains must be a list of names or all"),
    ("posir", {"domains": []}, "domains must hold one name or more"),
    ("posir", {"domains": ["news", 5]}, "domains must hold .* only texts"),
    ("posir", {"domains": ["news", "law", "news"]}, "domains names one twice: news, law, news"),
    ("posir", {"language": 5}, "language must be a text, is 5"),
    ("beir", {"split": 1}, "split must be a text, is 1"),
    ("beir", {"title_separator": 5}, "title_separator must be a text, is 5"),
    ("beir", {"exclude_identical_ids": "yes"}, "must be true or false, is 'yes'"),
    ("beir", {"exclude_identical_ids": 1}, "must be true or false, is 1"),
    ("beir", {"sample_documents": "x"}, "sample_documents must be .* of at least 0, is 'x'"),
    ("beir", {"sample_documents": -1}, "sample_documents must be a whole number of at least 0"),
    ("beir", {"sample_documents": 2.5}, "sample_documents must be a whole number"),
    ("beir", {"sample_documents": True}, "sample_documents must be a whole number"),
    ("beir", {"tiny": True}, "unexpected keyword argument 'tiny'; its options: split, title_sep"),
    ("leads", {**NEEDED["leads"], "max_chars": "9"}, "max_chars must be .*, is '9'"),
    ("leads", {**NEEDED["leads"], "documents": None}, "documents must be a whole number"),
    ("leads", {"min_chars": 1, "max_chars": 9, "documents": 2}, "argument: 'queries'"),
    ("reversed", {}, "missing a required argument: 'segments'"),
    ("reversed", {"segments": 1}, "segments must be a whole number of at least 2, is 1"),
    ("beir", {5: "x"}, "keywords must be strings; its options"),
    ("beir", None, "its options: split"),
    ("beir", ["split"], "its options: split"),
]


@pytest.mark.parametrize(("kind", "options"), RIGHT)
def test_a_right_option_passes(kind, options):
    check_loader("mine", kind, options)


@pytest.mark.parametrize(("kind", "options", "message"), WRONG)
def test_a_wrong_option_is_named_before_and_when_data_are_read(tmp_path, kind, options, message):
    with pytest.raises(
        ConfigError, match=rf"^config, benchmarks\.known\.mine\.options: .*{message}"
    ):
        check_loader("mine", kind, options)
    # The options come first: a folder that is not there is a fault of the data.
    with pytest.raises(ConfigError, match=f"^benchmarks: options of kind {kind}: .*{message}"):
        load(kind, [tmp_path / "gone"], options, 1)


@pytest.mark.parametrize("kind", ["trec", "", None, ["beir"]])
def test_a_kind_that_does_not_exist_is_named_with_those_there_are(kind):
    with pytest.raises(ConfigError) as caught:
        check_loader("mine", kind, {})
    assert str(caught.value) == (
        f"config, benchmarks.known.mine: kind {kind!r} is not one of heldout, squad, fineweb, "
        "posir, beir, leads, reversed."
    )


@pytest.mark.parametrize("kind", LOADERS)
def test_every_option_of_a_loader_has_a_check_which_its_default_passes(kind):
    taken = dict(list(inspect.signature(LOADERS[kind].load).parameters.items())[2:])
    assert taken.keys() == LOADERS[kind].options.keys()
    defaults = {
        name: option.default
        for name, option in taken.items()
        if option.default is not inspect.Parameter.empty
    }
    check_loader("mine", kind, {**NEEDED.get(kind, {}), **defaults})


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


@given(
    st.sampled_from([(kind, name) for kind in LOADERS for name in LOADERS[kind].options]), ANYTHING
)
def test_no_value_at_all_ends_in_another_fault(option, value):
    kind, name = option
    try:
        check_loader("mine", kind, {**NEEDED.get(kind, {}), name: value})
    except ConfigError as fault:
        assert f"options: {name}" in str(fault)


def test_the_checks_load_no_library_that_is_slow_to_import(scripts):
    code = (
        "import sys; from posbias.benchmarks.loaders import check_loader\n"
        "check_loader('mine', 'beir', {'split': 'test'})\n"
        "print(*(m for m in ('torch', 'pyarrow', 'transformers', 'pandas', 'ir_measures')"
        " if m in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=scripts, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""
