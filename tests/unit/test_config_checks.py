"""What is wrong with a configuration is told in one line that names the place."""

import pytest

from config_changes import changed
from config_checks import check_consistency, check_schema
from posbias.errors import ConfigError


@pytest.fixture
def schema(root):
    return root / "workflow" / "schemas" / "config.schema.yaml"


def test_the_mini_configuration_has_no_fault(config, schema):
    check_schema(config, schema)
    check_consistency(config)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("trainng",), {}, "top level: .*'trainng'.*Known keys: scale"),
        (("training", "epoch"), 3, "training: .*'epoch'.*Known keys: loss"),
        (("seed",), "x", "seed: 'x' is not of type 'integer'"),
        (("documents",), None, "documents: None is not of type 'object'"),
        (("verification", "delta"), -1, "verification.delta: -1"),
    ],
)
def test_a_fault_against_the_schema_is_one_short_line(config, schema, path, value, message):
    with pytest.raises(ConfigError, match=message) as caught:
        check_schema(changed(config, ".".join(map(str, path)), value), schema)
    assert len(str(caught.value).splitlines()) == 1 and len(str(caught.value)) < 700


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("evaluation", "cutoff"), 101, "cutoff 101 exceeds depth 100"),
        (("verification", "thresholds"), [0.1, 0.0], "thresholds: must rise"),
        (("balance", "settings", "begin"), {"begin": 0.9}, "sum to 1"),
        (("references", 1, "name"), "bm25", "references, name: 'bm25' stands twice"),
        (("verification", "panel", 1, "name"), "bm25", "panel, name: 'bm25' stands twice"),
        (("references", 1, "label"), "BERT", "label: 'BERT' stands twice"),
    ],
)
def test_what_a_schema_cannot_say_is_checked_too(config, path, value, message):
    with pytest.raises(ConfigError, match=message):
        check_consistency(changed(config, ".".join(map(str, path)), value))
