"""Compares what `nodemask advise --json` said with a longer run of everything, and prints a row of a table.

    bin/nodemask advise --data cora --models gin --budget 1h --json >advice.json
    python scripts/check-advice.py bin/nodemask advice.json [trials=30]

Every arm, settled or not, is trained as it was chosen on further splits, from seed 1001. A comparison is wrong that was
settled as a gain and has no interval above 0 there, or as less than a point and has an interval above a point.
"""
import json
import math
import shlex
import statistics
import subprocess
import sys

FIRST_SEED = 1001
QUANTILES = {10: 2.262, 30: 2.045}  # of Student's t, 97.5 %, by trials


def scores(program, arm, trials, extra, done={}):
    """Macro F1 by seed; dropout's arm may be the plain model itself."""
    command = shlex.split(arm["command"].replace("--trials 10", f"--trials {trials}"))
    command = [program, *command[1:], *extra, "--seed", str(FIRST_SEED), "--json"]
    key = " ".join(command)
    if key not in done:
        lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
        done[key] = {r["seed"]: r["macro_f1"] for r in map(json.loads, lines)}
        assert len(done[key]) == trials, key
    return done[key]


def main(program, file, trials="30", *extra):
    trials = int(trials)
    with open(file) as f:
        advice = json.load(f)
    for q in advice["questions"]:
        plain, *arms = q["arms"]
        base, found = scores(program, plain, trials, extra), {"plain": 0.0}
        print(f"{advice['data']}, {q['setting']}, {q['model']}: {advice['sentence']}")
        settled = wrong = 0
        for arm in arms:
            f1 = scores(program, arm, trials, extra)
            differences = [f1[seed] - base[seed] for seed in base]
            mean = found[arm["name"]] = statistics.mean(differences)
            half = QUANTILES[trials] * statistics.stdev(differences) / math.sqrt(trials)
            said, effect = arm["verdict"], arm["effect"]
            is_wrong = said == "gains" and mean - half <= 0 or said == "less than a point" and mean - half > 1
            settled, wrong = settled + (said != "open"), wrong + is_wrong
            print(f"  {arm['name']} {arm.get('chosen', '')}: said {effect['mean']:.1f} ({effect['low']:.1f} to "
                f"{effect['high']:.1f}), {said}; further {mean:.1f} ± {half:.1f}" + is_wrong * "  WRONG")
        best = max(found, key=found.get)
        print(f"  {settled} of {len(arms)} settled, {wrong} wrong; best: {best}; below it: "
            + ", ".join(f"{name} {found[best] - mean:.1f}" for name, mean in found.items()))


if __name__ == "__main__":
    main(*sys.argv[1:])
