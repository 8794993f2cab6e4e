"""All tasks, one after the other; each leaves a file of results, and the page is made of those files.

    driver.py [--only TASK[,TASK…]] [--quick] [--again] [--report]
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import cases
import report
from measure import measure, say

WORK = cases.ROOT / "target/peers"

OURS = ["logltn:stable", "logltn:logltn"]
BY_HAND = ["pytorch:eager", "pytorch:compiled"]
LTN = ["ltntorch", "ltn:"]
# Only for single steps: it is the slowest of all.
LTN_EAGER = ["ltn:eager"]


def clustering(settings):
    folder = cases.clustering(WORK)
    names = OURS + LTN + LTN_EAGER + BY_HAND
    return {"step": measure(folder, names, settings.repetitions, settings.chunk)}


def mnist_add(settings):
    names = OURS + LTN + BY_HAND
    alone = ["pytorch:network", "pytorch:network-pool-first"]
    found = {"step": measure(cases.mnist_add(WORK, 32), names + LTN_EAGER + alone, settings.repetitions, settings.chunk)}
    for rows in (1_500,) if settings.quick else (1_500, 15_000):
        folder = cases.mnist_add(WORK, rows)
        found[f"epoch of {rows:,}"] = measure(folder, names, settings.repetitions, settings.chunk, -(-rows // 32))
    return found


def pascal_part(settings):
    names = OURS + ["ltntorch"] + BY_HAND
    return {"step": measure(cases.pascal_part(WORK), names, settings.repetitions, settings.chunk)}


def multi_add(settings):
    found, out = {}, set()
    for digits in (1, 2) if settings.quick else (1, 2, 4, 15):
        names = ["logltn:logltn-lse"] + BY_HAND + ["klay:", "deepproblog:"]
        if digits == 2:
            names.insert(4, "klay:compiled")
        names = [n for n in names if n not in out]
        results = measure(cases.multi_add(WORK, digits), names, settings.repetitions, settings.chunk)
        # Who fails is not tried with longer numbers.
        out |= {r["peer"] for r in results if "failed" in r}
        found[f"N = {digits}"] = results
    return found


def growth(settings, sizes, quick_sizes, make, names):
    """Every peer until it fails once; larger cases are not tried with it."""
    found, out = {}, set()
    for size in quick_sizes if settings.quick else sizes:
        asked = [n for n in names(size) if n not in out]
        results = measure(make(size), asked, settings.growth_repetitions, settings.growth_chunk)
        out |= {r["peer"] for r in results if "failed" in r and r["peer"] not in OURS}
        found[str(size)] = results
        if any("failed" in r for r in results if r["peer"].startswith("logltn")):
            break
    return found


def growth_points(settings):
    sizes = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
    names = lambda n: OURS + LTN + BY_HAND[: 2 if n in (1_000, 100_000) else 1]
    return growth(settings, sizes, (100, 1_000), lambda n: cases.growing_points(WORK, n), names)


def growth_clusters(settings):
    names = lambda n: OURS + LTN + BY_HAND[: 2 if n == 50 else 1]
    return growth(settings, (5, 15, 50, 150, 500), (5, 15), lambda n: cases.clustering(WORK, n), names)


def growth_axioms(settings):
    names = lambda n: OURS + ["ltntorch"] + BY_HAND[: 2 if n == 600 else 1]
    return growth(settings, (60, 200, 600, 2_000, 6_000), (60, 200), lambda n: cases.pascal_part(WORK, n), names)


def growth_digits(settings):
    names = lambda n: ["logltn:logltn-lse", "pytorch:eager", "klay:"]
    return growth(settings, (1, 2, 4, 8, 15), (1, 2), lambda n: cases.multi_add(WORK, n), names)


TASKS = {
    f.__name__: f
    for f in (clustering, mnist_add, pascal_part, multi_add, growth_points, growth_clusters, growth_axioms, growth_digits)
}


def commit():
    git = lambda *words: subprocess.run(["git", *words], cwd=cases.ROOT, capture_output=True, text=True).stdout.strip()
    return git("rev-parse", "--short", "HEAD") + ("+" if git("status", "--porcelain", "--", "crates", "bench") else "")


def main():
    parser = argparse.ArgumentParser(prog="bench/peers/run", description="logltn and its peers, in turns")
    parser.add_argument("--only", help=f"tasks, with commas: {', '.join(TASKS)}")
    parser.add_argument("--quick", action="store_true", help="a look in a few minutes; does not touch the page")
    parser.add_argument("--again", action="store_true", help="tasks that already have results, too")
    parser.add_argument("--report", action="store_true", help="only write the page, from the results there are")
    settings = parser.parse_args()
    settings.repetitions, settings.chunk = (2, 0.1) if settings.quick else (5, 0.6)
    settings.growth_repetitions, settings.growth_chunk = (2, 0.05) if settings.quick else (5, 0.3)
    wanted = settings.only.split(",") if settings.only else list(TASKS)
    unknown = [t for t in wanted if t not in TASKS]
    if unknown:
        parser.error(f"no such task: {', '.join(unknown)}; there are {', '.join(TASKS)}")
    results = WORK / ("quick" if settings.quick else "results")
    results.mkdir(parents=True, exist_ok=True)
    for name in [] if settings.report else wanted:
        file = results / f"{name}.json"
        if file.exists() and not settings.again:
            say(f"{name}: results are there already ({file}); --again measures anew")
            continue
        begun, load = time.time(), os.getloadavg()[0]
        if load > 1:
            say(f"the load is {load:.1f}: on a busy machine these times mean little")
        found = TASKS[name](settings)
        facts = {"task": name, "commit": commit(), "date": time.strftime("%Y-%m-%d %H:%M"), "load_before": load}
        facts.update(seconds=round(time.time() - begun), groups=found)
        file.write_text(json.dumps(facts, indent=1))
        say(f"{name}: {facts['seconds']} s")
    tasks = [json.loads((results / f"{n}.json").read_text()) for n in TASKS if (results / f"{n}.json").exists()]
    print(report.markdown(tasks))
    if not settings.quick:
        report.write(tasks)
    wrong = [
        f"{task['task']}, {group}, {r['peer']}: {r['mismatch']}"
        for task in tasks for group, rs in task["groups"].items() for r in rs if "mismatch" in r
    ]  # fmt: skip
    ours = [
        f"{task['task']}, {group}, {r['peer']}: {r['failed']}"
        for task in tasks for group, rs in task["groups"].items() for r in rs
        if "failed" in r and r["peer"].startswith("logltn")
    ]  # fmt: skip
    for line in wrong + ours:
        say(f"WRONG: {line}")
    sys.exit(1 if wrong + ours else 0)


main()
