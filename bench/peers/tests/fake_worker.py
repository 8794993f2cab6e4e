"""Speaks as worker.py does, computes nothing, and goes wrong on request.

    fake_worker.py JSON

`losses`: those of the steps, the last for all further ones. `seconds`: what a step is said to take. `starting`, or
`at_step` N and `then`: `hang`, `raise`, `no_memory`, `bad_alloc`, `killed`, `abort`, `leave`.
"""

import json
import os
import signal
import subprocess
import sys
import time

wanted = json.loads(sys.argv[1])


def answer(**line):
    print(json.dumps(line), flush=True)


def go_wrong(how):
    try:
        if how == "hang":
            time.sleep(1000)
        elif how == "raise":
            raise ValueError("no such\nthing")
        elif how == "no_memory":
            bytearray(1 << 50)
        elif how == "bad_alloc":
            print("terminate called\n  what():  std::bad_alloc\n", file=sys.stderr, flush=True)
            os.abort()
        elif how == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        elif how == "abort":
            os.abort()
        elif how == "leave":
            sys.exit(7)
    except Exception as error:
        answer(failed=f"{type(error).__name__}: {error}")
        raise


print("Welcome to this library!\n{almost JSON\n[1]", flush=True)
if "child" in wanted:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    with open(wanted["child"], "w") as file:
        file.write(str(child.pid))
go_wrong(wanted.get("starting"))
answer(ready=True, load_seconds=0.0)
losses, taken = wanted.get("losses", [1.0]), 0
for line in sys.stdin:
    command, _, argument = line.strip().partition(" ")
    if command == "weights":
        answer(written=argument)
        continue
    found = []
    for _ in range(int(argument)):
        taken += 1
        if taken == wanted.get("at_step"):
            go_wrong(wanted["then"])
        found.append(losses[min(taken, len(losses)) - 1])
    each = wanted.get("seconds", 0.001)
    seconds = [each * int(argument)] if command == "block" else [each] * int(argument)
    answer(seconds=seconds, losses=[found[0], found[-1]])
