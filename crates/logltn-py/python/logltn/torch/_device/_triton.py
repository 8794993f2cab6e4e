"""The kernels themselves. Each computes values and, in the same pass, derivatives: of means and sums these are known beforehand."""

from __future__ import annotations

# What a kernel says is not Python, whatever it looks like.
# pyright: reportCallIssue=false, reportArgumentType=false, reportOperatorIssue=false
import triton  # type: ignore[import-untyped, import-not-found, unused-ignore]
import triton.language as tl  # type: ignore[import-untyped, import-not-found, unused-ignore]


@triton.jit
def _logits(z, tasks, BLOCK: tl.constexpr):
    """Some logits of one predicate, and where their literals stand: a task is [where the logits are, the literals, their negations or −1,
    how many]."""
    task = tasks + 4 * tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < tl.load(task + 3)
    x = tl.load(z + tl.load(task) + at, inside, 0.0)
    x = tl.where(x == float("-inf"), -1e5, x)
    # What is not finite becomes NaN: x − x is 0 for all others.
    return at, inside, x + (x - x), tl.load(task + 1), tl.load(task + 2)


@triton.jit
def sigmoid_forward(z, table, tasks, floor: tl.constexpr, BLOCK: tl.constexpr):
    """log σ and log(1 − σ), of all predicates in one launch."""
    at, inside, x, positive, negative = _logits(z, tasks, BLOCK)
    small = tl.exp(-tl.abs(x))
    # log(1 + small), exact for the smallest too.
    u = 1.0 + small
    d = u - 1.0
    log1p = tl.where(d == 0.0, small, tl.log(u) * (small / tl.where(d == 0.0, 1.0, d)))
    low = tl.where(x < 0.0, x, 0.0)
    value = low - log1p
    value = tl.where(value < floor, floor, value)
    tl.store(table + positive + at, value, inside)
    if negative >= 0:
        low = tl.where(x > 0.0, -x, 0.0)
        value = low - log1p
        value = tl.where(value < floor, floor, value)
        tl.store(table + negative + at, value, inside)


@triton.jit
def sigmoid_backward(z, by, tasks, out, BLOCK: tl.constexpr):
    at, inside, x, positive, negative = _logits(z, tasks, BLOCK)
    small = tl.exp(-tl.abs(x))
    large, less = 1.0 / (1.0 + small), small / (1.0 + small)
    p = tl.where(x >= 0.0, large, less)
    q = tl.where(x >= 0.0, less, large)
    g = tl.load(by + positive + at, inside, 0.0) * q
    g -= tl.load(by + negative + at, tl.where(inside, negative, -1) >= 0, 0.0) * p
    tl.store(out + tl.load(tasks + 4 * tl.program_id(0)) + at, g, inside)


@triton.jit
def _rows(z, first, rows, W, BR: tl.constexpr, BW: tl.constexpr):
    """Rows of logits: their softmax, where the first of the largest is, and what the others are."""
    r = first + tl.arange(0, BR)
    k = tl.arange(0, BW)
    inside = (r < rows)[:, None] & (k < W)[None, :]
    at = r[:, None] * W + k[None, :]
    x = tl.load(z + at, inside, 0.0)
    x = tl.where((r < rows)[:, None] & (k >= W)[None, :], -3e38, x)
    # A masked class is far below all others, if there are any.
    masked = x == float("-inf")
    highest = tl.max(tl.where(masked, -3e38, x), 1)
    x = tl.where(masked, tl.where(highest == -3e38, float("nan"), highest - 1e5)[:, None], x)
    x = x + (x - x)
    x = tl.where(inside, x, float("-inf"))
    x = tl.where((r < rows)[:, None], x, 0.0)
    top = tl.max(x, 1)
    first_of = tl.min(tl.where(x == top[:, None], k[None, :], BW), 1)
    best = k[None, :] == first_of[:, None]
    e = tl.exp(x - top[:, None])
    others = tl.sum(tl.where(best, 0.0, e), 1)
    # Another way where the others vanish: relative to the largest of them.
    rest = tl.where(best, float("-inf"), x)
    second = tl.max(rest, 1)
    second = tl.where(second == float("-inf"), 0.0, second)
    far = tl.exp(rest - second[:, None])
    return at, inside, x, top, best, e, others, second, far, tl.sum(far, 1)


@triton.jit
def softmax_forward(
    z, table, positive, negative, rows, W, floor: tl.constexpr, ample: tl.constexpr,
    NEGATED: tl.constexpr, BR: tl.constexpr, BW: tl.constexpr,
):
    """log softmax and log(1 − softmax)."""
    at, inside, x, top, best, e, others, second, far, rest = _rows(z, tl.program_id(0) * BR, rows, W, BR, BW)
    total = 1.0 + others
    # log(1 + others), exact for the smallest too: next to certainty it is all there is.
    kept = total - 1.0
    log1p = tl.where(kept == 0.0, others, tl.log(total) * (others / tl.where(kept == 0.0, 1.0, kept)))
    value = x - top[:, None] - log1p[:, None]
    value = tl.where(value < floor, floor, value)
    tl.store(table + positive + at, value, inside)
    if NEGATED:
        p = e / total[:, None]
        capped = tl.where(p > 0.5, 0.5, p)
        u = 1.0 - capped
        d = 1.0 - u
        direct = tl.where(d == 0.0, -capped, tl.log(u) * (capped / tl.where(d == 0.0, 1.0, d)))
        left = others / total
        near = tl.log(tl.where(left > ample, left, 1.0))
        of_best = tl.where(left > ample, near, second - top + tl.log(rest))
        value = tl.where(best, of_best[:, None], direct)
        value = tl.where(value < floor, floor, value)
        # A NaN anywhere in a row is one everywhere.
        value = value + (total - total)[:, None]
        tl.store(table + negative + at, value, inside)


@triton.jit
def softmax_backward(
    z, by, positive, negative, out, rows, W, ample: tl.constexpr, NEGATED: tl.constexpr, BR: tl.constexpr, BW: tl.constexpr
):
    at, inside, x, top, best, e, others, second, far, rest = _rows(z, tl.program_id(0) * BR, rows, W, BR, BW)
    total = 1.0 + others
    p = e / total[:, None]
    gp = tl.load(by + positive + at, inside, 0.0)
    left = others / total
    # Next to certainty 1 − p of the best would be rounding alone; what the others have is known to the last bit.
    at_best = tl.sum(tl.where(best, gp, 0.0), 1)
    if NEGATED:
        gn = tl.load(by + negative + at, inside, 0.0)
        own = tl.where(best, 0.0, gn / tl.where(best, 1.0, 1.0 - p))
        of_best = tl.sum(tl.where(best, gn, 0.0), 1)
        common = of_best + tl.sum(tl.where(inside & (best == 0), gp - p * own, 0.0), 1)
        near = p / tl.where(left > ample, left, 1.0)[:, None]
        distant = far / tl.where(rest > 0.0, rest, 1.0)[:, None]
        share = tl.where((left > ample)[:, None], near, distant)
        g = gp - p * ((common + at_best)[:, None] + own) + of_best[:, None] * share
    else:
        common = tl.sum(tl.where(best, 0.0, gp), 1)
        g = gp - p * (common + at_best)[:, None]
    g = tl.where(best, (at_best * left)[:, None] - p * common[:, None], g)
    tl.store(out + at, g, inside)


@triton.jit
def _number(table, row, column, m, n, k, here, there):
    """The places of a member for some rows and columns, and its numbers."""
    place = tl.load(row + m * n, here, 0)[:, None] + tl.load(column + m * k, there, 0)[None, :]
    return place, tl.load(table + place, here[:, None] & there[None, :], 0.0)


@triton.jit
def _group(table, row, column, n, k, here, there, members, kind, form, alpha):
    """The members of a group together: their greatest, what they add up to relative to it, and the value."""
    _place, top = _number(table, row, column, 0, n, k, here, there)
    added = top
    for m in range(1, members):
        _place, x = _number(table, row, column, m, n, k, here, there)
        top = tl.where(x > top, x, top)
        added += x
    total = top - top
    for m in range(0, members):
        _place, x = _number(table, row, column, m, n, k, here, there)
        e = tl.exp((x - top) * alpha)
        total += tl.where(form == 2, tl.where(x == top, 1.0, x - x), e)
    count = tl.where(form == 1, members, 1)
    value = tl.where(form == 2, top + (total - total), top + tl.log(total / count) / alpha)
    return top, total, tl.where(kind == 1, added, value)


@triton.jit
def clauses(
    table, by, rows, columns, sides, roots, groups, scales, tasks, alphas, derivatives, partial,
    FORWARD: tl.constexpr, BACKWARD: tl.constexpr, BR: tl.constexpr, BC: tl.constexpr,
):  # fmt: skip
    """Disjunctions of groups of literals under a mean or a sum: many in one launch.

    The bindings of a root are rows times columns (often just one), and the place of a literal is that of its row and that of its column,
    added. A root is [where its rows' places start, rows, where its columns' start, columns, groups, axiom, form, its first group, its
    first literal]; `or` is LogMeanExp (form 1), LogSumExp (0) or the greatest (2). A group is [members, whether `or` (0) or `and` (1)].
    A literal's side says whether it has derivatives for each binding (0), each row (1) or each column (2). A task is [root, first row,
    first column, where its value goes]."""
    task = tasks + 4 * tl.program_id(0)
    number = tl.load(task)
    root = roots + 9 * number
    n = tl.load(root + 1)
    k = tl.load(root + 3)
    count = tl.load(root + 4)
    axiom = tl.load(root + 5)
    form = tl.load(root + 6)
    group = groups + 2 * tl.load(root + 7)
    alpha = tl.load(alphas + axiom)
    scale = tl.load(scales + number)
    at = tl.load(task + 1) + tl.arange(0, BR)
    here = at < n
    first_row = rows + tl.load(root) + at
    at = tl.load(task + 2) + tl.arange(0, BC)
    there = at < k
    first_column = columns + tl.load(root + 2) + at
    inside = here[:, None] & there[None, :]
    row = first_row
    column = first_column
    top = tl.full((BR, BC), float("-inf"), table.dtype.element_ty)
    total = tl.zeros((BR, BC), table.dtype.element_ty)
    for g in range(0, count):
        members = tl.load(group + 2 * g)
        _top, _sums, v = _group(table, row, column, n, k, here, there, members, tl.load(group + 2 * g + 1), form, alpha)
        row += members * n
        column += members * k
        attained = tl.where(v > top, 1.0 + (v - v), total + tl.where(v == top, 1.0, v - v))
        new = tl.where(v > top, v, top)
        summed = total * tl.exp((top - new) * alpha) + tl.exp((v - new) * alpha)
        total = tl.where(form == 2, attained, summed)
        top = new
    if FORWARD:
        divisor = tl.where(form == 1, count, 1)
        value = tl.where(form == 2, top + (total - total), top + tl.log(total / divisor) / alpha)
        value = tl.sum(tl.sum(tl.where(inside, value, 0.0), 1), 0)
        tl.store(partial + tl.load(task + 3), value * scale)
    if BACKWARD:
        slope = tl.load(derivatives + axiom) * scale / total
        row = first_row
        column = first_column
        side = sides + tl.load(root + 8)
        for g in range(0, count):
            members = tl.load(group + 2 * g)
            kind = tl.load(group + 2 * g + 1)
            greatest, sums, v = _group(table, row, column, n, k, here, there, members, kind, form, alpha)
            e = tl.exp((v - top) * alpha)
            handed = slope * tl.where(form == 2, tl.where(v == top, 1.0, 0.0), e)
            for m in range(0, members):
                place, x = _number(table, row, column, m, n, k, here, there)
                e = tl.exp((x - greatest) * alpha)
                e = tl.where(form == 2, tl.where(x == greatest, 1.0, 0.0), e) / sums
                e = tl.where(kind == 1, 1.0, e)
                own = tl.where(inside, e * handed, 0.0)
                of = tl.load(side + m)
                if of == 0:
                    tl.atomic_add(by + place, own, inside, sem="relaxed")
                elif of == 1:
                    tl.atomic_add(by + tl.load(row + m * n, here, 0), tl.sum(own, 1), here, sem="relaxed")
                else:
                    tl.atomic_add(by + tl.load(column + m * k, there, 0), tl.sum(own, 0), there, sem="relaxed")
            row += members * n
            column += members * k
            side += members


@triton.jit
def pairs(
    table, by, owners, ends, others, scales, alphas, derivatives, partial, root, axiom, rows, W,
    MEAN: tl.constexpr, VALUES: tl.constexpr, BACKWARD: tl.constexpr, BR: tl.constexpr, BW: tl.constexpr,
):  # fmt: skip
    """A disjunction of two literals, over a long list and the classes. Each row of one literal goes through its list of the
    other's rows: what is added to a row is added by its owner alone, in the list's order."""
    r = tl.program_id(0) * BR + tl.arange(0, BR)
    k = tl.program_id(1) * BW + tl.arange(0, BW)
    there = r < rows
    own = tl.load(owners + r, there, 0)
    start = tl.load(ends + r, there, 0)
    end = tl.load(ends + r + 1, there, 0)
    inside = there[:, None] & (k < W)[None, :]
    at = own[:, None].to(tl.int64) + k[None, :]
    x = tl.load(table + at, inside, 0.0)
    alpha = tl.load(alphas + axiom)
    scale = tl.load(scales + root)
    # Not a number of Python's: that would be one of single precision.
    less = tl.log((x - x) + 2.0) if MEAN else x - x
    value = x - x
    share = x - x
    longest = tl.max(end - start, 0)
    for i in range(0, longest):
        more = start + i < end
        other = tl.load(others + start + i, more, 0)
        y = tl.load(table + other[:, None].to(tl.int64) + k[None, :], inside & more[:, None], 0.0)
        e = tl.exp(-tl.abs(x - y) * alpha)
        now = more[:, None]
        if VALUES:
            top = tl.where(x > y, x, y)
            u = 1.0 + e
            d = u - 1.0
            log1p = tl.where(d == 0.0, e, tl.log(u) * (e / tl.where(d == 0.0, 1.0, d)))
            value += tl.where(now, top + (log1p - less) / alpha, 0.0)
        if BACKWARD:
            share += tl.where(now, tl.where(x >= y, 1.0, e) / (1.0 + e), 0.0)
    if VALUES:
        part = tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)
        tl.store(partial + part, tl.sum(tl.sum(tl.where(inside, value, 0.0), 1), 0) * scale)
    if BACKWARD:
        slope = tl.load(derivatives + axiom) * scale
        tl.store(by + at, tl.load(by + at, inside, 0.0) + share * slope, inside)


@triton.jit
def exists_forward(table, outer, inner, alphas, tops, sums, axiom, length, chunks, BLOCK: tl.constexpr, TIMES: tl.constexpr):
    """The greatest of a chunk of an `exists`' literals, and their exponentials relative to it."""
    o = tl.program_id(0)
    c = tl.program_id(1)
    alpha = tl.load(alphas + axiom)
    base = tl.load(outer + o).to(tl.int64)
    first = c * BLOCK * TIMES
    top = tl.full((BLOCK,), float("-inf"), table.dtype.element_ty)
    for t in range(0, TIMES):
        i = first + t * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(table + base + tl.load(inner + i, i < length, 0), i < length, float("-inf"))
        top = tl.where(x > top, x, top)
    greatest = tl.max(top, 0)
    total = tl.zeros((BLOCK,), table.dtype.element_ty)
    for t in range(0, TIMES):
        i = first + t * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(table + base + tl.load(inner + i, i < length, 0), i < length, float("-inf"))
        total += tl.exp((x - greatest) * alpha)
    tl.store(tops + o * chunks + c, greatest)
    tl.store(sums + o * chunks + c, tl.sum(total, 0))


@triton.jit
def exists_join(tops, sums, scales, alphas, values, root, axiom, chunks, count, BLOCK: tl.constexpr):
    """The chunks of each outer binding together: the greatest and the sum go where those of the first chunk were."""
    o = tl.program_id(0)
    alpha = tl.load(alphas + axiom)
    c = tl.arange(0, BLOCK)
    top = tl.load(tops + o * chunks + c, c < chunks, float("-inf"))
    greatest = tl.max(top, 0)
    part = tl.load(sums + o * chunks + c, c < chunks, 0.0)
    total = tl.sum(part * tl.exp((top - greatest) * alpha), 0)
    tl.store(values + o, (greatest + tl.log(total / count) / alpha) * tl.load(scales + root))
    tl.debug_barrier()
    tl.store(tops + o * chunks, greatest)
    tl.store(sums + o * chunks, total)


@triton.jit
def exists_backward(
    table, by, outer, inner, scales, alphas, derivatives, tops, sums, root, axiom, length, chunks, BLOCK: tl.constexpr
):
    o = tl.program_id(0)
    alpha = tl.load(alphas + axiom)
    slope = tl.load(derivatives + axiom) * tl.load(scales + root) / tl.load(sums + o * chunks)
    greatest = tl.load(tops + o * chunks)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    place = tl.load(outer + o).to(tl.int64) + tl.load(inner + i, i < length, 0)
    x = tl.load(table + place, i < length, 0.0)
    tl.atomic_add(by + place, tl.exp((x - greatest) * alpha) * slope, i < length, sem="relaxed")


@triton.jit
def _step(plan, lists, s):
    """A step of an elimination, and the list that a binding has there."""
    inputs = tl.load(plan + 7 * s)
    described = tl.load(plan + 7 * s + 1)
    combination_offsets = tl.load(plan + 7 * s + 2)
    message_offsets = tl.load(plan + 7 * s + 3)
    ends = tl.load(plan + 7 * s + 4)
    stands = tl.load(plan + 7 * s + 5)
    own = tl.load(plan + lists + s)
    c0 = tl.load(plan + combination_offsets + own)
    p0 = tl.load(plan + message_offsets + own)
    return inputs, described, ends, stands, c0, p0, tl.load(plan + message_offsets + own + 1) - p0


@triton.jit
def _added(table, mine, plan, factor_places, inputs, described, b, c, there, BP: tl.constexpr, BC: tl.constexpr):
    """What the inputs of some combinations add up to."""
    x = tl.zeros((BP, BC), table.dtype.element_ty)
    for i in range(0, inputs):
        d = described + 4 * i
        place = tl.load(plan + tl.load(plan + d + 1) + c, there, 0)
        source = tl.load(plan + d + 2)
        if tl.load(plan + d) == 1:
            each = tl.load(plan + d + 3)
            place = tl.load(factor_places + source + b * each + place, there, 0)
            x += tl.load(table + place, there, 0.0)
        else:
            x += tl.load(mine + source + place, there, 0.0, cache_modifier=".cg")
    return x


@triton.jit
def eliminate(
    table, by, plan, factor_places, keys, shifts, messages, by_messages, scales, alphas, derivatives, values,
    root, axiom, steps, room, common, n,
    FORWARD: tl.constexpr, BACKWARD: tl.constexpr, BP: tl.constexpr, BC: tl.constexpr, BZ: tl.constexpr,
):  # fmt: skip
    """An `exists` by elimination: one program for each outer binding goes through all steps and back.

    `plan` starts with 7 numbers for each step: inputs, where they are described, where its lists' combinations and messages begin and
    end, where its message stands among all, whether it is the last of a chain; then for each binding's key the list of each step.
    An input is [is it a factor, where its places are, where its numbers are, how many each binding has of them]. `shifts` is
    what the number of bindings adds, NaN where there are none; `common` are literals beside."""
    b = tl.program_id(0)
    alpha = tl.load(alphas + axiom)
    scale = tl.load(scales + root)
    shift = tl.load(shifts + b)
    lists = tl.load(keys + b)
    mine = messages + b.to(tl.int64) * room
    by_mine = by_messages + b.to(tl.int64) * room
    out = shift / alpha
    if shift == shift:
        for s in range(0, steps):
            inputs, described, ends, stands, c0, p0, width = _step(plan, lists, s)
            for first in range(0, width, BP):
                p = first + tl.arange(0, BP)
                end = tl.load(plan + ends + p0 + p, p < width, 0)
                start = tl.load(plan + ends + p0 + p - 1, (p < width) & (p > 0), 0)
                longest = tl.max(end - start, 0)
                top = tl.full((BP,), float("-inf"), table.dtype.element_ty)
                total = tl.zeros((BP,), table.dtype.element_ty)
                for c1 in range(0, longest, BC):
                    c = start[:, None] + c1 + tl.arange(0, BC)[None, :]
                    there = c < end[:, None]
                    x = _added(table, mine, plan, factor_places, inputs, described, b, c0 + c, there, BP, BC)
                    x = tl.where(there, x, float("-inf"))
                    greatest = tl.max(x, 1)
                    new = tl.where(greatest > top, greatest, top)
                    safe = tl.where(new == float("-inf"), 0.0, new)
                    total = total * tl.exp((top - safe) * alpha) + tl.sum(tl.exp((x - safe[:, None]) * alpha), 1)
                    top = new
                tl.store(mine + stands + p, top + tl.log(total) / alpha, p < width)
            tl.debug_barrier()
        for s in range(0, steps):
            if tl.load(plan + 7 * s + 6) == 1:
                out += tl.load(mine + tl.load(plan + 7 * s + 5), cache_modifier=".cg")
        for m in range(0, common):
            out += tl.load(table + tl.load(factor_places + b + m * n))
        if BACKWARD:
            slope = tl.load(derivatives + axiom) * scale
            for first in range(0, room, BZ):
                z = first + tl.arange(0, BZ)
                tl.store(by_mine + z, tl.zeros((BZ,), table.dtype.element_ty), z < room)
            tl.debug_barrier()
            for s in range(0, steps):
                if tl.load(plan + 7 * s + 6) == 1:
                    tl.store(by_mine + tl.load(plan + 7 * s + 5), slope)
            for m in range(0, common):
                tl.atomic_add(by + tl.load(factor_places + b + m * n), slope, sem="relaxed")
            tl.debug_barrier()
            for back in range(0, steps):
                s = steps - 1 - back
                inputs, described, ends, stands, c0, p0, width = _step(plan, lists, s)
                for first in range(0, width, BP):
                    p = first + tl.arange(0, BP)
                    end = tl.load(plan + ends + p0 + p, p < width, 0)
                    start = tl.load(plan + ends + p0 + p - 1, (p < width) & (p > 0), 0)
                    longest = tl.max(end - start, 0)
                    message = tl.load(mine + stands + p, p < width, 0.0, cache_modifier=".cg")
                    handed = tl.load(by_mine + stands + p, p < width, 0.0, cache_modifier=".cg")
                    for c1 in range(0, longest, BC):
                        c = start[:, None] + c1 + tl.arange(0, BC)[None, :]
                        there = c < end[:, None]
                        x = _added(table, mine, plan, factor_places, inputs, described, b, c0 + c, there, BP, BC)
                        g = handed[:, None] * tl.exp((x - message[:, None]) * alpha)
                        for i in range(0, inputs):
                            d = described + 4 * i
                            place = tl.load(plan + tl.load(plan + d + 1) + c0 + c, there, 0)
                            source = tl.load(plan + d + 2)
                            if tl.load(plan + d) == 1:
                                each = tl.load(plan + d + 3)
                                place = tl.load(factor_places + source + b * each + place, there, 0)
                                tl.atomic_add(by + place, g, there, sem="relaxed")
                            else:
                                tl.atomic_add(by_mine + source + place, g, there, sem="relaxed")
                tl.debug_barrier()
    if FORWARD:
        # False where there is nothing to choose from.
        tl.store(values + b, tl.where(shift == shift, out, -1e5) * scale)


@triton.jit
def small_sums(a, b, total, found, columns, inner, alphas, least: tl.constexpr, BC: tl.constexpr, BK: tl.constexpr):
    """Where a scaled sum of products is too small to be exact, since the two rows have their greatest numbers in different places: log Σ exp α(a + b)
    over α, by itself."""
    i = tl.program_id(0)
    j = tl.program_id(1) * BC + tl.arange(0, BC)
    small = (j < columns) & (tl.load(total + i * columns + j, j < columns, 1.0) < least)
    if tl.max(small.to(tl.int32), 0) > 0:
        alpha = tl.load(alphas)
        top = tl.full((BC,), float("-inf"), a.dtype.element_ty)
        sums = tl.zeros((BC,), a.dtype.element_ty)
        for first in range(0, inner, BK):
            k = first + tl.arange(0, BK)
            x = tl.load(a + i * inner + k, k < inner, float("-inf"))[None, :]
            there = small[:, None] & (k < inner)[None, :]
            y = tl.load(b + j[:, None] * inner + k[None, :], there, 0.0)
            x = tl.where(there, (x + y) * alpha, float("-inf"))
            more = tl.maximum(top, tl.max(x, 1))
            safe = tl.where(more == float("-inf"), 0.0, more)
            sums = sums * tl.exp(top - safe) + tl.sum(tl.exp(x - safe[:, None]), 1)
            top = more
        tl.store(found + i * columns + j, (top + tl.log(sums)) / alpha, small)


@triton.jit
def small_sums_backward(
    a, b, total, found, by, by_a, by_b, columns, inner, alphas, least: tl.constexpr, BC: tl.constexpr, BK: tl.constexpr
):
    """The derivatives by both sides, added to theirs."""
    i = tl.program_id(0)
    j = tl.program_id(1) * BC + tl.arange(0, BC)
    small = (j < columns) & (tl.load(total + i * columns + j, j < columns, 1.0) < least)
    if tl.max(small.to(tl.int32), 0) > 0:
        alpha = tl.load(alphas)
        value = tl.load(found + i * columns + j, small, 0.0)
        slope = tl.load(by + i * columns + j, small, 0.0)
        for first in range(0, inner, BK):
            k = first + tl.arange(0, BK)
            there = small[:, None] & (k < inner)[None, :]
            x = tl.load(a + i * inner + k, k < inner, 0.0)[None, :]
            y = tl.load(b + j[:, None] * inner + k[None, :], there, 0.0)
            g = tl.where(there, tl.exp((x + y - value[:, None]) * alpha) * slope[:, None], 0.0)
            tl.atomic_add(by_a + i * inner + k, tl.sum(g, 0), k < inner, sem="relaxed")
            tl.atomic_add(by_b + j[:, None] * inner + k[None, :], g, there, sem="relaxed")


@triton.jit
def join(partial, ends, truths, BLOCK: tl.constexpr):
    """What the parts of each axiom add up to, always in the same order."""
    axiom = tl.program_id(0)
    start = tl.load(ends + axiom)
    end = tl.load(ends + axiom + 1)
    total = tl.zeros((BLOCK,), tl.float64)
    for first in range(start, end, BLOCK):
        at = first + tl.arange(0, BLOCK)
        total += tl.load(partial + at, at < end, 0.0).to(tl.float64)
    tl.store(truths + axiom, tl.sum(total, 0).to(truths.dtype.element_ty))
