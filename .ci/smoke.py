"""The command line from an installed wheel, end to end: python smoke.py PATH_TO_OPTLDP."""

import csv
import json
import random
import subprocess
import sys

optldp = sys.argv[1]


def run(*arguments: str) -> dict:
    done = subprocess.run([optldp, *arguments, "--json"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


rng = random.Random(1)
with open("people.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["income"])
    writer.writerows([min(200_000, rng.lognormvariate(10.5, 0.6))] for _ in range(5000))
column = ["people.csv", "--column", "income"]
made = run("design", *column, "--range", "0", "200000", "--epsilon", "1", "--out", "mech.json")
assert made["relative_gap"] < 1e-6, made
assert run("verify", "mech.json")["ok"]
assert run("perturb", "mech.json", *column, "--out", "reports.csv", "--seed", "7")["n"] == 5000
mean = run("estimate", "mech.json", "reports.csv")
assert mean["ci_low"] < mean["ci_high"], mean
rows = run("compare", *column, "--range", "0", "200000", "--epsilon", "1", "--method", "piecewise")["rows"]
assert rows[0]["ratio_to_optimal"] > 1, rows
print("smoke test: 5 passed, 0 failed")
