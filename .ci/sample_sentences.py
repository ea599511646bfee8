"""Draw sentences of the guides at random, to be judged one by one: sample_sentences.py [--seed N] [--count N].

What it prints is one sentence a line, with its number and page. `docs/sentences.md` keeps the verdicts of such samples.
Code, tables, headings, formulas in boxes and lists of names are left out; so are pages that are made from code.
"""

import argparse
import random
import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
MADE = ("architecture.md", "sentences.md")
"""Made from the code, and the page of the verdicts."""

LEFT_OUT = re.compile(r"^ *```.*?^ *```$|<!--.*?-->|^\$\$.*?\$\$|^#.*?$|^ *\|.*?$", re.DOTALL | re.MULTILINE)
ITEM = re.compile(r"^ *(?:(?:[-*]|\d+\.|>) |!!!.*)", re.MULTILINE)
END = re.compile(r"(?<=[.!?])[)*_\"]*\s+(?=[A-Z*`$(\[\"_])")


def sentences(text: str) -> list[str]:
    """Return the sentences of a page's prose that end in a stop and have three words or more."""
    prose = ITEM.sub("\n\n", LEFT_OUT.sub("\n\n", text))
    paragraphs = [" ".join(each.split()) for each in re.split(r"\n\s*\n", prose)]
    found = [each for paragraph in paragraphs for each in END.split(paragraph)]
    return [each for each in found if re.search(r"[.!?:][)*_\"]*$", each) and len(each.split()) > 2]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seed", type=int, default=38)
    options.add_argument("--count", type=int, default=200)
    wanted = options.parse_args()
    pages = [page for page in sorted([*DOCS.glob("*.md"), *DOCS.glob("how-to/*.md")]) if page.name not in MADE]
    everything = [(page.relative_to(DOCS), each) for page in pages for each in sentences(page.read_text())]
    drawn = random.Random(wanted.seed).sample(everything, wanted.count)
    for number, (page, sentence) in enumerate(sorted(drawn), 1):
        print(f"{number}\t{page}\t{sentence}")


if __name__ == "__main__":
    main()
