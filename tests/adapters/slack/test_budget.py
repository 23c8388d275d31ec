"""All replies of a workspace together stay within what Slack grants."""

from hypothesis import given
from hypothesis import strategies as st

from adapters.slack.budget import BURST, RATES, Budget


@given(st.lists(st.floats(0, 5), max_size=200), st.sampled_from(sorted(RATES)))
def test_no_minute_has_more_calls_than_are_granted(pauses: list[float], method: str) -> None:
    time = 0.0
    budget = Budget(clock=lambda: time)
    taken: list[float] = []
    for pause in pauses:
        time += pause
        if budget.take(method):
            taken.append(time)
    for start in taken:
        within = [moment for moment in taken if start <= moment < start + 60]
        assert len(within) <= RATES[method] + BURST


def test_many_replies_wait_longer_each() -> None:
    budget = Budget()
    assert budget.interval() < 1
    budget.active = 30
    assert budget.interval() * RATES["chat.appendStream"] / 60 >= 30


def test_nobody_calls_before_slack_said() -> None:
    time = 0.0
    budget = Budget(clock=lambda: time)
    budget.held_back("chat.update", 20)
    assert not budget.take("chat.update")
    time = 21.0
    assert budget.take("chat.update")
