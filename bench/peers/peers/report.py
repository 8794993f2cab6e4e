"""The page: tables and pictures of the results, between markers in docs/performance.md."""

import json
import math
import platform
import re
import subprocess
import sys
from pathlib import Path

import cases
from process import THREADS

PAGE = cases.ROOT / "docs/performance.md"
PICTURES = cases.ROOT / "docs/pictures"
RAW = cases.ROOT / "bench/peers/results.json"
BEGIN, END = "<!-- peers:begin -->", "<!-- peers:end -->"

NAMES = {
    "logltn:stable": "**logltn**, `stable`",
    "logltn:logltn": "**logltn**, `logltn`",
    "logltn:logltn-lse": "**logltn**, `logltn-lse`",
    "ltntorch": "LTNtorch 1.0.2",
    "ltn:": "`ltn` 2.1 (TensorFlow)",
    "ltn:eager": "`ltn` 2.1, without `tf.function`",
    "pytorch:eager": "PyTorch by hand",
    "pytorch:compiled": "PyTorch by hand, `torch.compile`",
    "pytorch:network": "PyTorch, the network alone",
    "pytorch:network-pool-first": "PyTorch, the network alone, pooling before ELU",
    "klay:": "KLay circuit",
    "klay:compiled": "KLay circuit, `torch.compile`",
    "deepproblog:": "DeepProbLog, exact",
}
TITLES = {
    "clustering": "Clustering: 801 points, 5 clusters, 2.5 % of the pairs",
    "mnist_add": "MNISTAdd, numbers of two digits, batches of 32",
    "pascal_part": "PASCAL-Part: 60 axioms, batches of 32, 1,024 simulated features",
    "multi_add": "Addition of numbers of N digits, batches of 32, with the network",
    "growth_points": "Growth: points, about 20 neighbours each, 5 clusters",
    "growth_clusters": "Growth: clusters, 801 points",
    "growth_axioms": "Growth: axioms of the form of PASCAL-Part's",
    "growth_digits": "Growth: digits of the numbers to add",
}


def seconds(value):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= scale or unit == "µs":
            return f"{figures(value / scale)} {unit}"


def figures(value):
    """Three figures."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f}" if value > 0 else "0"


def reference_of(name, by_name):
    """Which of ours a peer is compared with."""
    if name.startswith("ltn"):
        return by_name.get("logltn:stable")
    return by_name.get("logltn:logltn") or by_name.get("logltn:logltn-lse")


def timed(result):
    if "failed" in result and "median" not in result:
        return result["failed"]
    if "median" not in result:
        return result.get("mismatch", "–")
    text = f"{seconds(result['median'])} ({seconds(result['least'])}–{seconds(result['most'])})"
    if "extrapolated_from_steps" in result:
        text += f" ¹{result['extrapolated_from_steps']}"
    return text


def ratio(result, ours, key):
    if not ours or ours is result or result.get(key) is None or ours.get(key) is None:
        return "–" if ours is not result else "1"
    if "mismatch" in result:
        return "different loss"
    return f"{figures(result[key] / ours[key])}×"


def table(results):
    by_name = {r["peer"]: r for r in results}
    lines = ["| program | time: median (least–most of the turns) | times ours | peak memory | times ours |", "|---|---|---|---|---|"]
    for r in results:
        ours = reference_of(r["peer"], by_name) if not r["peer"].startswith("logltn") else r
        memory = f"{r['peak_kb'] / 1024:,.0f} MB" if r.get("peak_kb") else "–"
        cells = [NAMES[r["peer"]], timed(r), ratio(r, ours, "median"), memory, ratio(r, ours, "peak_kb")]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def growth_table(task):
    """A row for each size, a column for each program: time, then memory."""
    groups = task["groups"]
    peers = list(dict.fromkeys(r["peer"] for rs in groups.values() for r in rs))
    lines = []
    for what in ("time of a step", "peak memory"):
        lines += [f"| {what} | " + " | ".join(NAMES[p] for p in peers) + " |", "|---" * (len(peers) + 1) + "|"]
        for size, results in groups.items():
            by_name = {r["peer"]: r for r in results}
            cells = []
            for peer in peers:
                r = by_name.get(peer)
                if r is None:
                    cells.append("")
                elif what == "peak memory":
                    cells.append(f"{r['peak_kb'] / 1024:,.0f} MB" if r.get("peak_kb") else "–")
                else:
                    cells.append(seconds(r["median"]) if "median" in r else timed(r))
            lines.append(f"| {int(size):,} | " + " | ".join(cells) + " |")
        lines.append("")
    if "growth_points" == task["task"]:
        plans = []
        for size, results in groups.items():
            ours = next((r for r in results if r["peer"] == "logltn:logltn" and "plan_seconds" in r), None)
            if ours:
                plans.append(f"{int(size):,}: {seconds(ours['plan_seconds'])}")
        lines += [f"Planning, once before the first step, by the number of points: {', '.join(plans)}.", ""]
    lines += [slope_text(groups, peer) for peer in peers if peer.startswith("logltn")]
    return lines


def slope_text(groups, peer):
    """How a program's time and memory grow from the middle of the sizes to the largest."""
    found = [(int(s), r) for s, rs in groups.items() for r in rs if r["peer"] == peer and r.get("median")]
    if len(found) < 3:
        return ""
    (small, a), (large, b) = found[len(found) // 2], found[-1]
    power = lambda key: math.log(b[key] / a[key]) / math.log(large / small)
    return (
        f"{NAMES[peer]}: from {small:,} to {large:,} time grows with the power {power('median'):.2f}, "
        f"peak memory with {power('peak_kb'):.2f}.\n"
    )


def machine():
    model = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), platform.machine())
    cores = subprocess.run(["nproc"], capture_output=True, text=True).stdout.strip()
    return f"{cores} cores of {model}"


def markdown(tasks):
    if not tasks:
        return "no results yet"
    dates = sorted(t["date"] for t in tasks)
    commits = ", ".join(sorted({t["commit"] for t in tasks}))
    lines = [
        f"Measured by `bench/peers/run` on {dates[0]} to {dates[-1]}, commit {commits}, {machine()}, {THREADS} threads each. "
        "Programs take turns; a turn is many steps, its figure their median; shown are the median, least and most of "
        "the turns (five; two if a step takes more than 5 s, one if more than 20 s). A step is a whole training step: networks, logic, backward "
        "pass, Adam. Peak memory is that of the process, libraries and data included. LTN's two libraries are compared "
        "with our `stable` semantics, all else with the log semantics; every comparison was first checked to have the "
        "same loss on the same weights to 1e-4. What each peer is: `bench/peers/README.md`.",
        "",
    ]
    busy = [t["task"] for t in tasks if t["load_before"] > 1]
    if busy:
        lines += [f"**The machine was busy (load above 1) before: {', '.join(busy)}.**", ""]
    for task in tasks:
        lines += [f"### {TITLES[task['task']]}", ""]
        if task["task"].startswith("growth"):
            lines += growth_table(task)
            lines += [f"![{TITLES[task['task']]}](pictures/peers-{task['task']}.png)", ""]
            continue
        for group, results in task["groups"].items():
            if len(task["groups"]) > 1:
                lines += [f"**{group[0].upper() + group[1:]}**", ""]
            lines += table(results) + [""]
        if any("extrapolated_from_steps" in r for rs in task["groups"].values() for r in rs):
            lines += ["¹ Measured over so many steps and scaled to the epoch.", ""]
    return "\n".join(line for line in lines).rstrip() + "\n"


def plot(task):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    groups = task["groups"]
    peers = list(dict.fromkeys(r["peer"] for rs in groups.values() for r in rs))
    figure, axes = pyplot.subplots(1, 2, figsize=(11, 4.2))
    for axis, key, scale, label in ((axes[0], "median", 1e3, "a step, ms"), (axes[1], "peak_kb", 1 / 1024, "peak memory, MB")):
        for place, peer in enumerate(peers):
            points = [(int(s), r[key] * scale) for s, rs in groups.items() for r in rs if r["peer"] == peer and r.get(key)]
            ours = peer.startswith("logltn")
            if points:
                name = re.sub(r"[*`]", "", NAMES[peer])
                axis.plot(*zip(*points), marker="o", markersize=4, linewidth=2.4 if ours else 1.3, label=name, color=f"C{place}")
        axis.set(xscale="log", yscale="log", xlabel=task["task"].split("_")[1], ylabel=label)
        axis.grid(True, which="both", alpha=0.25)
    axes[0].legend(fontsize=7.5)
    figure.suptitle(TITLES[task["task"]], fontsize=11)
    figure.tight_layout()
    PICTURES.mkdir(exist_ok=True)
    figure.savefig(PICTURES / f"peers-{task['task']}.png", dpi=110)
    pyplot.close(figure)


def write(tasks):
    """Puts the tables between the markers and the pictures beside the page."""
    for task in tasks:
        if task["task"].startswith("growth"):
            plot(task)
    RAW.write_text(json.dumps(tasks, indent=1) + "\n")
    page = PAGE.read_text()
    section = f"{BEGIN}\n{markdown(tasks)}{END}"
    if BEGIN in page and END in page:
        before, rest = page.split(BEGIN, 1)
        page = before + section + rest.split(END, 1)[1]
    else:
        page = page.rstrip() + f"\n\n## Peers\n{section}\n"
    PAGE.write_text(page)
    print(f"written: {PAGE.relative_to(cases.ROOT)}, {RAW.relative_to(cases.ROOT)}", file=sys.stderr)
