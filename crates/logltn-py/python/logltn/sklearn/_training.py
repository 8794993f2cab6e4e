"""A project in a temporary folder, trained by the program, and the resulting networks."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import InputError, _native

Layer = tuple[np.ndarray, np.ndarray]

# The program without the package around it, whose imports take longer than many a training.
_PROGRAM = """
import importlib.util, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
spec = importlib.util.spec_from_file_location("logltn._native", sys.argv[1])
native = importlib.util.module_from_spec(spec)
spec.loader.exec_module(native)
sys.exit(native.main(["logltn", *sys.argv[2:]]))
"""


def train(files: Mapping[str, bytes], arguments: Sequence[str] = ()) -> dict[str, np.ndarray]:
    """The weights that ``logltn train`` finds for the manifest ``m.toml`` among these files, by name."""
    with tempfile.TemporaryDirectory(prefix="logltn-") as folder:
        for name, content in files.items():
            Path(folder, name).write_bytes(content)
        command = [sys.executable, "-I", "-c", _PROGRAM, str(_native.__file__), "train", "m.toml", "--out", "run", *arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            lines = [line for line in done.stderr.splitlines() if not line.startswith("step ")]
            raise InputError("\n".join(lines).strip() or f"training ended with status {done.returncode}")
        return tensors(Path(folder, "run", "weights.safetensors").read_bytes())


def tensors(content: bytes) -> dict[str, np.ndarray]:
    """The tensors of a safetensors file of single precision."""
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    found = {}
    for name, entry in header.items():
        if name != "__metadata__":
            start, end = (8 + length + at for at in entry["data_offsets"])
            found[name] = np.frombuffer(content[start:end], dtype="<f4").reshape(entry["shape"]).copy()
    return found


def layers_of(weights: Mapping[str, np.ndarray], symbol: str) -> list[Layer]:
    """The dense layers of a symbol's network, from its input to its output."""
    places = sorted(int(name.split(".")[-2]) for name in weights if name.startswith(f"{symbol}.") and name.endswith(".weight"))
    return [(weights[f"{symbol}.{i}.weight"], weights[f"{symbol}.{i}.bias"]) for i in places]


def run(layers: Sequence[Layer], activation: str, x: np.ndarray) -> np.ndarray:
    """A network's output for rows."""
    for i, (weight, bias) in enumerate(layers):
        x = x @ weight.T.astype(x.dtype) + bias.astype(x.dtype)
        if i + 1 < len(layers):
            x = _ACTIVATIONS[activation](x)
    return x


_ACTIVATIONS: dict[str, Any] = {
    "relu": lambda x: np.maximum(x, 0),
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}


def csv(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """A CSV file of columns of the same length."""
    lines = [",".join(map(_cell, columns))]
    lines += [",".join(map(_cell, row)) for row in zip(*columns.values())]
    return ("\n".join(lines) + "\n").encode()


def _cell(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    text = str(value)
    if any(c in text for c in ',"\n\r') or text != text.strip() or text == "":
        return '"' + text.replace('"', '""') + '"'
    return text


def toml(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = "".join(f"\\u{ord(c):04x}" if ord(c) < 32 or ord(c) == 127 else c for c in value.replace("\\", "\\\\").replace('"', '\\"'))
        return f'"{escaped}"'
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{toml(str(k))} = {toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, (list, tuple, np.ndarray)):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    return repr(float(value))
