from extender.match.findings import Finding, Noticed


def test_the_same_value_is_noticed_once() -> None:
    noticed: Noticed = set()
    for _ in range(3):
        noticed.add(Finding("taint", "integer", "sla", "high"))
    noticed.add(Finding("label", "integer", "sla", "high"))

    assert noticed == {
        Finding("taint", "integer", "sla", "high"),
        Finding("label", "integer", "sla", "high"),
    }
