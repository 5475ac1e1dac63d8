#!/usr/bin/python3
"""The site that `./dev docs` makes, in a browser: what it has, its search, narrow screens.

    site_test.py CHROMIUM
"""

import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/site"))
sys.path.insert(0, str(ROOT / "tools"))

import build  # noqa: E402
import page as markdown  # noqa: E402
import tidy  # noqa: E402

CHROMIUM = sys.argv.pop(1) if len(sys.argv) > 1 else "chromium"
NARROW = 360
# Measures every page in a frame as wide as a small telephone.
PROBE = """<!DOCTYPE html><body><script>
const frame = document.createElement("iframe");
frame.style.cssText = "width: %dpx; height: 700px; border: 0";
document.body.append(frame);
const pages = %s, wide = [];
let at = -1;
frame.onload = () => {
  if (at >= 0 && frame.contentDocument.documentElement.scrollWidth > %d) wide.push(pages[at]);
  if (++at < pages.length) frame.src = pages[at];
  else document.body.textContent = "measured " + at + ": " + JSON.stringify(wide);
};
frame.src = "about:blank";
</script></body>"""


def browse(address):
    """The page after its scripts have run."""
    with tempfile.TemporaryDirectory() as profile:
        words = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                 "--allow-file-access-from-files", f"--user-data-dir={profile}",
                 "--virtual-time-budget=60000", "--dump-dom", address]
        return subprocess.run(words, capture_output=True, text=True, timeout=120, check=True).stdout


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="mortise-site-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name) / "site"
        made = subprocess.run([ROOT / "tools/site/make.sh", cls.folder], capture_output=True,
                              text=True, check=False)
        if made.returncode != 0 or made.stdout.splitlines()[-1] != "no dead links":
            raise AssertionError(made.stdout + made.stderr)
        cls.pages = [markdown.address(name) for name in tidy.tree(ROOT)
                     if name.endswith(".md")]

    def found(self, query):
        dom = browse(f"file://{self.folder}/docs/faq.html?q={query}")
        results = dom[dom.index('id="results"'):dom.index('<div class="columns">')]
        return re.findall(r'href="([^"]+)"', results), results

    def test_every_page_is_in_it_and_in_the_menu(self):
        first = (self.folder / "index.html").read_text()
        for page in self.pages:
            self.assertTrue((self.folder / page).is_file(), page)
            self.assertIn(f'href="{page}"', first)

    def test_the_search_finds_sections_and_calls(self):
        links, text = self.found("holder+paused+write")
        self.assertIn("../docs/semantics.html#when-the-holder-is-paused", links)
        self.assertIn("<mark>", text)
        links, _ = self.found("try_acquire_any")
        self.assertTrue(any(link.startswith("../reference/") for link in links), links)
        links, text = self.found("zyxwvut")
        self.assertEqual(links, [])
        self.assertIn("No section has all these words", text)

    def test_what_is_searched_is_not_run(self):
        _, text = self.found("%3Cimg+src%3Dx+onerror%3Dalert(1)%3E")
        self.assertNotIn("<img", text)

    def test_no_page_is_wider_than_a_narrow_screen(self):
        probe = self.folder / "probe.html"
        probe.write_text(PROBE % (NARROW, json.dumps(self.pages), NARROW))
        self.addCleanup(probe.unlink)
        self.assertIn(f"measured {len(self.pages)}: []", browse(f"file://{probe}"))


if __name__ == "__main__":
    unittest.main()
