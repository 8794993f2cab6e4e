"""``%%ltn`` in a notebook."""

import pytest

import logltn

THEORY = "sort Person\npredicate happy(Person)\naxiom all: forall x: Person. happy(x)\n"


class Shell:
    """What the extension uses of IPython's."""

    def __init__(self):
        self.user_ns, self.magics = {}, {}

    def register_magic_function(self, function, magic_kind, magic_name):
        self.magics[magic_kind, magic_name] = function


def test_cells_become_theories(capsys):
    shell = Shell()
    logltn.load_ipython_extension(shell)
    ltn = shell.magics["cell", "ltn"]
    theory = ltn("theory", THEORY)
    assert shell.user_ns == {"theory": theory} and theory.axioms == ["all"]
    assert ltn("", THEORY) == theory and len(shell.user_ns) == 1
    assert ltn("other", THEORY.replace("happy(x)", "sad(x)")) is None
    said = capsys.readouterr().err
    assert "unknown predicate `sad`" in said and "other:3" in said
    assert ltn("no name", THEORY) is None and "takes a name" in capsys.readouterr().err
    assert set(shell.user_ns) == {"theory"}


def test_in_ipython():
    testing = pytest.importorskip("IPython.testing.globalipapp")
    shell = testing.start_ipython()
    shell.run_line_magic("load_ext", "logltn")
    shell.run_cell_magic("ltn", "theory", THEORY)
    assert shell.user_ns["theory"].predicates == ["happy"]
