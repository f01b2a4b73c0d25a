"""Our configuration beside the scheduler's; every trap of it is in test_examining."""

from extender.config.schema import Address, Config, Listen, ProfileConfig
from extender.plugins import DEFAULT_WEIGHTS
from extender.review.doctor import config_match
from extender.review.doctor.scheduler import Extender

PROFILE = ProfileConfig("extended", {"TaintToleration": 3})


def test_our_plugins_by_the_name_of_the_scheduler() -> None:
    assert config_match.weights_for(Config(), "any") == DEFAULT_WEIGHTS
    assert config_match.weights_for(Config(profiles=(PROFILE,)), "extended") == PROFILE.weights
    assert config_match.weights_for(Config(profiles=(PROFILE,)), "other") == {}


def test_where_nobody_tells_we_are_taken_as_shipped() -> None:
    assert config_match.weights_for(None, "any") == {**DEFAULT_WEIGHTS, "PodTopologySpread": 0}


def test_what_is_wrong_whatever_the_scheduler_says() -> None:
    ours = Config(no_execute="join", nudges_per_second=0)

    assert [p.check for p in config_match.check_ours("us", ours)] == [
        "no-execute-join",
        "nudge-off",
    ]
    assert list(config_match.check_ours("us", Config())) == []


def test_a_port_that_is_picked_at_the_start_is_not_compared() -> None:
    ours = Config(listen=Listen(scheduler=Address("127.0.0.1", 0)))
    extender = Extender(url_prefix="http://127.0.0.1:4711")

    assert list(config_match.check_listener("us", ours, extender, "them")) == []


def test_behind_a_service_ports_may_differ() -> None:
    extender = Extender(url_prefix="http://leeway.svc")

    assert list(config_match.check_listener("us", Config(), extender, "them")) == []
