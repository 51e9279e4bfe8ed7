"""Signs of life: not too many, and an estimate that is arithmetic."""

import logging

import pytest

from posbias.logs import Heartbeat, clock


class Clock:
    def __init__(self):
        self.at = 0.0

    def __call__(self):
        return self.at


def test_a_heartbeat_speaks_at_most_every_thirty_seconds(caplog):
    now = Clock()
    heartbeat = Heartbeat("train", total=1000, now=now)
    with caplog.at_level(logging.INFO):
        for second in range(1, 101):
            now.at = float(second)
            heartbeat.beat(second)
    assert [record.getMessage() for record in caplog.records] == [
        "train 30/1000 eta 16:10",
        "train 60/1000 eta 15:40",
        "train 90/1000 eta 15:10",
    ]


def test_a_resumed_work_estimates_from_what_it_did_itself(caplog):
    now = Clock()
    heartbeat = Heartbeat("train", total=200, done=100, now=now)
    now.at = 50.0
    with caplog.at_level(logging.INFO):
        assert heartbeat.beat(150, "loss 0.5")
        assert not heartbeat.beat(151)
    assert caplog.messages == ["train 150/200 loss 0.5 eta 0:50"]


def test_no_progress_has_no_estimate(caplog):
    now = Clock()
    heartbeat = Heartbeat("train", total=5, now=now)
    now.at = 31.0
    with caplog.at_level(logging.INFO):
        heartbeat.beat(0)
    assert caplog.messages == ["train 0/5 eta ?"]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0:00"), (59.6, "1:00"), (61, "1:01"), (3600, "1:00:00")]
)
def test_durations_are_read_as_clocks(seconds, text):
    assert clock(seconds) == text
