"""Property tests draw the same examples in every run; HYPOTHESIS_PROFILE=search draws new ones."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: tests run side by side, one on each core

from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("search", deadline=None, max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
