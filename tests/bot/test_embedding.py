"""The sentence model: checked before it is used, on this machine alone, the same numbers every time."""

from pathlib import Path

import numpy as np
import pytest

from bot import embedding
from bot.embedding import MiniLM, find_embedder
from memory.vectors import NoEmbedder


@pytest.fixture(scope="module")
def model() -> MiniLM:
    """The model, loaded once."""
    found = find_embedder()
    assert found is not None
    return found


def test_sentences_that_mean_the_same_are_nearer_than_others(model: MiniLM) -> None:
    cat, kitten, ship = model.documents(["The cat sleeps.", "A kitten is asleep.", "We ship on Tuesday."])
    assert cat @ kitten > 0.6
    assert cat @ ship < 0.3
    assert np.linalg.norm(cat) == pytest.approx(1.0, abs=1e-5)


def test_the_order_of_a_batch_is_kept_and_does_not_matter(model: MiniLM) -> None:
    texts = [f"{'word ' * (number % 7)}number {number}" for number in range(20)]
    forward, backward = model.documents(texts), model.documents(texts[::-1])[::-1]
    assert np.abs(forward - backward).max() < 0.05
    assert all(np.argmax(forward @ model.question(text)) == at for at, text in enumerate(texts))


@pytest.mark.parametrize("text", ["", " ", "\x00", "\U0001f680" * 50, "word " * 100_000, "会" * 10_000])
def test_any_text_has_a_vector(model: MiniLM, text: str) -> None:
    assert model.question(text).shape == (model.dimension,)


def test_nothing_is_loaded_before_it_is_needed() -> None:
    assert MiniLM()._loaded is None


def test_a_changed_model_file_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package, name, _ = embedding._FILES["model"]
    monkeypatch.setitem(embedding._FILES, "model", (package, name, "0" * 64))
    with pytest.raises(NoEmbedder, match=r"model\.onnx"):
        MiniLM().question("hello")


def test_without_the_extra_there_is_no_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert find_embedder() is None
    with pytest.raises(NoEmbedder):
        embedding._checked("model")
