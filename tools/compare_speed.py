#!/usr/bin/env python3
"""Is this tree as fast as another? Measures the figures of both builds by turns on one device, so that a warming chip
or a busy host meets both. Fails where the geometric mean of all speeds is under 0.99 of the other's, or one figure is
under 0.97 in every round.

  tools/compare_speed.py OLD/hstu-tune NEW/hstu-tune [--rounds 2] [--workload FILE] [--only PART...] [--json FILE]
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile


def figures(tool, workload, parts, store):
    """Figure -> (value, whether more is better), as `hstu-tune bench` measures them."""
    out = os.path.join(store, "figures.json")
    command = [tool, "bench", workload, "--only", *parts, "--json", out]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "HSTUJIT_STORE": store})
    with open(out, encoding="utf-8") as file:
        return {f["id"]: (f["value"], f["better"] == "higher") for f in json.load(file)["figures"]}


def speeds(old, new):
    """Figure -> how fast the new one is beside the old one; above 1 is faster. Figures of one tree alone are left out."""
    out = {}
    for name in old.keys() & new.keys():
        (before, more_is_better), (after, _) = old[name], new[name]
        if before > 0 and after > 0:
            out[name] = after / before if more_is_better else before / after
    return out


def judge(rounds, least_mean, least):
    """What the rounds say: the geometric mean, and the figures that are under `least` in each of them."""
    names = set.intersection(*(set(r) for r in rounds))
    if not names:
        sys.exit("compare_speed: the trees have no figure in common")
    logs = [math.log(r[name]) for r in rounds for name in names]
    mean = math.exp(sum(logs) / len(logs))
    slow = sorted(name for name in names if all(r[name] < least for r in rounds))
    print(f"{len(names)} figures, {len(rounds)} rounds: geometric mean {mean:.4f}, {len(slow)} under {least} each time")
    for name in slow:
        print(f"  {name}: " + ", ".join(f"{r[name]:.3f}" for r in rounds))
    return mean >= least_mean and not slow


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--workload", default="tools/workloads/figures.json")
    parser.add_argument("--only", nargs="+", default=["operators", "products"], help="parts of the bench")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", help="file for the speeds of each round")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        stores = {}
        for tree in ("old", "new"):
            stores[tree] = os.path.join(folder, tree)
            os.mkdir(stores[tree])
            subprocess.run([getattr(args, tree), "warm", args.workload, "--device", "cuda"], check=True,
                           stdout=subprocess.DEVNULL, env={**os.environ, "HSTUJIT_STORE": stores[tree]})
        rounds = []
        for _ in range(args.rounds):
            measured = [figures(getattr(args, tree), args.workload, args.only, stores[tree]) for tree in ("old", "new")]
            rounds.append(speeds(*measured))
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(rounds, file, indent=1, sort_keys=True)
    sys.exit(0 if judge(rounds, 0.99, 0.97) else 1)


if __name__ == "__main__":
    main()
