#!/usr/bin/env python3
"""Estimates the figures from which the stand-in data are generated.

    python3 tools/estimate_standin_figures.py DATA

DATA holds `tcga/` and `pascal-part/`, which may not be given away. Only figures leave this script (sizes, counts,
means, covariances, standard deviations), never a row: it rewrites `clustering_figures.rs` and
`pascal_part_figures.rs` under `crates/logltn-standin/src/`. Nothing but the standard library is needed.
"""

import csv
import gzip
import math
import sys
from collections import Counter, defaultdict
from pathlib import Path

# A mean over fewer boxes than this would be close to giving away a row, so such figures are pooled.
FEWEST = 10
# The stand-in needs the bulk, not the tail: rarer picture sizes are left out, fuller pictures count as this full.
SIZES = 8
MOST_WHOLES = 12

STANDIN = Path(__file__).resolve().parent.parent / "crates/logltn-standin/src"
NOTE = "// Written by tools/estimate_standin_figures.py; do not edit by hand.\n"


def number(value):
    """Six significant digits, as a Rust float literal."""
    text = f"{value:.6g}"
    return text if "." in text or "e" in text else text + ".0"


def mean(values):
    return math.fsum(values) / len(values)


def spread(values):
    """Mean and sample standard deviation, as the Rust expression `spread(m, s)`."""
    centre = mean(values)
    deviation = math.sqrt(math.fsum((v - centre) ** 2 for v in values) / (len(values) - 1))
    return f"spread({number(centre)}, {number(deviation)})"


def packed(numbers, indent, per_line=8):
    lines = []
    for start in range(0, len(numbers), per_line):
        lines.append(" " * indent + " ".join(number(n) + "," for n in numbers[start : start + per_line]))
    return "\n".join(lines)


def clustering(data):
    with open(data / "tcga/labels.csv", newline="") as file:
        labels = [row["Class"] for row in csv.DictReader(file)]
    with open(data / "tcga/pca_16d.csv", newline="") as file:
        rows = [[float(cell) for cell in row] for row in list(csv.reader(file))[1:]]
    assert len(labels) == len(rows)
    width = len(rows[0])
    blocks = []
    for name, size in Counter(labels).most_common():
        members = [row for row, label in zip(rows, labels) if label == name]
        centre = [mean([row[i] for row in members]) for i in range(width)]
        covariance = [
            math.fsum((row[i] - centre[i]) * (row[j] - centre[j]) for row in members) / (size - 1)
            for i in range(width)
            for j in range(i + 1)
        ]
        blocks.append(
            f'    ClassFigures {{\n        name: "{name}",\n        size: {size},\n'
            f"        mean: [\n{packed(centre, 12)}\n        ],\n"
            f"        covariance: [\n{packed(covariance, 12)}\n        ],\n    }},\n"
        )
    return (
        "//! Size, mean and covariance of each class of the gene expression data (TCGA PANCAN, UCI) after min-max scaling\n"
        "//! and a PCA to 16 dimensions: all that the stand-in knows of the real data.\n"
        + NOTE
        + "\nuse super::clustering::ClassFigures;\n\n"
        "/// The five classes, largest first.\n"
        "#[rustfmt::skip] // one number per line would make this file ten times as long\n"
        f"pub(super) const CLASSES: [ClassFigures; {len(blocks)}] = [\n" + "".join(blocks) + "];\n"
    )


def relative(part, whole):
    """Centre and size of a part's box, as fractions of its whole's box."""
    width, height = whole["xmax"] - whole["xmin"], whole["ymax"] - whole["ymin"]
    return (
        ((part["xmin"] + part["xmax"]) / 2 - whole["xmin"]) / width,
        ((part["ymin"] + part["ymax"]) / 2 - whole["ymin"]) / height,
        (part["xmax"] - part["xmin"]) / width,
        (part["ymax"] - part["ymin"]) / height,
    )


def pascal_part(data):
    with gzip.open(data / "pascal-part/trainval_boxes.csv.gz", "rt", newline="") as file:
        boxes = [{k: v if k == "type" else int(v) for k, v in row.items()} for row in csv.DictReader(file)]
    by_id = {box["box_id"]: box for box in boxes}
    with open(data / "pascal-part/pascalPartOntology.csv", newline="") as file:
        ontology = {row[0]: row[1:] for row in csv.reader(file) if row}

    pictures = defaultdict(list)  # the wholes of each picture, in the order of the file
    wholes = defaultdict(list)
    parts = defaultdict(lambda: defaultdict(list))  # (whole, part) -> box of the whole -> boxes of its parts
    for box in boxes:
        if box["partof"] < 0:
            pictures[box["pic"]].append(box)
            wholes[box["type"]].append(box)
        else:
            whole = by_id[box["partof"]]
            parts[whole["type"], box["type"]][whole["box_id"]].append(box)

    sizes = Counter((p[0]["img_w"], p[0]["img_h"]) for p in pictures.values()).most_common(SIZES)
    per_picture = Counter(min(len(p), MOST_WHOLES) for p in pictures.values())
    later = [(whole["type"], {w["type"] for w in p[:k]}) for p in pictures.values() for k, whole in enumerate(p) if k]
    repeats = mean([float(name in seen) for name, seen in later])

    def fractions(whole, part):
        return [relative(box, by_id[w]) for w, found in parts[whole, part].items() for box in found]

    blocks = []
    for whole in ontology:
        found = wholes[whole]
        size = [(b["xmax"] - b["xmin"], b["ymax"] - b["ymin"]) for b in found]
        scale = [math.sqrt(w * h / (b["img_w"] * b["img_h"])) for (w, h), b in zip(size, found)]
        block = (
            f'    WholeFigures {{ whole: "{whole}", count: {len(found)}, scale: {spread(scale)},\n'
            f"        log_aspect: {spread([math.log(w / h) for w, h in size])},\n"
            f"        centre: [{spread([(b['xmin'] + b['xmax']) / 2 / b['img_w'] for b in found])},"
            f" {spread([(b['ymin'] + b['ymax']) / 2 / b['img_h'] for b in found])}],\n"
        )
        lines = []
        for part in ontology[whole]:
            counts = [len(group) for group in parts[whole, part].values()]
            boxes_of_part = fractions(whole, part)
            pooled = ""
            if len(boxes_of_part) < FEWEST:
                # Too few to publish: the boxes of this part in all its wholes stand for them.
                boxes_of_part = [f for other in ontology if part in ontology[other] for f in fractions(other, part)]
                counts = [1, 1]
                pooled = " // too few: boxes of all wholes"
            centre_x, centre_y, width, height = (spread(list(column)) for column in zip(*boxes_of_part))
            presence = len(parts[whole, part]) / len(found)
            lines.append(
                f'        PartFigures {{ part: "{part}", presence: {number(presence)}, count: {spread(counts)},\n'
                f"            centre: [{centre_x}, {centre_y}], size: [{width}, {height}] }},{pooled}\n"
            )
        body = "&[\n" + "".join(lines) + "        ]" if lines else "&[]"
        blocks.append(block + f"        parts: {body} }},\n")
    return (
        "//! How the pictures of Semantic PASCAL-Part (training and validation) are made up, in figures: all that the\n"
        "//! stand-in knows of the real data.\n"
        + NOTE
        + "\nuse super::pascal_part::{PartFigures, WholeFigures, spread};\n\n"
        "/// The commonest picture sizes: width, height, number of pictures.\n"
        "#[rustfmt::skip] // a table reads better in rows\n"
        f"pub(super) const PICTURE_SIZES: [(u32, u32, u32); {len(sizes)}] = [\n    "
        + " ".join(f"({w}, {h}, {n})," for (w, h), n in sizes)
        + "\n];\n\n/// How many pictures have 1, 2, … wholes; the last number stands for all fuller pictures as well.\n"
        "#[rustfmt::skip] // as the script writes it\n"
        f"pub(super) const WHOLES_PER_PICTURE: [u32; {MOST_WHOLES}] = "
        + str([per_picture[k + 1] for k in range(MOST_WHOLES)])
        + ";\n\n/// How often a whole that is not its picture's first has a type that the picture already showed.\n"
        f"pub(super) const REPEATED_TYPE: f64 = {number(repeats)};\n\n"
        "/// The wholes and their parts, in the order of the paper's table.\n"
        "#[rustfmt::skip] // a table reads better in rows\n"
        f"pub(super) const WHOLES: [WholeFigures; {len(blocks)}] = [\n" + "".join(blocks) + "];\n"
    )


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    data = Path(sys.argv[1])
    (STANDIN / "clustering_figures.rs").write_text(clustering(data))
    (STANDIN / "pascal_part_figures.rs").write_text(pascal_part(data))


if __name__ == "__main__":
    main()
