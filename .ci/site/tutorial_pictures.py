"""Make the pictures of tutorials and studies anew: python .ci/site/tutorial_pictures.py [PAGE ...].

It takes optldp[dev] in that Python. Each page is followed in an empty folder until it has drawn its pictures; what
its commands draw is kept beside it in docs, in few colours.
"""

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from PIL import Image

from tests.test_documentation import DOCS, blocks, run_python, run_shell

DRAWN = {
    "tutorial.md": ("mech.png", "mean.png", "distribution.png", "budgets.png"),
    "tutorial-categories.md": ("table.png", "jobs.png"),
    "tutorial-two-columns.md": ("map.png",),
    "tutorial-attributes.md": ("three.png",),
    "studies/affairs.md": ("answer.png",),
    "studies/visits.md": ("answer.png",),
    "studies/occupations.md": ("answer.png",),
    "studies/diseases.md": ("answer.png",),
    "studies/marriages.md": ("answer.png",),
}
COLORS, WIDTH = 64, 1080


def main() -> None:
    for page in sys.argv[1:] or DRAWN:
        pictures = DRAWN[page]
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            names: dict[str, Any] = {}
            for block in blocks(page):
                if all(Path(name).exists() for name in pictures):
                    break
                if block.language == "python" and block.runs:
                    run_python(block, names)
                elif block.language == "sh" and block.runs:
                    run_shell(block, Path(folder))
            for name in pictures:
                picture = Image.open(name).convert("RGB")
                picture.thumbnail((WIDTH, WIDTH))
                kept = DOCS / f"{page.removesuffix('.md')}-{name}"
                picture.quantize(COLORS, dither=Image.Dither.NONE).save(kept, optimize=True)
                print(f"{kept}: {kept.stat().st_size / 1000:.0f} kB")
            os.chdir(DOCS)


if __name__ == "__main__":
    main()
