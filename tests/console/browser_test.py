"""The console's page in a real browser: browser_test.py MORTISE ACTOR FOLDER.

Installs what the tests need from npm into FOLDER, and runs browser_test.mjs,
browser_stream_test.mjs and browser_lists_test.mjs with it. The pictures that it takes are in
FOLDER/pictures.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGES = ("playwright-core@1.65.1", "axe-core@4.14.1")
SKIPPED = 77


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def install(folder):
    if not all((folder / "node_modules" / name.split("@")[0] / "package.json").exists()
               for name in PACKAGES):
        (folder / "package.json").write_text("{}\n", encoding="utf-8")
        # No scripts: they would download browsers.
        result = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts",
                                 "--no-save", *PACKAGES], cwd=folder, capture_output=True,
                                text=True, timeout=120, check=False)
        if result.returncode != 0:
            print(result.stderr)
            skip("npm could not install " + " and ".join(PACKAGES))


def main():
    mortise, actor, folder = (Path(word).resolve() for word in sys.argv[1:])
    browser = shutil.which("chromium")
    if browser is None:
        skip("there is no chromium: apt-get install chromium")
    if shutil.which("node") is None or shutil.which("npm") is None:
        skip("there is no npm: apt-get install npm")
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    install(folder)
    plain = {key: value for key, value in os.environ.items() if not key.startswith("MORTISE_")}
    plain |= {"TEST_MORTISE": str(mortise), "TEST_ACTOR": str(actor), "TEST_BROWSER": browser,
              "TEST_FOLDER": str(folder)}
    return max(run(test, plain) for test in ("browser_test.mjs", "browser_stream_test.mjs",
                                            "browser_lists_test.mjs"))


def run(test, environment):
    with tempfile.TemporaryDirectory(prefix="mortise-browser-test-") as directory:
        result = subprocess.run(["node", HERE / test], check=False, timeout=280,
                                env=environment | {"TEST_DIRECTORY": directory})
    return result.returncode


if __name__ == "__main__":
    sys.exit(main())
