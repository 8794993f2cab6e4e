"""What is measured: tasks, each of groups that one table, or one row of a table of growth, is made of.

Cases are made when their turn comes, by `cases`, which needs NumPy: this list does not."""

from dataclasses import dataclass, field
from typing import Callable

# Beside our own; each may have variants, after a colon.
PEERS = ("in_torch", "ltntorch", "ltn", "pytorch", "klay", "deepproblog")
OURS = ["logltn:stable", "logltn:logltn"]
BY_HAND = ["pytorch:eager", "pytorch:compiled"]
# Networks in PyTorch, the logic ours.
IN_TORCH = ["in_torch:stable", "in_torch:logltn"]
LTN = ["ltntorch", "ltn:"]
# Only for single steps: it is the slowest of all.
LTN_EAGER = ["ltn:eager"]


@dataclass
class Group:
    name: str
    # From a folder for cases to the folder of this one.
    make: Callable
    peers: list = field(default_factory=list)
    # Timed together, where a figure is one of an epoch.
    epoch_steps: int | None = None


def case(function, *arguments):
    def make(work):
        import cases

        return getattr(cases, function)(work, *arguments)

    return make


def clustering(quick):
    return [Group("step", case("clustering"), OURS + IN_TORCH + LTN + LTN_EAGER + BY_HAND)]


def mnist_add(quick):
    alone = ["pytorch:network", "pytorch:network-pool-first"]
    groups = [Group("step", case("mnist_add", 32), OURS + IN_TORCH + LTN + LTN_EAGER + BY_HAND + alone)]
    for rows in (1_500,) if quick else (1_500, 15_000):
        groups.append(Group(f"epoch of {rows:,}", case("mnist_add", rows), OURS + IN_TORCH + LTN + BY_HAND, -(-rows // 32)))
    return groups


def pascal_part(quick):
    apart = ["pytorch:stop-eager", "pytorch:stop-compiled"]
    return [Group("step", case("pascal_part"), OURS + IN_TORCH + ["ltntorch"] + BY_HAND + apart)]


def multi_add(quick):
    groups = []
    for digits in (1, 2) if quick else (1, 2, 4, 15):
        klay = ["klay:", "klay:compiled"] if digits == 2 else ["klay:"]
        peers = ["logltn:logltn-lse", "in_torch:logltn-lse"] + BY_HAND + klay + ["deepproblog:"]
        groups.append(Group(f"N = {digits}", case("multi_add", digits), peers))
    return groups


def growth(function, sizes, peers, compiled=()):
    """Compiling takes longer than all else, and gains the same at every size: some sizes are enough."""
    return [
        Group(str(size), case(function, size), peers + (["pytorch:compiled"] if size in compiled else []))
        for size in sizes
    ]


def growth_points(quick):
    sizes = (100, 1_000) if quick else (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
    return growth("growing_points", sizes, OURS + LTN + ["pytorch:eager"], (1_000, 100_000))


def growth_clusters(quick):
    sizes = (5, 15) if quick else (5, 15, 50, 150, 500)
    return growth("clustering", sizes, OURS + LTN + ["pytorch:eager"], (50,))


def growth_axioms(quick):
    sizes = (60, 200) if quick else (60, 200, 600, 2_000, 6_000)
    return growth("pascal_part", sizes, OURS + ["ltntorch", "pytorch:eager"], (600,))


def growth_digits(quick):
    sizes = (1, 2) if quick else (1, 2, 4, 8, 15)
    return growth("multi_add", sizes, ["logltn:logltn-lse", "pytorch:eager", "klay:"])


TASKS = {
    f.__name__: f
    for f in (clustering, mnist_add, pascal_part, multi_add, growth_points, growth_clusters, growth_axioms, growth_digits)
}
