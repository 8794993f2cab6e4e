"""Guards of the race's theories: as text, and as masks over their variables, made once from data. A guard is a tuple:

    ("and" | "or", g, …)   ("not", g)   ("=" | "!=" | "<", term, term)   ("near", x, y)   ("in", table, variables)

A term is a variable, the value of a function at one (`f0(x1)`), a number or ("+", term, term). `near` compares the distance of two individuals' features with a parameter.
"""

import numpy as np

COMPARE = {"=": np.equal, "!=": np.not_equal, "<": np.less}


def variable(term):
    """Of a variable, or of a function's value at one."""
    return term.rstrip(")").rpartition("(")[2]


def show(g, top=True):
    match g:
        case ("near", x, y):
            return f"dist({x}, {y}) < near"
        case ("in", table, variables):
            return f"{table}({', '.join(variables)})"
        case ("not", a):
            return f"not ({show(a)})"
        case ("+" | "=" | "!=" | "<" as op, a, b):
            return f"{show(a)} {op} {show(b)}"
        case (op, *members):
            text = f" {op} ".join(show(m, False) for m in members)
            return text if top else f"({text})"
    return str(g)


def free(g):
    match g:
        case ("near", x, y):
            return {x, y}
        case ("in", _, variables):
            return {variable(v) for v in variables}
        case str():
            return {variable(g)}
        case (_, *members):
            return set().union(*map(free, members))
    return set()


def mask(g, value, data):
    """Where a guard holds; `value` gives the individuals of a variable along its axis."""
    match g:
        case ("near", x, y):
            a, b = np.broadcast_arrays(value(x), value(y))
            return np.linalg.norm(data.features[x[0]][a] - data.features[y[0]][b], axis=-1) < data.near
        case ("in", table, variables):
            sizes = [data.sorts[v[0]] for v in variables]
            known = np.zeros(sizes, bool)
            known[tuple(data.tables[table])] = True
            return known[tuple(value(v) for v in variables)]
        case ("not", a):
            return ~mask(a, value, data)
        case ("and" | "or" as op, *members):
            join = np.logical_and if op == "and" else np.logical_or
            done = mask(members[0], value, data)
            for m in members[1:]:
                done = join(done, mask(m, value, data))
            return done
        case (op, a, b):
            return COMPARE[op](term(a, value), term(b, value))


def term(t, value):
    match t:
        case ("+", a, b):
            return term(a, value) + term(b, value)
        case str():
            return value(t)
    return t
