"""One peer on one case: trains on request. The counterpart of logltn's `step_server`, with the same commands.

    python worker.py PEER FOLDER
"""

import json
import os
import resource
import sys
import time
from pathlib import Path

THREADS = int(os.environ.get("THREADS", 2))


def answer(**line):
    print(json.dumps(line), flush=True)


def build(peer, folder):
    case = json.loads((folder / "case.json").read_text())
    family, _, variant = peer.partition(":")
    if family == "ltn":
        import ltn_tensorflow as module
    else:
        import torch

        torch.set_num_threads(THREADS)
        if family == "pytorch":
            import handwritten as module
        elif family == "ltntorch":
            import ltntorch as module
        elif family == "in_torch":
            import in_torch as module
        elif family == "klay":
            import klay_circuits as module
        elif family == "deepproblog":
            import deep_problog as module
    imported = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return module.build(folder, case, variant), imported


def main():
    begun = time.perf_counter()
    try:
        training, imported = build(sys.argv[1], Path(sys.argv[2]))
    except Exception as error:  # whatever it is, the page says so
        answer(failed=f"{type(error).__name__}: {error}"[:500])
        raise
    answer(ready=True, load_seconds=time.perf_counter() - begun, imported_kb=imported)
    for line in sys.stdin:
        command, _, argument = line.strip().partition(" ")
        if command == "quit":
            break
        steps = int(argument)
        seconds, losses = [], []
        try:
            if command == "step":
                for _ in range(steps):
                    start = time.perf_counter()
                    loss = training.step()
                    seconds.append(time.perf_counter() - start)
                    losses.append(float(loss))
            else:
                start = time.perf_counter()
                for _ in range(steps):
                    losses.append(training.step())
                seconds.append(time.perf_counter() - start)
                losses = [float(x) for x in losses]
        except Exception as error:
            answer(failed=f"{type(error).__name__}: {error}"[:500])
            raise
        answer(seconds=seconds, losses=[losses[0], losses[-1]])


main()
