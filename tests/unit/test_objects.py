"""Objects of JSON: whatever stands in the place of a field, the file and the field are named."""

import contextlib
import copy
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from posbias.errors import DataError
from posbias.report.objects import INTERVAL, MAYBE, NUMBER, Each, read_object
from posbias.report.psi_table import long_frame
from posbias.report.records import read_measures
from report_measures import made_up

SHAPE = {
    "name": str,
    "share": NUMBER,
    "rows": [{"n": int, "mean": MAYBE}],
    "counts": Each({"texts": int}),
    "settings": Each(int, least=1),
    "interval": INTERVAL,
}
WHOLE = {
    "name": "a",
    "share": 1,
    "rows": [{"n": 1, "mean": None}, {"n": 2, "mean": 0.5}],
    "counts": {},
    "settings": {"begin": 3},
    "interval": {"kind": "k", "resamples": 5, "level": 0.95},
    "beyond": {"what": "nobody asked for"},
}


def read(folder, value, shape=SHAPE):
    path = folder / "m.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return read_object(path, shape)


def test_what_fits_is_returned_as_it_is(tmp_path):
    assert read(tmp_path, WHOLE) == WHOLE


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"name": None}, "name is null, expected a text"),
        ({"share": True}, "share is True, expected a number"),
        ({"rows": []}, "rows is an empty list, expected a list"),
        ({"rows": {}}, "rows is an empty object, expected a list"),
        ({"rows": [{"n": 1, "mean": "x"}]}, r"rows\[0\]\.mean is 'x', expected a number or null"),
        ({"rows": [WHOLE["rows"][0], {"n": 1}]}, r"field\(s\) rows\[1\]\.mean are missing"),
        ({"counts": None}, "counts is null, expected an object"),
        ({"counts": {"a": {}}}, r"counts\.a is an empty object, expected an object"),
        ({"counts": {"a": {"n": 1}}}, r"field\(s\) counts\.a\.texts are missing"),
        ({"settings": {}}, "settings is an empty object"),
        ({"interval": {}}, "interval is an empty object"),
        ({"interval": {"kind": "k"}}, r"interval\.resamples, interval\.level are missing"),
    ],
)
def test_file_field_and_remedy_are_named(tmp_path, change, fault):
    with pytest.raises(DataError, match=rf"m\.json: .*{fault}.*; delete the file and run"):
        read(tmp_path, WHOLE | change)


@pytest.mark.parametrize("text", ["[]", "null", "3", '"a"', "[{}]", "", "{", "\ufeff"])
def test_what_is_no_object_is_named(tmp_path, text):
    with pytest.raises(DataError, match=r"m\.json: (expected an object|not valid JSON)"):
        read(tmp_path, text)
    with pytest.raises(DataError, match=r"gone\.json: no such file"):
        read_object(tmp_path / "gone.json", SHAPE)


def test_the_remedy_is_the_readers_own(tmp_path):
    (tmp_path / "m.json").write_text("{}")
    with pytest.raises(DataError, match=r"the field\(s\) a, b are missing; ask again\.$"):
        read_object(tmp_path / "m.json", {"a": int, "b": str}, "ask again")


def places(value, place=()):
    """Return every place below a value."""
    found = []
    if not isinstance(value, dict | list):
        return found
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        found += [(*place, key), *places(inner, (*place, key))]
    return found


ODD = [None, {}, [], "", "text", 0, -1.5, True, [[]], [{}], {"": {}}, [None], {"a": None}]


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_whatever_stands_in_a_field_of_measures_no_reader_stumbles(tmp_path, data):
    """Each value of a record is replaced or removed: it is read whole, or refused by its name."""
    record = copy.deepcopy(made_up()[0])
    path = data.draw(st.sampled_from(places(record)))
    inner = record
    for key in path[:-1]:
        inner = inner[key]
    if data.draw(st.booleans()):
        del inner[path[-1]]
    else:
        inner[path[-1]] = data.draw(st.sampled_from(ODD))
    file = tmp_path / "m.json"
    file.write_text(json.dumps(record))
    try:
        (found,) = read_measures([file])
    except DataError as fault:
        assert str(fault).startswith(f"{file}: ")
        return
    assert found == record
    with contextlib.suppress(DataError):  # of a record that has no thirds
        frame = long_frame([found])
        assert len(frame) == 1
