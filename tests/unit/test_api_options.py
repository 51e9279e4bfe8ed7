"""Options of a hosted model: each wrong one is named with its place, and the key never is."""

import dataclasses
import re

import pytest

from fake_openai import toy_options
from posbias.errors import ConfigError
from posbias.queries.api_options import HOME, LIMITS, ApiOptions, read_access, read_options


def test_the_defaults_are_the_papers():
    options = read_options({"cap_dollars": 5}, "here")
    assert (options.model, options.temperature, options.top_p) == ("gpt-4o-mini", 1.0, 1.0)
    assert not options.json_object and not options.send_seed


def test_a_cap_has_to_be_named():
    with pytest.raises(ConfigError, match=r"here: .*'cap_dollars'"):
        read_options({}, "here")
    assert read_options({"cap_dollars": None}, "here").cap_dollars is None


def test_an_unknown_option_is_named_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"here: .*'temprature'.*its options: .*temperature"):
        read_options(toy_options(temprature=1), "here")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", 2.5),
        ("temperature", "hot"),
        ("temperature", float("nan")),
        ("cap_dollars", -1),
        ("cap_dollars", float("inf")),
        ("cap_dollars", True),
        ("model", 4),
        ("max_output_tokens", 0),
        ("max_output_tokens", 1.5),
        ("max_output_tokens", None),
        ("concurrency", 0),
        ("json_object", 1),
        ("send_seed", "yes"),
        ("batch_requests", 50_001),
        ("batch_bytes", 200_000_001),
        ("batch_factor", 2),
        ("enqueued_tokens", 0),
        ("mode", "asynchronous"),
        ("limit_parameter", "n"),
        ("base_url_variable", 3),
    ],
)
def test_a_wrong_value_is_named(name, value):
    with pytest.raises(ConfigError, match=rf"here\.{name}: {re.escape(repr(value))}"):
        read_options(toy_options(**{name: value}), "here")


def test_whole_numbers_do_where_fractions_do():
    assert read_options(toy_options(temperature=1, poll_seconds=60), "here").poll_seconds == 60


def test_every_number_has_its_limits_and_every_default_keeps_them():
    numbers = {
        field.name for field in dataclasses.fields(ApiOptions)
        if field.type in (int, float, int | None, float | None)
    }  # fmt: skip
    assert numbers == set(LIMITS)
    defaults = {
        field.name: field.default for field in dataclasses.fields(ApiOptions)
        if field.default is not dataclasses.MISSING
    }  # fmt: skip
    assert read_options({"cap_dollars": 1.0, **defaults}, "here") == ApiOptions(cap_dollars=1.0)


def test_every_option_but_where_and_how_shapes_the_settings():
    plain = read_options(toy_options(), "here")
    assert plain.settings(1) == plain.settings(2)  # the seed is not sent
    changes = {"model": "m", "temperature": 0.1, "top_p": 0.2, "max_output_tokens": 3,
               "json_object": True, "send_seed": True}  # fmt: skip
    for name, value in changes.items():
        changed = read_options(toy_options(**{name: value}), "here")
        assert changed.settings(1) != plain.settings(1), name
        assert changed.body("p", 1) != plain.body("p", 1), name
    seeded = read_options(toy_options(send_seed=True), "here")
    assert seeded.settings(1) != seeded.settings(2)


def test_without_a_variable_the_address_is_the_providers(monkeypatch):
    monkeypatch.setenv("TOY_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere")
    options = read_options(toy_options(base_url_variable=None), "here")
    assert read_access(options, "here") == (HOME, "k")


@pytest.mark.parametrize("address", ["", "127.0.0.1:8000", "file:///etc"])
def test_an_address_that_is_none_is_named(monkeypatch, address):
    monkeypatch.setenv("TOY_KEY", "k")
    monkeypatch.setenv("TOY_URL", address)
    with pytest.raises(ConfigError, match=r"here\.base_url_variable: .*TOY_URL holds"):
        read_access(read_options(toy_options(), "here"), "here")
