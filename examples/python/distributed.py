"""Digits from sums, by many processes: each has some of the pictures, and together they learn what one would with all pictures.

    torchrun --standalone --nproc-per-node 2 examples/python/distributed.py

On several machines, the same line on each, with the address of one of them and without `--standalone`:

    torchrun --nnodes 2 --node-rank 0 --nproc-per-node 8 --master-addr 10.0.0.1 --master-port 29500 examples/python/distributed.py

Without torchrun it is one process. What differs from `mnist_add.py` is the group, DistributedDataParallel, and who has which sums.
"""

import argparse
import os

import torch
import torch.distributed as dist
from mnist_add import ADDITION, mnist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import logltn.torch


def main() -> float:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sums", type=int, default=6000, help="how many sums to learn from (%(default)s)")
    parser.add_argument("--epochs", type=int, default=2, help="how often to see them (%(default)s)")
    parser.add_argument("--batch", type=int, default=32, help="sums in a step, of all processes together (%(default)s)")
    arguments = parser.parse_args()

    group, rank, size, device = None, 0, 1, torch.device("cpu")
    if "RANK" in os.environ:
        if torch.cuda.is_available():
            device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
            torch.cuda.set_device(device)
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
        group, rank, size = dist.group.WORLD, dist.get_rank(), dist.get_world_size()

    torch.manual_seed(0)  # the same network and the same sums everywhere
    net: nn.Module = nn.Sequential(
        nn.Conv2d(1, 6, 5), nn.MaxPool2d(2), nn.ReLU(), nn.Conv2d(6, 16, 5), nn.MaxPool2d(2), nn.ReLU(),
        nn.Flatten(), nn.Linear(256, 100), nn.ReLU(), nn.Linear(100, 10),
    ).to(device)  # fmt: skip
    net = DistributedDataParallel(net) if group is not None else net
    pictures, digits = mnist("train")
    pairs = torch.randperm(len(digits))[: 2 * arguments.sums].view(-1, 2)
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    kb = logltn.torch.KnowledgeBase(ADDITION, outputs={"digit": "softmax"}, streamed=["sums"], process_group=group)
    for epoch in range(arguments.epochs):
        shuffled = pairs[torch.randperm(len(pairs))]
        for batch in shuffled.split(arguments.batch):
            own = batch[rank::size]  # the last batch may leave some processes without rows
            images, n = pictures[own].to(device), digits[own].sum(1)
            logits = net(images.flatten(0, 1))
            i = torch.arange(2 * len(n))
            # The loss of all sums of the batch, on every rank.
            loss = kb.loss(
                digit=logits, alpha=1.0 + 3.0 * epoch / arguments.epochs,
                sorts={"Image": len(i)}, tables={"sums": {"x": i[0::2], "y": i[1::2], "n": n}},
            )  # fmt: skip
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:
            print(f"epoch {epoch + 1}, {size} processes: loss {loss.item():.3f}, truth of addition {kb.truths['addition']:.3f}")

    pictures, digits = mnist("t10k")
    with torch.no_grad():
        accuracy = (net(pictures.to(device)).argmax(1).cpu() == digits).float().mean().item()
    if rank == 0:
        print(f"digits of pictures never seen, told right: {100 * accuracy:.1f} %")
    if group is not None:
        dist.destroy_process_group()
    return accuracy


if __name__ == "__main__":
    main()
