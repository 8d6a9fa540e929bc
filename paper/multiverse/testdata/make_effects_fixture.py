"""Works out what the readings of GIN, GAT and SGAT on Cora say, with numpy and scipy and none of the project's code:

    python make_effects_fixture.py ../../../results/multiverse > effects_fixture.json

numpy 2.4 and scipy 1.17 wrote the fixture that is here. The rules are those of PROTOCOL.md.
"""

import itertools
import json
import pathlib
import statistics
import sys

import numpy as np
from scipy import stats

SIZES, SPLITS = [10, 25, 50, 90], range(100, 110)
STOPS = ["loss", "f1", "accuracy", "either"]
ARRIVALS = ["all-edges", "train-edges", "no-validation"]
PUBLISHED = {  # macro F1 without masking, tables 1 and 3a
    "gin": {"inductive": {10: 52.91, 25: 74.71, 50: 83.07, 90: 85.13},
    "transductive": {10: 77.95, 25: 82.72, 50: 85.63, 90: 86.67}},
}
# What an option changes of the model's preset; None marks what is read off a trained model.
GIN = [
    [{}, {"mlp": "2"}, {"mlp": "2", "norm": "inside"}, {"mlp": "2", "norm": "both"}],
    [{}, {"readout": "all"}],
    [{"dropout": "0"}, {}],
    [{"normalize": "false"}, {}],
    [{}, {"lr": "0.005", "decay": "0"}],
]
MASKED = [{}, {"over": "train"}]


def readings(model, setting):
    """Yields for each reading the choices of its plain and its masked arm, the way of stopping and of arriving, and
    its numbers."""
    if model == "gin":
        axes = [("both", options) for options in GIN]
    else:
        axes = [("plain", [{}, {"attention-dropout": "0"}]), ("masked", [{}, {"self": "kept"}])]
    axes.append(("masked", MASKED if setting == "transductive" else [{}]))
    ways = [range(len(options)) for _, options in axes] + [range(4), range(3 if setting == "inductive" else 1)]
    for numbers in itertools.product(*ways):
        arms = {"plain": {}, "masked": {"keep": "0.5"}}
        for (where, options), number in zip(axes, numbers):
            for arm in arms:
                if where in ("both", arm):
                    arms[arm].update(options[number])
        yield numbers, arms, numbers[-2], numbers[-1]


def key(setting, size, choices):
    return setting, size, json.dumps(choices, sort_keys=True)


def load(folder, model):
    trials = {}
    for line in open(pathlib.Path(folder) / f"cora-{model}.jsonl"):
        one = json.loads(line)
        if one["seed"] in SPLITS:
            trials[key(one["setting"], one["train_percent"], one.get("choices", {})), one["seed"]] = one
    return trials


def scores(trials, setting, size, choices, stop, arrival, what="f1"):
    return np.array([trials[key(setting, size, choices), split][what][stop][arrival] for split in SPLITS])


def explained(y, factors):
    """Share of the variance between the options of each axis, and what an additive model loses without it."""
    y = np.array(y) - np.mean(y)
    total = (y**2).sum()

    def fit(columns):
        x = [np.ones(len(y))]
        for j in columns:
            for level in sorted(set(f[j] for f in factors))[1:]:
                x.append(np.array([f[j] == level for f in factors], float))
        x = np.stack(x, 1)
        residual = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
        return 1 - (residual**2).sum() / total

    n = len(factors[0])
    return [[fit([j]), fit(range(n)) - fit([k for k in range(n) if k != j])] for j in range(n)]


def effects(trials, model, setting):
    pooled, per_split, factors = [], [], []
    for numbers, arms, stop, arrival in readings(model, setting):
        differences = np.mean([scores(trials, setting, size, arms["masked"], stop, arrival) - scores(trials, setting,
            size, arms["plain"], stop, arrival) for size in SIZES], axis=0)
        test = stats.ttest_1samp(differences, 0)
        interval = test.confidence_interval(0.95)
        pooled.append([differences.mean(), interval.low, interval.high, test.pvalue])
        per_split.append(differences)
        factors.append(numbers)
    d = np.array(per_split)
    n = d.shape[1]
    critical = stats.t.ppf(0.975, n - 1)

    def statistic(signs):
        turned = d * signs
        mean = turned.mean(1)
        t = mean / (turned.std(1, ddof=1) / np.sqrt(n))
        return abs(np.median(mean)), (t > critical).sum(), (t < -critical).sum()

    patterns = [statistic(np.array(signs)) for signs in itertools.product([1, -1], repeat=n)]
    median, positive, negative = patterns[0]
    slack = 1e-9 * np.abs(d).max()
    keep = [j for j in range(len(factors[0])) if len({f[j] for f in factors}) > 1]
    return {
        "pooled": np.round(pooled, 9).tolist(),
        "median": float(np.median(d.mean(1))), "positive": positive / len(d), "negative": negative / len(d),
        "p": [float(np.mean([p[0] >= median - slack for p in patterns])),
        float(np.mean([p[1] >= positive for p in patterns])), float(np.mean([p[2] >= negative for p in patterns]))],
        "explained": np.round(explained([p[0] for p in pooled], [[f[j] for j in keep] for f in factors]), 9).tolist(),
    }


def calibration(trials, model):
    fits = []
    for numbers, arms, stop, arrival in readings(model, "inductive"):
        rms = {}
        for setting, way in (("inductive", arrival), ("transductive", 0)):
            misses = [scores(trials, setting, size, arms["plain"], stop, way).mean() - PUBLISHED[model][setting][size]
                for size in SIZES]
            rms[setting] = float(np.sqrt(np.mean(np.square(misses))))
        cost = np.mean([(scores(trials, "inductive", size, arms["plain"], stop, arrival) - scores(trials, "inductive",
            size, arms["plain"], stop, arrival, "cached")).mean() for size in SIZES])
        fits.append((rms["inductive"], rms["transductive"], float(cost)))
    limit = 3.0
    costs = [0 <= f[2] <= 3 for f in fits]
    while sum(c and max(f[:2]) <= limit for c, f in zip(costs, fits)) < min(5, sum(costs)):
        limit += 0.5
    return {"limit": limit, "calibrated": sum(c and max(f[:2]) <= limit for c, f in zip(costs, fits)),
        "fits": np.round(sorted(fits, key=lambda f: f[0] ** 2 + f[1] ** 2)[:20], 9).tolist()}


def main():
    folder, out = sys.argv[1], {}
    for model in ["gin", "gat", "sgat"]:
        trials = load(folder, model)
        for setting in ["inductive", "transductive"]:
            out[f"{model} {setting}"] = effects(trials, model, setting)
        if model in PUBLISHED:
            out[f"{model} calibration"] = calibration(trials, model)
    json.dump(out, sys.stdout)
    print()


if __name__ == "__main__":
    main()
