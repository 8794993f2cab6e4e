"""What is in each box of a picture, and which box is part of which, from few labels and an ontology: rules on top of a backbone.

    python examples/python/pascal_part.py

As in Semantic PASCAL-Part, but with pictures that are drawn here: a convolutional backbone looks at each picture once, crops of its
feature map are what is known of the boxes, and two heads give `type` and `part_of`. The knowledge base gets the heads' outputs.
The same is trained with labels alone, and with the rules as well.
"""

import os
import time

import torch
import torch.nn.functional as F
from torch import nn

import logltn.torch

THEORY = """
    sort Box
    sort Type = {car, wheel, door, cat, tail, ear}
    table ontology(whole: Type, part: Type)
    table labelled(x: Box, t: Type)        # boxes whose type is known
    table parts(x: Box, y: Box)            # x is part of y
    table others(x: Box, y: Box)           # x is not part of y
    table pairs(x: Box, y: Box)            # two boxes of a picture, without labels
    predicate type(Box, Type)
    predicate part_of(Box, Box)

    axiom types:         forall (x, t) in labelled. type(x, t)
    axiom parts:         forall (x, y) in parts. part_of(x, y)
    axiom others:        forall (x, y) in others. not part_of(x, y)

    axiom antisymmetric: forall (x, y) in pairs. not (part_of(x, y) and part_of(y, x))
    axiom has for w: Type where exists p: Type. ontology(w, p):
        forall (x, y) in pairs. type(x, w) and part_of(y, x) -> (any p: Type where ontology(w, p). type(y, p))
    axiom of for p: Type where exists w: Type. ontology(w, p):
        forall (x, y) in pairs. type(x, p) and part_of(x, y) -> (any w: Type where ontology(w, p). type(y, w))
    axiom whole for w: Type where exists p: Type. ontology(w, p):
        forall (x, y) in pairs. type(x, w) -> not part_of(x, y)
"""
TYPES = ["car", "wheel", "door", "cat", "tail", "ear"]
ONTOLOGY = {"whole": ["car", "car", "cat", "cat"], "part": ["wheel", "door", "tail", "ear"]}
PICTURES, BOXES, SIDE, BATCH = 240, 6, 32, 8
STEPS = int(os.environ.get("LOGLTN_STEPS", 300))
LABELLED, HELD_OUT = 4, 80  # pictures whose boxes have labels, and pictures for the final test


def drawn() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Pictures of a car and a cat with two parts each: ``[n, 3, 32, 32]``, boxes ``[n, 6, 4]`` (left, top, right, bottom), types, wholes.

    A wheel looks much like a tail and a door like an ear; they differ in what they are part of."""
    looks = torch.tensor([[1.0, 0.2, 0.2], [0.1, 0.8, 0.1], [0.1, 0.1, 0.9], [0.7, 0.6, 0.1], [0.1, 0.8, 0.2], [0.1, 0.2, 0.9]])
    pictures = 0.8 * torch.randn(PICTURES, 3, SIDE, SIDE)
    boxes = torch.zeros(PICTURES, BOXES, 4)
    for n in range(PICTURES):
        swap = int(torch.rand(()) < 0.5)
        for k in range(2):
            left, top = 1 + 16 * (k ^ swap) + torch.randint(0, 2, ()), torch.randint(1, 17, ())
            boxes[n, 3 * k] = torch.tensor([left, top, left + 13, top + 13])
            for j in (1, 2):
                x, y = left + 7 * (j - 1) + torch.randint(0, 2, ()), top + torch.randint(0, 9, ())
                boxes[n, 3 * k + j] = torch.tensor([x, y, x + 5, y + 5])
        for b, (x0, y0, x1, y1) in enumerate(boxes[n].int().tolist()):
            pictures[n, :, y0:y1, x0:x1] += looks[b, :, None, None]
    types = torch.arange(BOXES).expand(PICTURES, BOXES)
    return pictures, boxes / SIDE, types, torch.tensor([0, 0, 0, 3, 3, 3])


class Heads(nn.Module):
    """A backbone that runs once for a picture, and heads for boxes and for pairs of boxes."""

    def __init__(self) -> None:
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 12, 3, padding=1), nn.ELU(), nn.Conv2d(12, 12, 3, padding=1), nn.ELU())
        self.of_box = nn.Sequential(nn.Linear(12 + 4, 32), nn.ELU(), nn.Linear(32, len(TYPES)))
        self.of_pair = nn.Sequential(nn.Linear(2 * len(TYPES) + 10, 32), nn.ELU(), nn.Linear(32, 1))

    def forward(self, pictures: torch.Tensor, boxes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits of ``type`` for all boxes ``[n, types]``, and of ``part_of`` for all pairs of them within a picture ``[n / 6, 6, 6]``."""
        grid = torch.linspace(0, 1, 4)
        corners, sides = boxes[..., None, :2], (boxes[..., 2:] - boxes[..., :2])[..., None, :]
        at = corners + sides * torch.cartesian_prod(grid, grid)  # 16 points of each box
        crops = F.grid_sample(self.backbone(pictures), 2 * at - 1, align_corners=False).mean(3)  # [pictures, 12, boxes]
        types = self.of_box(torch.cat([crops.transpose(1, 2), boxes], 2))
        # `part_of` reads types but does not change them.
        each = torch.cat([types.detach(), boxes], 2)
        x, y = each.unsqueeze(2).expand(-1, -1, BOXES, -1), each.unsqueeze(1).expand(-1, BOXES, -1, -1)
        a, b = x[..., -4:], y[..., -4:]
        share = torch.stack([containment(a, b), containment(b, a)], 3)
        return types.flatten(0, 1), self.of_pair(torch.cat([x, y, share], 3)).squeeze(3)


def containment(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The share of the first box that lies in the second."""
    common = (torch.minimum(a[..., 2:], b[..., 2:]) - torch.maximum(a[..., :2], b[..., :2])).clamp(min=0).prod(-1)
    return common / (a[..., 2:] - a[..., :2]).prod(-1)


def train(
    rules: bool, pictures: torch.Tensor, boxes: torch.Tensor, types: torch.Tensor, whole: torch.Tensor
) -> tuple[Heads, dict[str, float], float]:
    """Half of each batch has labels, the other half has none. Rows count the boxes of the batch."""
    torch.manual_seed(1)
    heads = Heads()
    optimizer = torch.optim.Adam(heads.parameters(), 0.005)
    # Rules count a fifth of what labels do: nine of them at full weight outvote the labels, and types get worse.
    weights = dict.fromkeys(["antisymmetric", "has", "of", "whole"], 0.2 if rules else 0.0)
    count = BATCH * BOXES
    box = torch.arange(count).view(BATCH, BOXES)
    # Rows are the same in each batch, since pictures of a kind have their places in it: first those with labels.
    x, y = (box[:, i].flatten() for i in torch.cartesian_prod(torch.arange(BOXES), torch.arange(BOXES)).T)
    is_part = (whole[x % BOXES] == y % BOXES) & (x != y)
    known = x < count // 2
    kb = logltn.torch.KnowledgeBase(
        THEORY,
        sorts={"Box": count},
        tables={
            "ontology": ONTOLOGY,
            "labelled": {"x": box[: BATCH // 2].flatten(), "t": [TYPES[t] for t in types[: BATCH // 2].flatten()]},
            "parts": {"x": x[known & is_part], "y": y[known & is_part]},
            "others": {"x": x[known & ~is_part], "y": y[known & ~is_part]},
            "pairs": {"x": x[x != y], "y": y[x != y]},
        },
        outputs={"type": "softmax"},
        weights=weights,
    )
    # Axioms ask only for pairs within a picture: those are given, and no others.
    rows = torch.tensor(kb.rows("part_of")).long()
    logic = 0.0
    for step in range(STEPS):
        chosen = torch.cat([torch.randperm(LABELLED)[: BATCH // 2], torch.randint(LABELLED, PICTURES - HELD_OUT, (BATCH // 2,))])
        type_logits, part_logits = heads(pictures[chosen], boxes[chosen])
        asked = part_logits[rows[:, 0] // BOXES, rows[:, 0] % BOXES, rows[:, 1] % BOXES]
        start = time.perf_counter()
        loss = kb.loss(type=type_logits, part_of=logltn.AtRows(asked), alpha=1.0 + 3.0 * step / STEPS)
        logic += time.perf_counter() - start
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return heads, kb.truths, logic


def main() -> float:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    pictures, boxes, types, whole = drawn()
    found = {}
    for name, rules in (("labels alone", False), ("labels and rules", True)):
        start = time.perf_counter()
        heads, truths, logic = train(rules, pictures, boxes, types, whole)
        seconds = time.perf_counter() - start
        with torch.no_grad():
            type_logits, part_logits = heads(pictures[-HELD_OUT:], boxes[-HELD_OUT:])
        told = type_logits.argmax(1).view(-1, BOXES)
        each = torch.arange(BOXES)
        is_part = (whole[each][:, None] == each) & (each[:, None] != each)
        said = part_logits > 0
        right = (told == types[-HELD_OUT:]).float().mean().item()
        parts = (said == is_part).all(2).all(1).float().mean().item()
        # What the ontology forbids: x is said to be part of y, but no x ever is part of a y.
        allowed = torch.zeros(6, 6, dtype=torch.bool)
        for w, p in zip(*ONTOLOGY.values()):
            allowed[TYPES.index(p), TYPES.index(w)] = True
        against = (said & ~allowed[told.unsqueeze(2), told.unsqueeze(1)]).float().sum((1, 2)).mean().item()
        found[name] = right
        print(f"{name:17}: types right {100 * right:5.1f} %, pictures with all parts right {100 * parts:5.1f} %, "
              f"{against:.2f} parts per picture against the ontology; {seconds:.1f} s, of which logic {logic:.2f} s")  # fmt: skip
    print("\nhow true the axioms are, as logarithms (0 is true)")
    for axiom, truth in truths.items():
        print(f"{axiom:16}{truth:7.3f}")
    return found["labels and rules"]


if __name__ == "__main__":
    main()
