"""What models cost: list prices with the day they were read, in whole billionths of a US dollar per token."""

import re
from dataclasses import dataclass

from bot.model import Usage

READ_ON = "2026-11-30"
"""The day the table was last compared with the provider's price page."""

_DATE = re.compile(r"[-@]20\d{6}$")


@dataclass(frozen=True)
class Price:
    """Per token, in billionths of a US dollar. `long` applies to every token of a prompt over `long_from`."""

    input: int
    write_5m: int
    write_1h: int
    read: int
    output: int
    long_from: int = 0
    long: "Price | None" = None

    def step(self, prompt_tokens: int) -> "Price":
        """The price that a prompt of that many tokens is billed at."""
        return self.long if self.long and prompt_tokens > self.long_from else self


FREE = Price(0, 0, 0, 0, 0)

PRICES = {
    "claude-haiku-5-5": Price(
        100, 125, 200, 10, 500, long_from=100_000, long=Price(500, 625, 1_000, 50, 2_500)
    ),
    "claude-sonnet-5-5": Price(2_000, 2_500, 4_000, 100, 10_000),  # reads since 2026-10-07
    "claude-opus-5-5": Price(4_000, 5_000, 8_000, 200, 20_000),
    "claude-fable-5-2": Price(8_000, 10_000, 16_000, 200, 40_000),  # reads and writes by third parties only
    "claude-fable-5-1": Price(10_000, 12_500, 20_000, 250, 50_000),
}

DEAREST = max(PRICES.values(), key=lambda price: price.output)


def price_of(model: str) -> Price:
    """The price of a model, by whatever name a server gives it.

    A Claude that is not in the table costs as much as the dearest, so that caps hold; any other name is a
    model on a server of one's own, which costs nothing.
    """
    if "claude" not in model.lower():
        return FREE
    name = model.lower()
    name = _DATE.sub("", name[name.index("claude") :])
    return PRICES.get(name, DEAREST)


def cost(model: str, usage: Usage) -> int:
    """What a call cost, in millionths of a US dollar, rounded up."""
    price = price_of(model).step(usage.prompt_tokens)
    billionths = (
        usage.input_tokens * price.input
        + usage.cache_write_5m_tokens * price.write_5m
        + usage.cache_write_1h_tokens * price.write_1h
        + usage.cache_read_tokens * price.read
        + usage.output_tokens * price.output
    )
    return _millionths(billionths)


def worst(model: str, prompt_tokens: int, output_tokens: int) -> int:
    """The most that a call of that size can cost, in millionths of a US dollar: all written, none read."""
    price = price_of(model).step(prompt_tokens)
    each = max(price.input, price.write_5m, price.write_1h, price.read)
    return _millionths(prompt_tokens * each + output_tokens * price.output)


def _millionths(billionths: int) -> int:
    return -(-billionths // 1_000)
