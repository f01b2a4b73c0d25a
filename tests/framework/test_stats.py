from extender.errors import BudgetError
from extender.framework.interface import Code
from extender.framework.stats import CallStats


def test_a_fault_is_kept_for_the_log_and_its_status_tells_no_particulars() -> None:
    stats = CallStats(clock=lambda: 0.0)
    fault = RuntimeError("secret particulars")

    status = stats.fault(fault)

    assert status.code is Code.ERROR
    assert status.reasons == ("internal fault (RuntimeError)",)
    assert stats.faults == [fault]


def test_a_fault_of_our_own_says_what_a_person_can_use_of_it() -> None:
    stats = CallStats(clock=lambda: 0.0)

    assert stats.fault(BudgetError("too many comparisons")).reasons == ("too many comparisons",)
