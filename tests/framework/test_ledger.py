from extender.framework.interface import Code
from extender.framework.ledger import Ledger


def test_a_fault_is_kept_for_the_log_and_its_status_tells_no_particulars() -> None:
    ledger = Ledger(clock=lambda: 0.0)
    fault = RuntimeError("secret particulars")

    status = ledger.fault(fault)

    assert status.code is Code.ERROR
    assert status.reasons == ("internal fault (RuntimeError)",)
    assert ledger.faults == [fault]
