"""What a notebook shows."""

from __future__ import annotations

import base64
import math
import re
import struct
import zlib
from html import escape
from typing import Any

import numpy as np

_KEYWORDS = (
    "sort table predicate function constant param axiom for forall exists where in and or not all any weight min max dist "
    "Int Real"
).split()
_TOKEN = re.compile(r"#[^\n]*|[A-Za-z_]\w*|<->|->|\d+(?:\.\d+)?|\s+|.", re.S)
_STYLE = "border-collapse:collapse;font-variant-numeric:tabular-nums"


def groundings(count: int) -> str:
    return "1 grounding" if count == 1 else f"{count:,} groundings"


def theory(text: str) -> str:
    """A theory with its words in colour."""
    out = []
    for token in _TOKEN.findall(text.strip("\n")):
        shown = escape(token)
        if token.startswith("#"):
            shown = f'<span style="color:#777">{shown}</span>'
        elif token in _KEYWORDS:
            shown = f'<span style="color:#0550ae;font-weight:600">{shown}</span>'
        elif token in ("->", "<->"):
            shown = f'<span style="color:#0550ae">{shown}</span>'
        elif token[0].isdigit():
            shown = f'<span style="color:#953800">{shown}</span>'
        out.append(shown)
    return f'<pre style="line-height:1.35">{"".join(out)}</pre>'


def table(head: list[str], rows: list[list[str]], most: int = 200) -> str:
    """A table; cells are HTML."""
    cells = "".join(f'<th style="text-align:left">{escape(h)}</th>' for h in head)
    body = "".join("<tr>" + "".join(f'<td style="text-align:left">{c}</td>' for c in row) + "</tr>" for row in rows[:most])
    more = f"<p>… and {len(rows) - most} more</p>" if len(rows) > most else ""
    return f'<table style="{_STYLE}"><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>{more}'


def knowledge_base(document: dict[str, Any]) -> str:
    """The symbols, and the cost of the axioms."""
    sorts = ", ".join(f"{escape(s['name'])} ({s['size']:,})" for s in document["sorts"])
    tables = ", ".join(f"{escape(t['name'])} ({t['rows']:,} rows)" for t in document["tables"])
    rows = [
        [escape(a["name"]), f"{a['weight']:g}", f"<code>{escape(a['formula'])}</code>", f"{a['groundings']:,}"]
        for a in document["axioms"]
    ]
    about = f"<p>{escape(document['semantics'])} · {sorts}{' · ' + tables if tables else ''}</p>"
    return about + table(["axiom", "weight", "formula", "groundings"], rows)


def bar(degree: float) -> str:
    """A truth from 0 to 1."""
    width = max(0.0, min(1.0, degree)) * 100
    colour = "#1a7f37" if degree >= 0.75 else "#bf8700" if degree >= 0.25 else "#cf222e"
    inner = f'<div style="width:{width:.0f}%;height:100%;background:{colour}"></div>'
    return f'<div style="width:8em;height:.8em;background:#8883">{inner}</div>'


def degree(truth: float) -> float:
    """A truth degree, from a degree or its log."""
    return math.exp(truth) if truth <= 0 else truth


def evaluation(result: Any) -> str:
    """The truth of each axiom."""
    native = result._native
    counts = {"empty exists": result.empty_exists, "impossible": result.impossible}
    # How many observations are impossible is known under `probability` alone.
    counts = {what: by for what, by in counts.items() if what == "empty exists" or any(by.values())}
    # In the log semantics all truths are logs; a degree of 0 and a log of 0 cannot be told apart, but by the others.
    logs = native.sat < 0 or any(t < 0 for t in native.truths().values())
    rows = []
    for name, truth in native.truths().items():
        shown = degree(truth) if logs else truth
        cells = [f"{by[name]:,}" if by[name] else "" for by in counts.values()]
        rows.append([escape(name), f"{truth:.4g}", bar(shown), *cells])
    return f"<p>loss {native.loss:.6g} · sat {native.sat:.6g}</p>" + table(["axiom", "truth", "", *counts], rows)


def explanation(document: dict[str, Any], axioms_are_logs: bool, literals_are_logs: bool, pictures: dict[str, Any]) -> str:
    """The least true bindings of each axiom, with what is to blame; ``pictures`` has those of individuals, by axiom."""
    out = []
    for axiom in document["axioms"]:
        head = f"<p><b>{escape(axiom['name'])}</b> · truth {number(axiom['truth'])} · {groundings(axiom['groundings'])}</p>"
        seen = pictures.get(axiom["name"], {})
        rows = []
        for worst in axiom["worst"]:
            literals = "<br>".join(
                f"<code>{escape(x['literal'])}</code> {number(shown(x['truth'], literals_are_logs))}, blame {number(x['blame'])}"
                for x in worst["literals"]
            )
            witnesses = "<br>".join(witness(x, literals_are_logs, seen) for x in worst["witnesses"])
            truth = shown(worst["truth"], axioms_are_logs)
            rows.append([binding(worst["binding"], seen), number(worst["truth"]), bar(truth), literals, witnesses])
        out.append(head + table(["binding", "truth", "", "literals", "at best"], rows))
    return "".join(out) or "<p>no axioms</p>"


def binding(found: dict[str, Any], pictures: dict[tuple[str, str], np.ndarray]) -> str:
    """The binding of the variables, with pictures where individuals have one."""
    parts = []
    for variable, to in found.items():
        seen = pictures.get((variable, str(to)))
        parts.append(f"{escape(variable)} = {escape(str(to))}" + ("" if seen is None else " " + picture(seen)))
    return ", ".join(parts)


def is_picture(shape: tuple[int, ...]) -> bool:
    """Whether an individual's features are a picture: grey or coloured, channels first or last."""
    if len(shape) == 3 and shape[0] in (1, 3):
        shape = shape[1:]
    elif len(shape) == 3 and shape[2] in (1, 3):
        shape = shape[:2]
    return len(shape) == 2 and min(shape) >= 4 and max(shape) <= 2048


def picture(values: np.ndarray) -> str:
    """An image as a data URL."""
    if values.ndim == 3 and values.shape[0] in (1, 3):
        values = np.moveaxis(values, 0, 2)
    values = values.reshape(*values.shape[:2], -1)
    if values.dtype != np.uint8:
        values = np.nan_to_num(values.astype(np.float64))
        least, largest = float(values.min()), float(values.max())
        if least < 0 or largest > 1:  # no intensities from 0 to 1: the darkest is black, the lightest white
            values = (values - least) / max(largest - least, 1e-300)
        values = (255 * values).round().astype(np.uint8)
    height, width, channels = values.shape
    lines = b"".join(b"\0" + line.tobytes() for line in np.ascontiguousarray(values))
    header = struct.pack(">IIBBBBB", width, height, 8, 2 if channels == 3 else 0, 0, 0, 0)
    png = b"\x89PNG\r\n\x1a\n"
    for kind, data in ((b"IHDR", header), (b"IDAT", zlib.compress(lines)), (b"IEND", b"")):
        png += struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    source = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    return f'<img src="{source}" alt="" style="height:3em;vertical-align:middle;image-rendering:pixelated">'


def shown(truth: float | None, is_log: bool) -> float:
    """As a degree. JSON has no infinities: null is the log of 0."""
    return 0.0 if truth is None else math.exp(min(truth, 0.0)) if is_log else truth


def number(x: float | None) -> str:
    """For people."""
    return "−∞" if x is None else f"{x:.4g}"


def witness(found: dict[str, Any], is_log: bool, pictures: dict[tuple[str, str], np.ndarray]) -> str:
    """The witness of an `exists`."""
    formula = f"<code>{escape(found['formula'])}</code>"
    if found["binding"] is None:
        return f"nothing to choose from: {formula}"
    return f"{number(shown(found['truth'], is_log))} with {binding(found['binding'], pictures)}: {formula}"
