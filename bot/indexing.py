"""Indexing: gives new words their meaning in the background, while search by keyword goes on."""

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor

from memory.database import Database
from memory.embedding_queue import EmbeddingQueue
from memory.vectors import Embedder

log = logging.getLogger("teambot.indexing")

IDLE_SECONDS = 2.0
REST_SECONDS = 0.02
"""Between two batches: answers come first."""


class Indexing:
    """Works through what waits for a vector, in one thread of its own, until it is stopped."""

    def __init__(self, database: Database, embedder: Embedder | None) -> None:
        self.database = database
        self.queue = EmbeddingQueue(embedder) if embedder is not None else None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="embed")
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begins; without an embedder there is nothing to do."""
        if self.queue is not None:
            self._task = asyncio.create_task(self._work())

    async def stop(self) -> None:
        """Ends after the batch at hand."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._thread.shutdown()

    async def _work(self) -> None:
        assert self.queue is not None
        loop = asyncio.get_running_loop()
        while True:
            done = 0
            try:
                done = await loop.run_in_executor(self._thread, self.queue.step, self.database)
            except Exception as error:
                log.warning("indexing failed: %s", type(error).__name__)
            await asyncio.sleep(REST_SECONDS if done else IDLE_SECONDS)
