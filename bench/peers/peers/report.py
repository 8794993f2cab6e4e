"""The page: tables and pictures of the results, between markers in bench/peers/RESULTS.md."""

import json
import math
import re
import sys

import aims
from machine import BUSY
from measure import LIMIT
from process import MEMORY_LIMIT, ROOT
from tasks import TASKS

PAGE = ROOT / "bench/peers/RESULTS.md"
PICTURES = ROOT / "docs/pictures"
RAW = ROOT / "bench/peers/results.json"
BEGIN, END = "<!-- peers:begin -->", "<!-- peers:end -->"

NAMES = {
    "logltn:stable": "**logltn**, `stable`",
    "logltn:logltn": "**logltn**, `logltn`",
    "logltn:logltn-lse": "**logltn**, `logltn-lse`",
    "in_torch:stable": "network in PyTorch, logic ours, `stable`",
    "in_torch:logltn": "network in PyTorch, logic ours, `logltn`",
    "in_torch:logltn-lse": "network in PyTorch, logic ours, `logltn-lse`",
    "ltntorch": "LTNtorch 1.0.2",
    "ltn:": "`ltn` 2.1 (TensorFlow)",
    "ltn:eager": "`ltn` 2.1, without `tf.function`",
    "pytorch:eager": "PyTorch by hand",
    "pytorch:compiled": "PyTorch by hand, `torch.compile`",
    "pytorch:stop-eager": "PyTorch by hand, boxes that are only read apart",
    "pytorch:stop-compiled": "the same, `torch.compile`",
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


def unit_of(value):
    return next(((scale, unit) for unit, scale in (("s", 1), ("ms", 1e-3)) if value >= scale), (1e-6, "µs"))


def seconds(value):
    scale, unit = unit_of(value)
    return f"{figures(value / scale)} {unit}"


def figures(value):
    """Three figures, all of those before the point."""
    if value <= 0:
        return "0"
    rounded = float(f"{value:.3g}")  # 99.96 is as long as 100
    return f"{value:,.{max(0, 2 - math.floor(math.log10(rounded)))}f}"


def reference_of(name, by_name):
    """Which of ours a peer is compared with."""
    if name.startswith("ltn") or name == "in_torch:stable":
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


def peers_of(groups):
    """All programs of a task, each once, in order; compiled ones, which come late, after all others."""
    names = dict.fromkeys(r["peer"] for group in groups.values() for r in group["results"])
    return sorted(names, key=lambda name: name.endswith("compiled"))


def series(groups, peer):
    """A program's results by size."""
    return {int(size): r for size, group in groups.items() for r in group["results"] if r["peer"] == peer}


def with_spread(result):
    """The median, with least and most in the same unit."""
    scale, unit = unit_of(result["median"])
    middle, least, most = (figures(result[key] / scale) for key in ("median", "least", "most"))
    return f"{middle} {unit} ({least}–{most})"


def growth_table(task):
    """A row for each size, a column for each program: time, then memory."""
    groups = task["groups"]
    peers = peers_of(groups)
    lines = []
    for what in ("time of a step", "peak memory"):
        lines += [f"| {what} | " + " | ".join(NAMES[p] for p in peers) + " |", "|---" * (len(peers) + 1) + "|"]
        for size in map(int, groups):
            cells = []
            for peer in peers:
                r = series(groups, peer).get(size)
                if r is None:
                    cells.append("")
                elif what == "peak memory":
                    cells.append(f"{r['peak_kb'] / 1024:,.0f} MB" if r.get("peak_kb") else "–")
                else:
                    cells.append(with_spread(r) if "median" in r else timed(r))
            lines.append(f"| {size:,} | " + " | ".join(cells) + " |")
        lines.append("")
    if "growth_points" == task["task"]:
        ours = series(groups, "logltn:logltn").items()
        plans = [f"{size:,}: {seconds(r['plan_seconds'])}" for size, r in ours if "plan_seconds" in r]
        lines += [f"Planning, once before the first step, by the number of points: {', '.join(plans)}.", ""]
    lines += [slope_text(groups, peer) for peer in peers]
    ends = [end_text(groups, peer) for peer in peers]
    lines += [text for text in ends if text]
    return lines


def power(small, large, key):
    """The exponent with which a figure grows from one (size, result) to another: 1 is linear."""
    return math.log(large[1][key] / small[1][key]) / math.log(large[0] / small[0])


def slope_text(groups, peer):
    """How a program's time and memory grow from the middle of the sizes to the largest."""
    found = [(size, r) for size, r in series(groups, peer).items() if r.get("median") and r.get("peak_kb")]
    if len(found) < 3:
        return ""
    small, large = found[len(found) // 2], found[-1]
    return (
        f"{NAMES[peer]}: from {small[0]:,} to {large[0]:,} time grows with the power "
        f"{power(small, large, 'median'):.2f}, peak memory with {power(small, large, 'peak_kb'):.2f}.\n"
    )


def failure(groups, peer):
    """The size at which a program gave up and why, or None."""
    return next(((size, r["failed"]) for size, r in series(groups, peer).items() if "failed" in r), None)


def end_text(groups, peer):
    end = failure(groups, peer)
    return f"{NAMES[peer]}: {end[1]} at {end[0]:,}; not tried beyond.\n" if end else ""


def facts_text(tasks):
    """When, where and how it was measured."""
    groups = [group for task in tasks for group in task["groups"].values()]
    each = lambda key: ", ".join(sorted({str(g[key]) for g in groups}))
    dates = sorted(g["date"] for g in groups)
    return (
        f"Measured by `bench/peers/run` on {dates[0]} to {dates[-1]}, commit {each('commit')}, {each('machine')}, "
        f"{each('threads')} threads each. "
        "Programs take turns; a turn is many steps, its figure their median; shown are the median, least and most of "
        "the turns (five; two if a step takes more than 5 s, one if more than 20 s). A step is a whole training step: networks, logic, backward "
        "pass, Adam. Peak memory is that of the process, libraries and data included. LTN's two libraries are compared "
        "with our `stable` semantics, all else with the log semantics; every comparison was first checked to have the "
        f"same loss on the same weights to 1e-4. A program may use {MEMORY_LIMIT >> 30} GB, and {LIMIT:.0f} s for a step; one that "
        "needs more is not tried on larger sizes. What each peer is: `bench/peers/README.md`."
    )


def busy_text(tasks):
    busy = {}
    for task in tasks:
        cores = max(group["cores_of_others"] or 0 for group in task["groups"].values())
        if cores > BUSY:
            busy[task["task"]] = cores
    if not busy:
        return []
    listed = ", ".join(f"{task} ({cores:.1f})" for task, cores in busy.items())
    return [f"**The machine was busy: other programs used this many of its cores during {listed}.**", ""]


def missing_text(tasks, quick):
    """What the tables do not have."""
    found = {task["task"]: task["groups"] for task in tasks}
    missing = []
    for name, groups_of in TASKS.items():
        groups = found.get(name, {})
        ours_failed = any("failed" in r for g in groups.values() for r in g["results"] if r["peer"].startswith("logltn"))
        absent = [g.name for g in groups_of(quick) if g.name not in groups]
        if absent and not ours_failed:
            missing.append(name if not groups else f"{name} ({', '.join(absent)})")
    return [f"**Not measured yet: {'; '.join(missing)}.**", ""] if missing else []


def markdown(tasks, quick=False):
    if not tasks:
        return "no results yet"
    lines = [facts_text(tasks), ""] + busy_text(tasks) + missing_text(tasks, quick)
    lines += ["### Aims", "", "Ratios of the tables below: how many times ours theirs is.", ""] + aims.table(tasks, figures) + [""]
    for task in tasks:
        lines += [f"### {TITLES[task['task']]}", ""]
        if task["task"].startswith("growth"):
            lines += growth_table(task)
            lines += [f"![{TITLES[task['task']]}](pictures/peers-{task['task']}.png)", ""]
            continue
        for name, group in task["groups"].items():
            if len(task["groups"]) > 1:
                lines += [f"**{name[0].upper() + name[1:]}**", ""]
            lines += table(group["results"]) + [""]
        if any("extrapolated_from_steps" in r for g in task["groups"].values() for r in g["results"]):
            lines += ["¹ Measured over so many steps and scaled to the epoch.", ""]
    text = "\n".join(lines).rstrip() + "\n"
    return re.sub(r"\n{3,}", "\n\n", text)


def plot(task):
    """Crosses at the limit of time or memory say who ran out of it, and where."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    groups = task["groups"]
    figure, axes = pyplot.subplots(1, 2, figsize=(11, 5))
    kinds = (
        (axes[0], "median", 1e3, "a step, ms", LIMIT, "more than"),
        (axes[1], "peak_kb", 1 / 1024, "peak memory, MB", MEMORY_LIMIT / 1024, "out of memory"),
    )
    for axis, key, scale, label, limit, reason in kinds:
        for place, peer in enumerate(peers_of(groups)):
            found = [(size, r) for size, r in series(groups, peer).items() if r.get(key)]
            points = [(size, r[key] * scale) for size, r in found]
            line = dict(color=f"C{place}", linewidth=2.4 if peer.startswith("logltn") else 1.3)
            name = re.sub(r"[*`]", "", NAMES[peer])
            end = failure(groups, peer)
            if end:
                name += f": {end[1]} at {end[0]:,}"
            axis.plot(*zip(*points) if points else ([], []), marker="o", markersize=4, label=name, **line)
            if key == "median" and found:
                around = [[(r["median"] - r["least"]) * scale for _, r in found], [(r["most"] - r["median"]) * scale for _, r in found]]
                axis.errorbar(*zip(*points), yerr=around, fmt="none", capsize=2, ecolor=line["color"], elinewidth=1)
            if end and end[1].startswith(reason):
                cross = (end[0], limit * scale)
                axis.plot(*cross, marker="x", markersize=9, markeredgewidth=2, color=line["color"])
                if points:
                    axis.plot(*zip(points[-1], cross), linestyle=":", **line)
        axis.set(xscale="log", yscale="log", xlabel=task["task"].split("_")[1], ylabel=label)
        axis.grid(True, which="both", alpha=0.25)
    # Below, where it hides no line.
    figure.legend(*axes[0].get_legend_handles_labels(), fontsize=7.5, ncol=2, loc="lower center", frameon=False)
    figure.suptitle(TITLES[task["task"]], fontsize=11)
    figure.tight_layout(rect=(0, 0.12, 1, 1))
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
    print(f"written: {PAGE.relative_to(ROOT)}, {RAW.relative_to(ROOT)}", file=sys.stderr)
