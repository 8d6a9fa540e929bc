"""Write joint_fixtures.json: what tests over many readings say, by other means than package joint.

Run it with: python3 -m venv /tmp/scipy && /tmp/scipy/bin/pip install numpy==2.4.6 scipy==1.17.1 &&
/tmp/scipy/bin/python make_joint_fixtures.py

- joint: every one of the 2^splits sign patterns, by itertools, in exact fractions of the decimals below: no tie
  depends on
  rounding. Whether a mean is significant is decided by scipy.stats.ttest_1samp.
- explained: η² from the options' means, and R² by numpy.linalg.lstsq on dummy columns with an intercept.
- pooled: scipy.stats.ttest_1samp of the means over cells, and its confidence interval.
- detectable: scipy.stats.ncf (noncentral F: the square of the noncentral t), and scipy.optimize.brentq.

The inputs come from random.Random with fixed seeds, with two decimals. The same versions write the same bytes again.
"""

import itertools
import json
import math
import pathlib
import random
import warnings
from fractions import Fraction

import numpy as np
from scipy import optimize, stats


def median(values):
    values = sorted(values)
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2


def significant(differences):
    """Return 1, -1 or 0: whether their mean is significantly above 0, below 0, or neither."""
    if len(set(differences)) == 1:
        return (differences[0] > 0) - (differences[0] < 0)
    test = stats.ttest_1samp([float(d) for d in differences], 0)
    return 0 if test.pvalue >= 0.05 else int(math.copysign(1, test.statistic))


def joint(effects):
    exact = [[Fraction(str(d)) for d in reading] for reading in effects]
    splits = len(exact[0])
    seen = []
    for signs in itertools.product([1, -1], repeat=splits):
        turned = [[s * d for s, d in zip(signs, reading)] for reading in exact]
        verdicts = [significant(reading) for reading in turned]
        seen.append((median([sum(reading) / splits for reading in turned]), verdicts.count(1), verdicts.count(-1)))
    observed = seen[0]  # all signs as they are
    share = lambda holds: sum(map(holds, seen)) / len(seen)
    return {
        "effects": effects, "median": float(observed[0]),
        "positive": observed[1] / len(exact), "negative": observed[2] / len(exact),
        "medianP": share(lambda s: abs(s[0]) >= abs(observed[0])),
        "positiveP": share(lambda s: s[1] >= observed[1]), "negativeP": share(lambda s: s[2] >= observed[2]),
    }


def readings(seed, count, splits, effect, common):
    """Return differences that hang together: a split's own part, and each reading's."""
    r = random.Random(seed)
    split = [r.gauss(0, common) for _ in range(splits)]
    return [[round(effect + split[j] + r.gauss(0, 1), 2) for j in range(splits)] for _ in range(count)]


def r_squared(y, factors, axes):
    columns = [np.ones(len(y))]
    for axis in axes:
        for option in sorted({f[axis] for f in factors})[1:]:
            columns.append(np.array([float(f[axis] == option) for f in factors]))
    x = np.stack(columns, axis=1)
    rest = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
    return 1 - rest @ rest / ((y - y.mean()) @ (y - y.mean()))


def explained(y, factors):
    values, axes = np.array(y), range(len(factors[0]))
    total = ((values - values.mean()) ** 2).sum()
    alone, lost, additive = [], [], r_squared(values, factors, axes)
    for axis in axes:
        between = 0.0
        for option in {f[axis] for f in factors}:
            of = values[[f[axis] == option for f in factors]]
            between += len(of) * (of.mean() - values.mean()) ** 2
        alone.append(between / total)
        lost.append(additive - r_squared(values, factors, [a for a in axes if a != axis]))
    return {"y": y, "factors": factors, "alone": alone, "lost": lost, "additive": additive}


def responses(seed, n, options, alias=False):
    """Return unbalanced responses; with alias, the last axis says again what the first does."""
    r = random.Random(seed)
    factors = [[min(r.randrange(k), r.randrange(k + 1)) for k in options] for _ in range(n)]
    if alias:
        factors = [f + [7 - 3 * f[0]] for f in factors]
    y = [round(2 * f[0] - 0.7 * f[1] + 0.5 * f[0] * f[-1] + r.gauss(0, 1), 2) for f in factors]
    return y, factors


def pooled(differences):
    means = np.array(differences).mean(axis=0)
    test = stats.ttest_1samp(means, 0)
    interval = test.confidence_interval(0.95)
    return {"differences": differences, "mean": means.mean(), "sd": means.std(ddof=1), "p": test.pvalue,
        "low": interval.low, "high": interval.high}


def detectable(sd, n):
    c = stats.t.ppf(0.975, n - 1)
    power = lambda l: stats.ncf.sf(c * c, 1, n - 1, l * l) - 0.8  # the square of a noncentral t is a noncentral F
    return {"sd": sd, "n": n, "delta": optimize.brentq(power, 0.1, 40, xtol=1e-13, rtol=1e-14) * sd / math.sqrt(n)}


warnings.simplefilter("error")
fixtures = {
    "joint": [
        joint(readings(1, 9, 8, 1.0, 1.0)), joint(readings(2, 6, 10, 0.3, 0.5)), joint(readings(3, 5, 7, -0.8, 0.1)),
        joint([[0.1, 0.2, 0.3], [0.3, 0.3, 0.3], [0.0, 0.0, 0.0],
        [-0.1, 0.2, 0.3]]),  # ties in plenty, and no deviation
        joint([[1.5, -0.5]]),
    ],
    "explained": [
        explained(*responses(4, 40, [2, 3, 4])), explained(*responses(5, 25, [3, 2], alias=True)),
        explained([1.0, 2.0, 4.0, 7.0], [[0, 0], [0, 1], [1, 0], [1, 1]]),
        explained([1.0, 2.0, 4.0], [[0, 5], [0, 5], [9, 5]]),
    ],
    "pooled": [pooled(readings(6, 7, 10, 0.5, 1.0)), pooled(readings(7, 2, 3, 0.0, 0.2))],
    "detectable": [detectable(sd, n) for sd, n in [(1.0, 2), (1.0, 3), (0.8, 5), (1.3, 10), (2.0, 20), (1.0, 34),
    (1.0, 200)]],
}
lines = []
for name, cases in fixtures.items():
    lines.append(f' "{name}": [\n' + ",\n".join("  " + json.dumps(c) for c in cases) + "\n ]")
pathlib.Path(__file__).with_name("joint_fixtures.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
