#!/usr/bin/python3
"""Finds links and assets of a folder of HTML that lead nowhere, and what is fetched from elsewhere.

    tools/site/dead_links.py FOLDER    prints complaints, exits with 1 if there are any
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Reader(HTMLParser):
    """The anchors of a page, its links, and the assets that a browser fetches by itself."""

    def __init__(self, path):
        super().__init__()
        self.anchors = set()
        self.links = []
        self.assets = []
        self.feed(path.read_text(encoding="utf-8", errors="replace"))

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.anchors |= {values.get("id"), values.get("name") if tag == "a" else None} - {None}
        if tag in ("a", "area") and values.get("href"):
            self.links.append(values["href"])
        asset = values.get("src") or (values.get("href") if tag == "link" else None)
        if asset:
            self.assets.append(asset)


def complaints(folder):
    """Every complaint as `page: text`. Pages of other hosts are not looked at."""
    folder = folder.resolve()
    read = {path: Reader(path) for path in folder.rglob("*.html")}
    for path, page in sorted(read.items()):
        here = path.relative_to(folder)
        for asset in page.assets:
            if re.match(r"(https?:)?//", asset):
                yield f"{here}: is fetched from elsewhere: {asset}"
        for link in page.links + page.assets:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                yield f"{here}: link leads nowhere: {link}"
            elif parts.fragment and target in read and (
                    unquote(parts.fragment) not in read[target].anchors):
                yield f"{here}: no such anchor: {link}"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    found = list(complaints(Path(sys.argv[1])))
    print("\n".join(found) or "no dead links")
    sys.exit(1 if found else 0)
