"""What the experiments of all papers share: a script's options and checks, seeded repetitions, and the data drawn."""
