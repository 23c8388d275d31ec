"""What a call costs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.model import Usage
from bot.prices import DEAREST, FREE, PRICES, cost, price_of, worst

counts = st.integers(0, 300_000)


@pytest.mark.parametrize(
    ("model", "dollars"),
    [
        ("claude-haiku-5-5", (0.10, 0.125, 0.20, 0.01, 0.50)),
        ("claude-sonnet-5-5", (2, 2.50, 4, 0.10, 10)),
        ("claude-opus-5-5", (4, 5, 8, 0.20, 20)),
        ("claude-fable-5-2", (8, 10, 16, 0.20, 40)),
        ("claude-fable-5-1", (10, 12.50, 20, 0.25, 50)),
    ],
)
def test_prices_are_those_of_the_list(model: str, dollars: tuple[float, ...]) -> None:
    price = PRICES[model]

    listed = (price.input, price.write_5m, price.write_1h, price.read, price.output)
    assert listed == tuple(round(amount * 1_000) for amount in dollars)


def test_a_step_of_a_warm_conversation_costs_what_the_list_says() -> None:
    usage = Usage(
        input_tokens=200,
        output_tokens=150,
        cache_read_tokens=40_000,
        cache_write_1h_tokens=400,
        cache_write_5m_tokens=100,
    )

    assert cost("claude-sonnet-5-5", usage) == 200 * 2 + 150 * 10 + 40_000 // 10 + 400 * 4 + 250


def test_a_long_prompt_of_haiku_costs_five_times_as_much_on_every_token() -> None:
    short, long = Usage(cache_read_tokens=100_000), Usage(cache_read_tokens=99_999, input_tokens=2)

    assert cost("claude-haiku-5-5", short) == 1_000
    assert cost("claude-haiku-5-5", long) == 5_001
    assert worst("claude-haiku-5-5", 100_000, 1_000) == 100_000 * 0.2 + 500
    assert worst("claude-haiku-5-5", 100_001, 1_000) == 100_001 + 2_500


def test_parts_of_a_millionth_are_rounded_up() -> None:
    assert cost("claude-haiku-5-5", Usage(cache_read_tokens=1)) == 1
    assert cost("claude-haiku-5-5", Usage()) == 0


@pytest.mark.parametrize(
    "name",
    [
        "claude-sonnet-5-5",
        "claude-sonnet-5-5-20261007",
        "anthropic/claude-sonnet-5-5",
        "CLAUDE-SONNET-5-5",
        "vertex/claude-sonnet-5-5@20261007",
    ],
)
def test_a_model_is_known_by_every_name_that_servers_give_it(name: str) -> None:
    assert price_of(name) is PRICES["claude-sonnet-5-5"]


def test_a_claude_that_is_not_listed_costs_as_the_dearest_so_that_caps_hold() -> None:
    assert price_of("claude-opus-4-6") is DEAREST
    assert price_of("claude-next") is DEAREST
    assert all(
        DEAREST.output >= price.output and DEAREST.write_1h >= price.write_1h for price in PRICES.values()
    )


@pytest.mark.parametrize("name", ["qwen3:8b", "gpt-oss-120b", "", "offline"])
def test_a_model_on_ones_own_server_costs_nothing(name: str) -> None:
    assert price_of(name) is FREE
    assert cost(name, Usage(10, 10, 10, 10, 10)) == worst(name, 1_000, 1_000) == 0


@given(st.sampled_from([*PRICES, "claude-next"]), counts, counts, counts, counts, counts)
def test_no_call_costs_more_than_was_reserved_for_its_size(
    model: str, fresh: int, read: int, short: int, long: int, output: int
) -> None:
    usage = Usage(fresh, output, read, short, long)

    assert cost(model, usage) <= worst(model, usage.prompt_tokens, output)
