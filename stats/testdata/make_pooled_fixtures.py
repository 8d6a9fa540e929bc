"""Write pooled_fixtures.json: pooled effects and detectable differences, by other means than package stats.

Run it with: python3 -m venv /tmp/scipy && /tmp/scipy/bin/pip install numpy==2.4.6 scipy==1.17.1 &&
/tmp/scipy/bin/python make_pooled_fixtures.py

- pooled: scipy.stats.ttest_1samp of the means over cells, and its confidence interval.
- detectable: scipy.stats.ncf (noncentral F: the square of the noncentral t), and scipy.optimize.brentq.

The inputs come from random.Random with fixed seeds, with two decimals. The same versions write the same bytes again.
"""

import json
import math
import pathlib
import random
import warnings

import numpy as np
from scipy import optimize, stats


def readings(seed, count, splits, effect, common):
    """Return differences that hang together: a split's own part, and each reading's."""
    r = random.Random(seed)
    split = [r.gauss(0, common) for _ in range(splits)]
    return [[round(effect + split[j] + r.gauss(0, 1), 2) for j in range(splits)] for _ in range(count)]


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
    "pooled": [pooled(readings(6, 7, 10, 0.5, 1.0)), pooled(readings(7, 2, 3, 0.0, 0.2))],
    "detectable": [detectable(sd, n) for sd, n in [(1.0, 2), (1.0, 3), (0.8, 5), (1.3, 10), (2.0, 20), (1.0, 34),
    (1.0, 200)]],
}
lines = []
for name, cases in fixtures.items():
    lines.append(f' "{name}": [\n' + ",\n".join("  " + json.dumps(c) for c in cases) + "\n ]")
pathlib.Path(__file__).with_name("pooled_fixtures.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
