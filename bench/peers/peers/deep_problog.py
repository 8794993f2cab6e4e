"""Addition of numbers of many digits in DeepProbLog, exact inference, circuits cached as its examples do.

The program goes column by column with carries, so that its proofs are linear in the number of digits: kinder than the
`multi_addition` of its examples, which enumerates all numbers. Exact inference does
without SWI-Prolog, which only its approximate engine needs.
"""

import numpy as np
import torch
from problog.logic import Constant, Term, list2term

from deepproblog.engines import ExactEngine
from deepproblog.model import Model
from deepproblog.network import Network
from deepproblog.query import Query
from torch import nn

from batches import Batches
from networks import images, lenet, with_weights

PROGRAM = """
nn(digit_network, [X], Y, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) :: digit(X, Y).
columns([], [], C, [C]).
columns([X|Xs], [Y|Ys], C, [S|Ss]) :-
    digit(X, A), digit(Y, B), T is A + B + C, S is T mod 10, C2 is T // 10, columns(Xs, Ys, C2, Ss).
addition(Xs, Ys, S) :- columns(Xs, Ys, 0, S).
"""


class Training:
    def __init__(self, folder, case):
        digits = case["digits"]
        rows, sums = np.load(folder / "rows.npy"), np.load(folder / "sums.npy")
        network = nn.Sequential(with_weights(lenet(pool_first=True), folder, "digit"), nn.Softmax(1))
        wrapped = Network(network, "digit_network", batching=True)
        wrapped.optimizer = torch.optim.Adam(network.parameters(), lr=case["learning_rate"])
        self.model = Model(PROGRAM, [wrapped], load=False)
        self.model.set_engine(ExactEngine(self.model), cache=True)
        pictures = images()
        self.model.add_tensor_source("train", {(Constant(int(i)),): pictures[i] for i in rows.flatten()})
        names = [[Term(f"{n}{i}") for i in range(digits)] for n in ("x", "y")]

        def query(row, total):
            images = {
                name: Term("tensor", Term("train", Constant(int(i))))
                for name, i in zip(names[0] + names[1], row)
            }
            of_sum = list2term([Constant(int(s)) for s in total])
            return Query(Term("addition", list2term(names[0]), list2term(names[1]), of_sum), images)

        self.queries = [query(row, total) for row, total in zip(rows, sums)]
        self.batches = Batches(len(rows), case["batch"])

    def step(self):
        self.model.train()
        self.model.optimizer.zero_grad()
        batch = [self.queries[i] for i in self.batches.next()]
        loss = 0.0
        for result, query in zip(self.model.solve(batch), batch):
            loss += self.model.solver.semiring.cross_entropy(
                result, query.p, weight=1 / len(batch), q=query.substitute().query
            )
        self.model.optimizer.step()
        return loss


def build(folder, case, _variant):
    return Training(folder, case)
