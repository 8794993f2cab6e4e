"""Smokes, friends, cancer: facts about some people, rules for all, and the two contradict each other.

    python examples/python/smokes.py

People are vectors that are learnt (`nn.Embedding`); the knowledge base runs the networks. The theory is in smokes_data.py.
"""

import os
import time

import smokes_data as data
import torch

STEPS = int(os.environ.get("LOGLTN_STEPS", 1001))


def main() -> float:
    torch.manual_seed(0)
    modules = data.modules()
    kb = data.knowledge_base(modules)
    optimizer = torch.optim.Adam(kb.parameters(), 0.01)
    start = time.perf_counter()
    for step in range(STEPS):
        loss = kb()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 200 == 0:
            print(f"step {step:4}: satisfaction {1 - loss.item():.3f}")
    print(f"{time.perf_counter() - start:.1f} s\n")

    with torch.no_grad():
        everybody = modules["people"].weight
        n = len(everybody)
        smokes, cancer = (modules[name](everybody).squeeze(1).sigmoid() for name in ("smokes", "cancer"))
        friend = modules["friend"](everybody.repeat_interleave(n, 0), everybody.repeat(n, 1)).view(n, n) > 0
    print("what was learnt (* a given fact; cancer is not given for i to n)")
    print(f"{'':3}{'smokes':>8}{'cancer':>9}   friends")
    for i, name in enumerate(data.PEOPLE):
        star = lambda names: "*" if name in names else " "
        friends = " ".join(other for other, yes in zip(data.PEOPLE, friend[i]) if yes)
        print(f"{name:3}{smokes[i]:7.2f}{star(data.SMOKERS)}{cancer[i]:8.2f}{star(data.ILL)}   {friends}")
    print("\nhow true each axiom is")
    for name, truth in kb.truths.items():
        print(f"{name:14}{truth:6.3f}  {'#' * round(40 * truth)}")
    return 1 - loss.item()


if __name__ == "__main__":
    main()
