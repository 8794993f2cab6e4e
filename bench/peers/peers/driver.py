"""All tasks, one after the other; each leaves a file of results, and the page is made of those files.

    driver.py [--only TASK[,TASK…]] [--peers PEER[,PEER…]] [--quick] [--again] [--report] [--minutes M]
"""

import argparse
import json
import signal
import subprocess
import sys
import time

import machine
import report
from measure import Repetitions, measure, say
from process import MEMORY_LIMIT, ROOT, THREADS
from store import Store
from tasks import PEERS, TASKS

WORK = ROOT / "target/peers"
TIME_UP = 3  # exit status


def arguments(words=None):
    parser = argparse.ArgumentParser(prog="bench/peers/run", description="logltn and its peers, in turns")
    parser.add_argument("--only", help=f"tasks, with commas: {', '.join(TASKS)}")
    parser.add_argument("--peers", help=f"only these beside ours, with commas: {', '.join(PEERS)}; does not touch the page")
    parser.add_argument("--quick", action="store_true", help="a look in a few minutes; does not touch the page")
    parser.add_argument("--again", action="store_true", help="forget the results there are of these tasks")
    parser.add_argument("--report", action="store_true", help="only write the page, from the results there are")
    parser.add_argument("--minutes", type=float, help="begin nothing more after so many; the next run goes on")
    settings = parser.parse_args(words)
    settings.tasks = settings.only.split(",") if settings.only else list(TASKS)
    unknown = [t for t in settings.tasks if t not in TASKS]
    if unknown:
        parser.error(f"no such task: {', '.join(unknown)}; there are {', '.join(TASKS)}")
    settings.peers = settings.peers.split(",") if settings.peers else None
    unknown = [p for p in settings.peers or () if p not in PEERS]
    if unknown:
        parser.error(f"no such peer: {', '.join(unknown)}; there are {', '.join(PEERS)}")
    return settings


def chosen(groups, peers):
    """Groups without the programs that nobody asked for."""
    if peers is not None:
        for group in groups:
            group.peers = [name for name in group.peers if name.partition(":")[0] in ("logltn", *peers)]
    return groups


def with_published(found):
    """Tasks that were not measured here are as they were measured last."""
    measured = {task["task"]: task for task in found}
    published = json.loads(report.RAW.read_text()) if report.RAW.exists() else []
    for task in published:
        measured.setdefault(task["task"], task)
    return [measured[task] for task in TASKS if task in measured]


def commit():
    git = lambda *words: subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    return git("rev-parse", "--short", "HEAD") + ("+" if git("status", "--porcelain", "--", "crates", "bench") else "")


def failed_in(groups):
    """Who failed, us or others: they are not tried with what comes after, which is larger."""
    return {r["peer"] for group in groups.values() for r in group["results"] if "failed" in r}


def run_task(task, groups, store, repetitions, deadline=None, work=WORK):
    """Measures the groups that have no results yet. Gives False if time was up before the last."""
    begun = time.monotonic()
    for group in groups:
        done = store.groups(task)
        if group.name in done:
            continue
        failed = failed_in(done)
        if any(name.startswith("logltn") for name in failed):
            break  # nothing to compare with any more
        if deadline is not None and time.monotonic() > deadline:
            return False
        date, begun_group, others = time.strftime("%Y-%m-%d %H:%M"), time.monotonic(), machine.Others()
        say(f"{task}, {group.name}:")
        peers = [name for name in group.peers if name not in failed]
        results = measure(group.make(work), peers, repetitions, group.epoch_steps)
        facts = {
            "commit": commit(),
            "date": date,
            "machine": machine.description(),
            "threads": THREADS,
            "cores_of_others": others.cores(),
            "seconds": round(time.monotonic() - begun_group),
        }
        store.add(task, group.name, dict(facts, results=results))
    say(f"{task}: {time.monotonic() - begun:.0f} s")
    return True


def wrongs(tasks):
    """What must not be: another loss than ours, or no number of ours."""
    for task in tasks:
        for name, group in task["groups"].items():
            for r in group["results"]:
                reason = r.get("mismatch") or (r.get("failed") if r["peer"].startswith(("logltn", "in_torch")) else None)
                if reason:
                    yield f"{task['task']}, {name}, {r['peer']}: {reason}"


def main():
    # Then the programs are ended, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    settings = arguments()
    aside = "-".join((["quick"] if settings.quick else []) + (settings.peers or []))
    store = Store(WORK / (aside or "results"))
    repetitions = Repetitions(2, 0.1) if settings.quick else Repetitions(5, 0.6)
    for_growth = Repetitions(2, 0.05) if settings.quick else Repetitions(5, 0.3)
    deadline = time.monotonic() + 60 * settings.minutes if settings.minutes is not None else None
    left = machine.available_gb()
    if not settings.report and left is not None and left < (MEMORY_LIMIT >> 30) + 1:
        say(f"only {left:.0f} GB of memory are free: the system may end a program before it has the {MEMORY_LIMIT >> 30} GB it may use")
    complete = True
    if not settings.report:
        if settings.again:
            # All at once, so that a stopped run goes on without `--again`.
            for task in settings.tasks:
                store.forget(task)
        for task in settings.tasks:
            turns = for_growth if task.startswith("growth") else repetitions
            complete &= run_task(task, chosen(TASKS[task](settings.quick), settings.peers), store, turns, deadline)
    found = store.all(TASKS)
    print(report.markdown(found, settings.quick))
    if not aside:
        report.write(with_published(found))
    wrong = list(wrongs(found))
    for line in wrong:
        say(f"WRONG: {line}")
    if wrong:
        sys.exit(1)
    if not complete:
        say("Time was up. The same command without --again goes on where it was.")
        sys.exit(TIME_UP)


if __name__ == "__main__":
    main()
