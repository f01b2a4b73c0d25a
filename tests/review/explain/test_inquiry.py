"""What is asked."""

from extender.review.explain.inquiry import Bounds, no_clock
from tests.builders import a_pod, node_json
from tests.review.explain.asking import an_inquiry


def test_an_inquiry_is_about_the_pod_of_its_subject() -> None:
    pod = a_pod(name="x")
    inquiry = an_inquiry(pod, node_json("n"))

    assert inquiry.pod is pod
    assert inquiry.bounds == Bounds()


def test_nobody_asks_for_the_time() -> None:
    assert no_clock() == 0.0
