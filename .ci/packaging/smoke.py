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
assert mean["low"] < mean["value"] < mean["high"], mean
rows = run("compare", *column, "--range", "0", "200000", "--epsilon", "1", "--method", "piecewise")["rows"]
assert rows[0]["ratio_to_optimal"] > 1, rows

with open("jobs.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["job"])
    writer.writerows([rng.choice(["cook", "cook", "smith", "nurse"])] for _ in range(5000))
column = ["jobs.csv", "--column", "job"]
made = run("design", *column, "--categorical", "--epsilon", "1", "--method", "optimal", "--out", "jobs.json")
assert made["relative_gap"] < 1e-3, made
assert run("verify", "jobs.json", "--exact")["ok"]
assert run("perturb", "jobs.json", *column, "--out", "jobs-reports.csv", "--seed", "7")["n"] == 5000
found = run("estimate", "jobs.json", "jobs-reports.csv", "--method", "mle")
assert found["category"][found["value"].index(max(found["value"]))] == "cook", found
print("smoke test: 9 passed, 0 failed")
