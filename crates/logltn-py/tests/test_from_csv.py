"""`logltn new --from`: as good as scikit-learn's network on five CSV files, and right or refused with a reason on odd ones."""

import csv
import io
import json
import os
import pty
import random
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")
pandas = pytest.importorskip("pandas")
from sklearn.compose import TransformedTargetRegressor, make_column_transformer  # noqa: E402
from sklearn.datasets import load_breast_cancer, load_wine  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402
from sklearn.impute import SimpleImputer  # noqa: E402
from sklearn.neural_network import MLPClassifier, MLPRegressor  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import OneHotEncoder, StandardScaler  # noqa: E402

SPLITS = 3


PROGRAM = [sys.executable, "-m", "logltn"]


def call(folder, *arguments):
    return subprocess.run([*PROGRAM, *arguments], cwd=folder, capture_output=True, text=True, timeout=600)


def logltn(folder, *arguments):
    done = call(folder, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def cancer(rng):
    """569 real tumours: thirty numbers of very different sizes."""
    data = load_breast_cancer(as_frame=True)
    return data.data.assign(diagnosis=np.array(["malignant", "benign"])[data.target]), "diagnosis"


def wine(rng):
    """178 real wines of three growers, which are numbers."""
    data = load_wine(as_frame=True)
    return data.data.assign(cultivar=data.target), "cultivar"


def adult(rng):
    """As in the census: categories, some of them rare, `?` for what is missing, classes that are no names."""
    n = 2000
    education = rng.choice(["HS-grad", "Some-college", "Bachelors", "Masters", "Doctorate"], n, p=[0.4, 0.3, 0.2, 0.08, 0.02])
    schooling = pandas.Series(education).map({"HS-grad": -1.5, "Some-college": -0.7, "Bachelors": 0.8, "Masters": 1.6, "Doctorate": 2.5})
    frame = pandas.DataFrame({
        "age": rng.integers(17, 80, n),
        "workclass": rng.choice(["Private", "State-gov", "Self-emp", "?"], n, p=[0.7, 0.1, 0.14, 0.06]),
        "education": education,
        "marital-status": rng.choice(["Married", "Never-married", "Divorced"], n),
        "capital-gain": np.where(rng.random(n) < 0.08, rng.integers(1000, 99999, n), 0),
        "hours-per-week": np.clip(rng.normal(40, 12, n), 1, 99).round().astype(int),
    })
    score = (
        schooling + (frame["marital-status"] == "Married") * 2.0 - ((frame.age - 48) / 18) ** 2
        + (frame["hours-per-week"] - 40) / 15 + (frame["capital-gain"] > 7000) * 3 - 1.0 + rng.logistic(size=n) * 0.6
    )
    return frame.assign(income=np.where(score > 0, ">50K", "<=50K")), "income"


def houses(rng):
    """Prices: an index, dates, numbers that are missing, a column that always is."""
    n = 1000
    frame = pandas.DataFrame({
        "Id": np.arange(1, n + 1),
        "GrLivArea": rng.gamma(9, 170, n).round(),
        "OverallQual": rng.integers(1, 11, n),
        "YearBuilt": rng.integers(1880, 2010, n),
        "Neighborhood": rng.choice(["NAmes", "CollgCr", "OldTown", "StoneBr"], n, p=[0.4, 0.3, 0.25, 0.05]),
        "SaleDate": pandas.to_datetime("2006-01-01") + pandas.to_timedelta(rng.integers(0, 1600, n), unit="D"),
        "LotFrontage": rng.normal(70, 20, n).round(1),
        "Alley": np.nan,
    })
    worth = frame.Neighborhood.map({"NAmes": 0, "CollgCr": 25e3, "OldTown": -15e3, "StoneBr": 90e3})
    price = 60 * frame.GrLivArea * (0.6 + 0.08 * frame.OverallQual) + 250 * (frame.YearBuilt - 1880) + worth + 300 * frame.LotFrontage
    frame["SalePrice"] = (price + rng.normal(0, 12e3, n)).round()
    frame.loc[rng.random(n) < 0.17, "LotFrontage"] = np.nan
    return frame, "SalePrice"


def titanic(rng):
    """Names in quotes, missing ages and cabins, labels that are not known."""
    n = 900
    frame = pandas.DataFrame({
        "PassengerId": np.arange(1, n + 1),
        "Pclass": rng.choice([1, 2, 3], n, p=[0.25, 0.2, 0.55]),
        "Name": [f'Doe, Mr. "Jo" {i}' for i in range(n)],
        "Sex": rng.choice(["male", "female"], n, p=[0.65, 0.35]),
        "Age": rng.gamma(6, 5, n).round(1),
        "SibSp": rng.poisson(0.5, n),
        "Fare": rng.lognormal(3, 1, n).round(2),
        "Embarked": rng.choice(["S", "C", "Q"], n, p=[0.7, 0.2, 0.1]),
    })
    score = (
        (frame.Sex == "female") * 2.8 - (frame.Pclass - 2) * 1.1 + (frame.Age < 12) * 1.8
        - (frame.SibSp > 2) * 1.5 - 1.2 + rng.logistic(size=n) * 0.7
    )
    frame["Survived"] = pandas.array(np.where(score > 0, 1, 0), dtype="Int64")
    frame["Cabin"] = np.where(rng.random(n) < 0.2, "C" + pandas.Series(rng.integers(0, 6, n)).astype(str), None)
    frame.loc[rng.random(n) < 0.2, "Age"] = np.nan
    frame.loc[rng.random(n) < 0.05, "Survived"] = pandas.NA
    return frame, "Survived"


def network(frame, features, is_number):
    """Scikit-learn's network on the same columns, prepared as its documentation says."""
    features = [c for c in features if frame[c].notna().any()]
    texts = [c for c in features if frame[c].dtype.kind not in "biuf"]
    names = [c for c in texts if frame[c].nunique() > 20 and 2 * frame[c].nunique() > frame[c].count()]
    numbers = [c for c in features if c not in texts]
    prepare = make_column_transformer(
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), numbers),
        (OneHotEncoder(handle_unknown="ignore"), [c for c in texts if c not in names]),
    )
    if is_number:
        # It learns numbers of size 1 only.
        regressor = TransformedTargetRegressor(MLPRegressor(random_state=0, max_iter=1000), transformer=StandardScaler())
        return make_pipeline(prepare, regressor)
    return make_pipeline(prepare, MLPClassifier(random_state=0))


def figure(said, expected):
    """The accuracy of classes, the root mean squared error of numbers."""
    if expected.dtype == float:
        return float(np.sqrt(np.mean((said - expected) ** 2)))
    return float(np.mean(said == expected))


@pytest.mark.parametrize("make", [cancer, wine, adult, houses, titanic], ids=lambda make: make.__name__)
def test_within_two_percent_of_scikit_learn(make, tmp_path):
    """The mean over a few splits, so that a mistake on one row of a small test weighs little."""
    rng = np.random.default_rng(5)
    frame, target = make(rng)
    is_number = target == "SalePrice"
    ours, theirs = [], []
    for split in range(SPLITS):
        name = f"{make.__name__}{split}"
        test = rng.random(len(frame)) < 0.25
        table = frame.assign(split=np.where(test, "test", "train"))
        table.to_csv(tmp_path / "data.csv", index=False)
        logltn(tmp_path, "new", name, "--from", "data.csv", "--target", target)
        manifest = f"{name}/{name}.toml"
        logltn(tmp_path, "train", manifest, "--out", f"{name}/run")
        logltn(tmp_path, "predict", manifest, "--run", f"{name}/run", target, "--features", "Row=data.csv", "--out", "said.csv")
        answers = pandas.read_csv(tmp_path / "said.csv")
        assert len(answers) == len(frame)

        known = frame[target].notna().to_numpy()
        train, test = known & ~test, known & test
        peer_frame = table.drop(columns=[target, "split"])
        for column in peer_frame.select_dtypes("datetime"):
            peer_frame[column] = (peer_frame[column] - pandas.Timestamp("1970-01-01")).dt.days
        peer = network(peer_frame, list(peer_frame.columns), is_number)
        y = frame[target].astype(float if is_number else str)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            peer.fit(peer_frame[train], y[train])
        expected, predicted = y[test].to_numpy(), peer.predict(peer_frame[test])
        column = answers["value" if is_number else "prediction"].astype(y.dtype)
        ours.append(figure(column[test].to_numpy(), expected))
        theirs.append(figure(predicted, expected))
    if is_number:
        assert np.mean(ours) <= 1.02 * np.mean(theirs)
    else:
        assert np.mean(ours) >= np.mean(theirs) - 0.02


MISSING = ["", "NA", "N/A", "nan", "NaN", "null", "?"]
HEADERS = ["a", "b", "age", "größe", "x y", "x,y", 'q"q', "forall", "Row", "", "2nd", "class", "labelled", "y", "truth", "prediction",
           "row", "eq", "Class", "$", "value"]  # fmt: skip
FEATURES = ["number", "number", "number", "huge", "infinite", "boolean", "texts", "few", "many", "integer", "constant", "missing", "date",
            "nearly", "index"]  # fmt: skip
TARGETS = ["few", "integer", "boolean", "number", "texts"]
ODD_TARGETS = ["constant", "missing", "many", "date", "infinite", "huge", "nearly", "index"]


def cells(rng, kind, n):
    """The cells of a column."""
    if kind == "constant":
        return [rng.choice(["7", "x"])] * n
    if kind == "missing":
        return [rng.choice(MISSING) for _ in range(n)]
    if kind == "index":
        return [str(i) for i in range(n)]
    if kind in ("names", "twice"):
        return [f"n{i if kind == 'names' else i // 2}" for i in range(n)]
    if kind == "split":
        return [rng.choice(["train", "train", "test"]) for _ in range(n)]
    if kind == "odd split":
        return [rng.choice(["train", "Test", "test", "dev", "", "0"]) for _ in range(n)]
    words = rng.choice([("true", "false"), ("True", "False"), ("yes", "no"), ("0", "1")])
    date = rng.choice(["{y}-{m:02}-{d:02}", "{d}.{m}.{y}", "{m}/{d}/{y}", "{d}/{m}/{y}", "{y}-{m:02}-{d:02}T12:30:00Z"])
    make = {
        "number": lambda: rng.choice([str(rng.randint(-5, 5)), f"{rng.gauss(0, 1):.3f}", f"{rng.gauss(0, 1):.2e}", "-0", "+3"]),
        "huge": lambda: rng.choice(["1e300", "-1e300", "1e-300", "0", "1e38", "12345678901234567890"]),
        "infinite": lambda: rng.choice(["1", "2", "inf", "-inf", "1e999"]),
        "boolean": lambda: rng.choice(words),
        "texts": lambda: rng.choice(["red", "a, b", 'say "x"', "größe", "a;b", "two\nlines", "#", "=1+2", "None"]),
        "few": lambda: rng.choice("abc"),
        "many": lambda: f"c{rng.randint(0, 3 * n + 300)}",
        "integer": lambda: str(rng.randint(0, 3)),
        "date": lambda: date.format(y=rng.randint(1890, 2030), m=rng.randint(1, 12), d=rng.randint(1, 28)),
        "nearly": lambda: "unknown" if rng.random() < 0.1 else str(rng.randint(0, 1000)),
    }[kind]
    missing = rng.choice([0, 0, 0.2])
    return [rng.choice(MISSING) if rng.random() < missing else make() for _ in range(n)]


class OddFile:
    """A file that somebody may have, and how it was made."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.rows = rng.choice([0, 1, 2, 3, 5, 8, 20, 40, 80])
        kinds = [rng.choice(FEATURES) for _ in range(rng.choice([0, 1, 1, 2, 3, 5]))]
        kinds.append(rng.choice(TARGETS if rng.random() < 0.8 else ODD_TARGETS))
        headers = rng.sample(HEADERS, len(kinds))
        self.target = headers[-1]
        self.twice = rng.random() < 0.04 and len(kinds) > 1
        if self.twice:
            headers[0] = headers[-1]
        for name, share, choices in [("who", 0.3, ["names", "names", "twice", "few"]), ("split", 0.4, ["split", "split", "odd split", "few"])]:
            if rng.random() < share:
                headers.append(name)
                kinds.append(rng.choice(choices))
        self.headers, self.kinds = headers, kinds
        self.columns = [cells(rng, kind, self.rows) for kind in kinds]
        self.separator = rng.choice([","] * 20 + [";", "\t"])
        text = io.StringIO()
        quoting = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
        end = rng.choice(["\n", "\r\n"])
        writer = csv.writer(text, delimiter=self.separator, lineterminator=end, quoting=quoting)
        writer.writerow(headers)
        writer.writerows(zip(*self.columns, strict=True))
        text, self.broken = text.getvalue(), rng.choice([""] * 16 + ["short row", "quote", "utf-16", "null byte"])
        if self.broken == "short row":
            text += "1" + end
            self.broken = "" if len(headers) == 1 else self.broken
        elif self.broken == "quote":
            text += '"never closed'
        elif self.broken == "null byte":
            text += "\0"
        elif rng.random() < 0.2 and self.rows:
            text = text.removesuffix(end)
        self.bytes = text.encode(self.broken if self.broken == "utf-16" else rng.choice(["utf-8", "utf-8", "utf-8-sig"]))

    def column(self, name):
        """The cells under a header, None where there is no such column."""
        return self.columns[self.headers.index(name)] if name in self.headers else None

    def kind(self, name):
        return self.kinds[self.headers.index(name)] if name in self.headers else None

    def must_be_refused(self):
        """Why no project can come of it, as far as that is easily said."""
        known = {cell for cell in self.column(self.target) if cell not in MISSING}
        split = self.column("split") or []
        reasons = {
            "broken": self.broken,
            "two columns of a name": self.twice,
            "nothing to tell apart": len(known) < 2,
            "a target without a name": self.target == "",
            "names twice": len(set(self.column("who") or [])) < len(self.column("who") or []),
            "half a split": self.kind("split") in ("split", "odd split") and set(split) != {"train", "test"} and self.rows > 0
            and any(cell.lower() in ("train", "test") for cell in split) and not {"train", "test"} <= set(split) <= {"train", "test", ""},
        }  # fmt: skip
        return [reason for reason, holds in reasons.items() if holds]


def check_odd_file(file, folder):
    """That it is read as it is meant, or refused with its name and the place. Whether it became a project."""
    (folder / "data.csv").write_bytes(file.bytes)
    names = ["--names=who"] if "who" in file.headers else []
    new = call(folder, "new", "p", "--from", "data.csv", f"--target={file.target}", *names)
    assert new.returncode in (0, 2) and "panicked" not in new.stderr, new.stderr
    if new.returncode == 2:
        assert "data.csv" in new.stderr and re.search("line|column|header|row|UTF", new.stderr), new.stderr
        assert not (folder / "p").exists()
        return False
    assert not file.must_be_refused(), (file.must_be_refused(), new.stdout)

    symbol = re.search(r"predict \S+ --run \S+ (\S+) --features", new.stdout).group(1)
    logltn(folder, "train", "p/p.toml", "--out", "run", "--steps", "2")
    said = list(csv.reader(io.StringIO(logltn(folder, "predict", "p/p.toml", "--run", "run", symbol, "--features", "Row=data.csv"))))
    assert len(said) == file.rows + 1
    if names:
        assert [row[0] for row in said[1:]] == file.column("who")
    target = file.column(file.target)
    if said[0][1] == "prediction":
        assert {row[1] for row in said[1:]} <= set(target) - set(MISSING)
    else:
        assert all(np.isfinite(float(row[1])) for row in said[1:])

    # The labels are those of the rows to learn from, and numbers are scaled by these rows.
    labels = json.loads(logltn(folder, "check", "p/p.toml", "--json"))["axioms"][0]["groundings"]
    known = [row for row in range(file.rows) if target[row] not in MISSING]
    split = file.column("split") if file.kind("split") in ("split", "odd split") else None
    if split is None:
        assert 0 < labels < len(known)
    else:
        assert labels == sum(split[row] == "train" for row in known)
    model = json.loads((folder / "run" / "run.json").read_text())["model"]
    prepared = {column["name"]: column for column in json.loads(model["sorts.Row.prepared"])["columns"]}
    kinds = {"number": "number", "huge": "number", "date": "date", "few": "category", "texts": "category", "many": "category", "nearly": "category"}
    for name, kind, column in zip(file.headers, file.kinds, file.columns, strict=True):
        if name in (file.target, "who") or (name == "split" and split is not None):
            assert name not in prepared
            continue
        if name not in prepared:
            assert f"left out: `{name}`" in new.stdout or name == ""
            continue
        different = {cell for cell in column if cell not in [*MISSING, "None"]}
        if kind in kinds and (len(different) > 2 or kind != "nearly") and not (kind == "nearly" and "unknown" not in different):
            assert different == set() or prepared[name]["kind"] == kinds[kind] or different == {"None"}, (name, kind, prepared[name])
        if prepared[name]["kind"] == "number" and kind == "number" and split is not None:
            numbers = [float(cell) for cell, part in zip(column, split, strict=True) if part == "train" and cell not in MISSING]
            if numbers:
                assert float(prepared[name]["mean"]) == pytest.approx(np.mean(numbers), rel=1e-9, abs=1e-12)
    return True


def test_odd_files(tmp_path):
    """`LOGLTN_CSV_FILES=1000` tries more of them."""
    works = 0
    count = int(os.environ.get("LOGLTN_CSV_FILES", "40"))
    for seed in range(count):
        folder = tmp_path / str(seed)
        folder.mkdir()
        file = OddFile(seed)
        try:
            works += check_odd_file(file, folder)
        except BaseException:
            print(f"file {seed} in {folder}: {dict(zip(file.headers, file.kinds, strict=False))}, target {file.target!r}")
            raise
    assert 0.1 * count < works < 0.9 * count


def test_a_terminal_is_asked(tmp_path):
    """What is to be predicted, and which column has the names, as neither was said."""
    (tmp_path / "d.csv").write_text("who,a,y\n" + "".join(f"n{i},{i * i % 7},{'pq'[i % 2]}\n" for i in range(12)))
    here, there = pty.openpty()
    os.write(here, b"3\nwho\n")
    done = subprocess.run([*PROGRAM, "new", "p", "--from", "d.csv"], cwd=tmp_path, stdin=there, stderr=there, stdout=subprocess.PIPE, timeout=60)
    os.close(there)
    assert done.returncode == 0
    asked = os.read(here, 10_000).decode()
    os.close(here)
    assert "which column should be predicted?" in asked and "which column names the rows?" in asked
    manifest = (tmp_path / "p" / "p.toml").read_text()
    assert 'names = "who"' in manifest and 'by = "y"' in manifest
