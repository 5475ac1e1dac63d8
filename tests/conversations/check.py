"""The pages of docs/conversations are what their generator writes now: check.py GENERATOR."""
import difflib
import subprocess
import sys
import tempfile
from pathlib import Path

PAGES = Path("docs/conversations")
HINT = """
The pages in docs/conversations are not what the code does now. Read the difference (- the page,
+ the code): if the change is intended, './dev conversations' writes the pages anew.
"""


def lines(path):
    return path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []


def main(generator):
    with tempfile.TemporaryDirectory(prefix="mortise-conversations-") as folder:
        subprocess.run([generator, PAGES, folder], check=True)
        written = {path.name: lines(path) for path in Path(folder).iterdir()}
    pages = {path.name for path in PAGES.glob("*.md")} - {"README.md"}
    stale = pages ^ set(written)
    for name in sorted(written):
        page = PAGES / name
        difference = list(difflib.unified_diff(lines(page), written[name], str(page), "the code"))
        sys.stdout.writelines(difference)
        if difference:
            stale.add(name)
    if stale:
        print(HINT + "They are: " + ", ".join(sorted(stale)))
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
