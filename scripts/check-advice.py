"""Compares what `nodemask advise --json` said with a longer run of everything.

    bin/nodemask advise --data cora --models gin --budget 1h --json >advice.json
    python scripts/check-advice.py bin/nodemask advice.json      # options of train may follow, such as --data-dir

Every arm, settled or not, is trained as it was chosen on 30 further splits, from seed 1001. Wrong is a gain or loss
whose interval has 0 there, and "under a point" whose interval is beyond a point.
"""
import json
import math
import shlex
import statistics
import subprocess
import sys

TRIALS, FIRST_SEED = 30, 1001
SAME = "is the plain model"  # verdict of an arm that chose what the plain model has
QUANTILE = 2.045  # of Student's t with 29 degrees of freedom, 97.5 %


def scores(program, command, *extra):
    """Macro F1 by seed of what a command trains."""
    words = shlex.split(command.replace("--trials 10", f"--trials {TRIALS}"))[1:]
    lines = subprocess.run([program, *words, *extra, "--seed", str(FIRST_SEED), "--json"], check=True,
        stdout=subprocess.PIPE, text=True).stdout.splitlines()
    assert len(lines) == TRIALS, command
    return {r["seed"]: r["macro_f1"] for r in map(json.loads, lines)}


def main(program, file, *extra):
    with open(file) as f:
        advice = json.load(f)
    print(advice["sentence"])
    for q in advice["questions"]:
        plain, *arms = q["arms"]
        if not all("effect" in arm or arm.get("verdict") == SAME for arm in arms):
            sys.exit(f"{file}: not all arms of {q['model']} were compared: run advise with a larger --budget")
        base, found = scores(program, plain["command"], *extra), {"plain": 0.0}
        print(f"{advice['data']}, {q['setting']}, {q['model']}:")
        settled = wrong = 0
        for arm in arms:
            if arm["verdict"] == SAME:
                settled += 1
                print(f"  {arm['name']} {arm['chosen']}: is the plain model")
                continue
            f1 = scores(program, arm["command"], *extra)
            differences = [f1[seed] - base[seed] for seed in base]
            mean = found[arm["name"]] = statistics.mean(differences)
            half = QUANTILE * statistics.stdev(differences) / math.sqrt(TRIALS)
            said, effect = arm["verdict"], arm["effect"]
            is_wrong = {"helps": mean - half <= 0, "hurts": mean + half >= 0, "under a point": abs(mean) - half > 1,
                "can't tell": False}[said]
            settled, wrong = settled + (said != "can't tell"), wrong + is_wrong
            print(f"  {arm['name']} {arm.get('chosen', '')}: said {effect['mean']:.1f} ({effect['low']:.1f} to "
                f"{effect['high']:.1f}), {said}; further {mean:.1f} ± {half:.1f}" + is_wrong * "  WRONG")
        best = max(found, key=found.get)
        print(f"  {settled} of {len(arms)} settled, {wrong} wrong; best: {best}; below it: "
            + ", ".join(f"{name} {found[best] - mean:.1f}" for name, mean in found.items()))


if __name__ == "__main__":
    main(*sys.argv[1:])
