"""Options of a hosted model: each wrong one is named with its place, and the key never is."""

import dataclasses
import re
import traceback

import pytest

from fake_openai import toy_options
from posbias.errors import ConfigError
from posbias.queries.api_client import ChatApi
from posbias.queries.api_options import (
    HOME,
    LIMITS,
    ApiOptions,
    read_access,
    read_options,
    server_of,
)


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


@pytest.mark.parametrize(
    ("key", "fault"),
    [
        ("sk-one two", "holds a blank"),
        ("sk-first\nsk-second", "a line break"),
        ("sk-first\r\n\r\nX-Other: 1", "a line break"),
        ("sk-\x07bell", "another sign"),
        ("sk-del\x7f", "another sign"),
        ("“sk-round”", "beyond ASCII"),
        ("sk-no\u00a0break", "beyond ASCII"),
    ],
)
def test_a_key_that_no_header_can_hold_is_refused_and_not_shown(monkeypatch, key, fault):
    monkeypatch.setenv("TOY_KEY", key)
    monkeypatch.setenv("TOY_URL", "http://127.0.0.1:1/v1")
    place = r"^here\.key_variable: the environment variable TOY_KEY "
    with pytest.raises(ConfigError, match=f"{place}.*{fault}") as caught:
        read_access(read_options(toy_options(), "here"), "here")
    told = "".join(traceback.format_exception(caught.value, chain=True))
    parts = [key, *re.findall("first|second|X-Other|round|bell", key)]
    assert not any(part in told for part in parts)


def test_blanks_around_a_key_are_no_part_of_it(monkeypatch):
    monkeypatch.setenv("TOY_KEY", " \n sk-!~ok\r\n")
    monkeypatch.setenv("TOY_URL", "http://127.0.0.1:1/v1")
    assert read_access(read_options(toy_options(), "here"), "here")[1] == "sk-!~ok"


@pytest.mark.parametrize(
    "address",
    [
        "",
        "127.0.0.1:8000",
        "file:///etc",
        "http://127.0.0.1:abc/v1",
        "http://127.0.0.1:99999/v1",
        "http://[::1/v1",
        "http:///v1",
        "https://",
        "http://a b/v1",
        "http://a\tb/v1",
    ],
)
def test_an_address_that_is_none_is_named(monkeypatch, address):
    monkeypatch.setenv("TOY_KEY", "k")
    monkeypatch.setenv("TOY_URL", address)
    with pytest.raises(ConfigError, match=r"here\.base_url_variable: .*TOY_URL holds"):
        read_access(read_options(toy_options(), "here"), "here")


def test_an_address_that_only_the_client_refuses_is_named(monkeypatch):
    monkeypatch.setenv("TOY_KEY", "k")
    monkeypatch.setenv("TOY_URL", "http://999.1.1.1/v1")
    with pytest.raises(ConfigError, match=r"here\.base_url_variable: .*TOY_URL holds 'http://999"):
        ChatApi(read_options(toy_options(), "here"), 1, "here")


@pytest.mark.parametrize(
    ("address", "server"),
    [
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000"),
        ("https://api.openai.com/v1", "https://api.openai.com"),
        ("http://me:secret@host:80/v1?token=secret", "http://host:80"),
    ],
)
def test_a_server_is_named_without_what_is_secret(address, server):
    assert server_of(address) == server
