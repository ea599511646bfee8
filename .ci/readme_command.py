"""Print one of the README's two commands: python .ci/readme_command.py README.md main|tests."""

import re
import sys
from pathlib import Path

path, name = sys.argv[1:]
found = re.findall(rf"<!-- command: {name} -->\s*```sh\n(.*?)```", Path(path).read_text(), flags=re.DOTALL)
if len(found) != 1:
    sys.exit(f"{path} must hold exactly one command marked {name!r}, found {len(found)}")
print(found[0].strip())
