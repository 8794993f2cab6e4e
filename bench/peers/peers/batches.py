"""Batches of rows, shuffled anew for each pass, as in logltn's trainer."""

import numpy as np


class Batches:
    def __init__(self, rows, size):
        self.rows, self.size = rows, size
        self.random = np.random.default_rng(0)
        self.order, self.at = np.arange(rows), rows

    def next(self):
        if self.at >= self.rows:
            self.random.shuffle(self.order)
            self.at = 0
        batch = self.order[self.at : self.at + self.size]
        self.at += self.size
        return batch
