"""How much teambot takes: disk when installed, time to ready, memory when idle.

`python -m benchmarks.footprint --json`; `--no-install` leaves the fresh installation out.
"""

import argparse
import json
import os
import platform
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import psutil

ROOT = Path(__file__).parent.parent
RUNS = 3
IDLE_SECONDS = 5
PATIENCE_SECONDS = 60
TOOLS = re.compile(r"pip|setuptools|pkg_resources|_distutils_hack|distutils-precedence\.pth")
OURS = ("bot", "adapters", "memory", "routines", "migrations")
NAMED = ("SQLAlchemy", "dbos", "aiohttp", "anthropic")


def installed_mb() -> float:
    """Size of a fresh core installation: site-packages without pip, setuptools and bytecode, in 10⁶ bytes."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        pip = [f"{folder}/bin/python", "-m", "pip", "--quiet", "--disable-pip-version-check"]
        lock = ["--require-hashes", "--no-deps", "-r", str(ROOT / "requirements.lock")]
        subprocess.run([*pip, "install", "--no-compile", *lock], check=True)
        (packages,) = Path(folder).glob("lib/python*/site-packages")
        kept = [entry for entry in packages.iterdir() if not TOOLS.match(entry.name)]
        return sum(map(size, [*kept, *(ROOT / package for package in OURS)])) / 1e6


def size(path: Path) -> int:
    """Bytes of a file, or of all files below a folder, bytecode left out."""
    files = [path] if path.is_file() else path.rglob("*")
    return sum(file.stat().st_size for file in files if file.is_file() and file.suffix != ".pyc")


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def environment(home: str) -> dict[str, str]:
    """An environment in which nothing is configured."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    return {**kept, "HOME": home, "TEAMBOT_HOME": str(Path(home) / ".teambot"), "PYTHONPATH": str(ROOT)}


@contextmanager
def server(home: str) -> Iterator[tuple[psutil.Process, float]]:
    """A running teambot with an empty home, and the milliseconds until its page answered."""
    port = free_port()
    command = [sys.executable, "-m", "bot", "run", "--port", str(port)]
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=home, env=environment(home), stdout=subprocess.DEVNULL)
    try:
        while not answers(port):
            if process.poll() is not None:
                raise SystemExit(f"teambot ended with code {process.returncode} before it was ready.")
            if time.perf_counter() - start > PATIENCE_SECONDS:
                raise SystemExit(f"teambot was not ready after {PATIENCE_SECONDS} seconds.")
            time.sleep(0.005)
        yield psutil.Process(process.pid), (time.perf_counter() - start) * 1000
    finally:
        process.kill()
        process.wait()


def answers(port: int) -> bool:
    """Whether the page is served."""
    try:
        with urlopen(f"http://127.0.0.1:{port}/", timeout=PATIENCE_SECONDS) as response:
            return bool(response.status == 200)
    except (URLError, ConnectionError):
        return False


def idle_mb(process: psutil.Process) -> float:
    """Resident memory of the process and its children, in 10⁶ bytes, after some seconds of nothing to do."""
    time.sleep(IDLE_SECONDS)
    return sum(each.memory_info().rss for each in (process, *process.children(recursive=True))) / 1e6


def started() -> tuple[float, float]:
    """Milliseconds to ready (median of three cold starts, each with an empty home) and idle memory."""
    times, memory = [], 0.0
    for run in range(RUNS):
        with tempfile.TemporaryDirectory() as home, server(home) as (process, ready):
            times.append(ready)
            if run == RUNS - 1:
                memory = idle_mb(process)
    return statistics.median(times), memory


def machine() -> dict[str, object]:
    """Where this was measured."""
    return {
        "system": platform.platform(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        **{name: version(name) for name in NAMED},
    }


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description="Measures disk, start and idle memory of teambot.")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--no-install", action="store_true", help="leave the fresh installation out")
    given = parser.parse_args()
    figures: dict[str, object] = {} if given.no_install else {"installed_mb": round(installed_mb(), 1)}
    ready, idle = started()
    figures |= {"ready_ms": round(ready), "idle_mb": round(idle, 1), **machine()}
    print(
        json.dumps(figures) if given.json else "\n".join(f"{key}: {value}" for key, value in figures.items())
    )


if __name__ == "__main__":
    main()
