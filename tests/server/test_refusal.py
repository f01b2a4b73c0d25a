"""Faults of a client as an answer."""

import pytest

from extender.errors import (
    BadRequestError,
    LeewayError,
    NoRoomError,
    RequestTimeoutError,
    RequestTooLargeError,
    UnsupportedEncodingError,
)
from extender.server.refusal import Refusal, refusal_of


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        pytest.param(BadRequestError("no pod"), 400, id="a request that makes no sense"),
        pytest.param(RequestTimeoutError("too late"), 408, id="one that came too late"),
        pytest.param(RequestTooLargeError("too much"), 413, id="one that is too large"),
        pytest.param(UnsupportedEncodingError("gzip"), 415, id="one that is packed"),
    ],
)
def test_each_fault_of_a_client_has_its_status(fault: LeewayError, status: int) -> None:
    refusal = refusal_of(fault)

    assert (refusal.status.value, refusal.sentence, refusal.headers) == (status, str(fault), b"")


def test_a_refusal_is_a_value() -> None:
    assert refusal_of(BadRequestError("no pod")) == refusal_of(BadRequestError("no pod"))
    assert isinstance(refusal_of(BadRequestError("no pod")), Refusal)


def test_who_finds_no_room_is_told_when_to_come_again() -> None:
    refusal = refusal_of(NoRoomError("full"))

    assert (refusal.status.value, refusal.headers) == (503, b"Retry-After: 1\r\n")
