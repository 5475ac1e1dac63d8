#!/usr/bin/python3
"""Makes the site of all Markdown pages, with the reference of the public headers beside them.

    tools/site/build.py FOLDER [REFERENCE.tag]

It needs no server and nothing from elsewhere: open FOLDER/index.html. FOLDER/reference is made by
Doxygen; its tag file brings the classes and functions into the search. `./dev docs` calls this.
"""

import html
import json
import os
import re
import shutil
import string
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

from pygments.formatters import HtmlFormatter

import navigation
import page as markdown
import tidy

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ASSETS = ("style.css", "search.js", "icon.svg")
TEMPLATE = string.Template((HERE / "page.html").read_text(encoding="utf-8"))
SECTION_TEXT_MAX = 4000


def menu(groups, titles, here):
    """The navigation of one page; the group that has the page is open."""
    parts = []
    for name, members in groups:
        links = [f'<li><a href="{markdown.relative(markdown.address(path), here)}"'
                 f'{" aria-current=page" if markdown.address(path) == here else ""}>'
                 f"{html.escape(titles[path])}</a></li>" for path in members]
        if name == "Look up":
            reference = markdown.relative("reference/index.html", here)
            links.insert(0, f'<li><a href="{reference}">Reference of the API</a></li>')
        is_open = name in ("Start", "Understand", "Run") or any(
            markdown.address(path) == here for path in members)
        parts.append(f"<details{' open' if is_open else ''}><summary>{name}</summary>"
                     f"<ul>{''.join(links)}</ul></details>")
    return "\n".join(parts)


def contents(page):
    """The sections of a page, beside it."""
    links = [f'<li class="level{level}"><a href="#{anchor}">{html.escape(words)}</a></li>'
             for anchor, words, level, _ in page.sections if level in (2, 3)]
    return f"<h2>On this page</h2><ul>{''.join(links)}</ul>" if len(links) > 2 else ""


def write(folder, address, title, body, menu_of, beside=""):
    path = folder / address
    path.parent.mkdir(parents=True, exist_ok=True)
    top = os.path.relpath(".", os.path.dirname(address) or ".")
    path.write_text(TEMPLATE.substitute(
        title=html.escape(title), top=top, menu=menu_of(address), body=body, contents=beside),
        encoding="utf-8")


def write_source(folder, path, menu_of):
    """A file that a page links to, or the list of what is in a folder; returns what that links to
    in turn."""
    address = markdown.source_address(path)
    if (ROOT / path).is_file():
        text = (ROOT / path).read_text(encoding="utf-8", errors="replace")
        write(folder, address, path, markdown.source_page(path, text), menu_of)
        return []
    names = sorted({name[len(path) + 1:].split("/")[0] for name in tidy.tree(ROOT)
                    if name.startswith(f"{path}/")})
    links, sources = [], []
    for name in names:
        target, is_source = markdown.place(ROOT, f"{path}/{name}")
        links.append(f'<li><a href="{markdown.relative(target, address)}">'
                     f"{html.escape(name)}</a></li>")
        sources += [f"{path}/{name}"] if is_source else []
    body = f"<h1>{html.escape(path)}</h1><ul>{''.join(links)}</ul>"
    write(folder, address, path, body, menu_of)
    return sources


def search_entries(all_pages, tag_file):
    """What can be found: [title, section, address, text] for each section of each page."""
    for page in all_pages:
        for anchor, words, level, text in page.sections:
            plain = re.sub(r"\s+", " ", " ".join(text)).strip()[:SECTION_TEXT_MAX]
            target = page.address if level == 1 else f"{page.address}#{anchor}"
            yield [page.title, "" if level == 1 else words, target, plain]
    if tag_file:
        yield from reference_entries(tag_file)


def reference_entries(tag_file):
    for compound in xml.parse(tag_file).getroot().findall("compound"):
        if compound.get("kind") not in ("class", "struct", "namespace", "file"):
            continue
        name, file = compound.findtext("name"), compound.findtext("filename")
        file = file if file.endswith(".html") else file + ".html"
        yield [name, "", f"reference/{file}", "reference"]
        known = set()
        for member in compound.findall("member"):
            if member.findtext("name") in known:  # another form of the same call
                continue
            known.add(member.findtext("name"))
            target = f"reference/{member.findtext('anchorfile')}#{member.findtext('anchor')}"
            yield [f"{name}::{member.findtext('name')}", "", target,
                   "reference " + (member.findtext("arglist") or "")]


def colors():
    """The colours of code on light and on dark paper."""
    light = HtmlFormatter(style="default").get_style_defs(".code")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".code")
    keep = re.compile(r"^\.code \.", re.MULTILINE)
    light, dark = ("\n".join(line for line in each.splitlines() if keep.match(line))
                   for each in (light, dark))
    return f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n"


def build(folder, tag_file=None):
    tree = tidy.tree(ROOT)
    paths = [name for name in tree if name.endswith(".md")]
    all_pages = [markdown.Page(path, (ROOT / path).read_text(encoding="utf-8"), ROOT)
                 for path in paths]
    titles = {page.path: page.title for page in all_pages}
    groups = navigation.groups(paths)

    def menu_of(address):
        return menu(groups, titles, address)

    for page in all_pages:
        write(folder, page.address, page.title, page.body, menu_of, contents(page))
    left = sorted(set().union(*(page.sources for page in all_pages)))
    written = set()
    while left:
        path = left.pop()
        if path not in written:
            written.add(path)
            left += write_source(folder, path, menu_of)
    copied = [(ROOT / name, name) for name in tree if name.endswith((".svg", ".png"))]
    for source, name in copied + [(HERE / asset, asset) for asset in ASSETS]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, folder / name)
    with (folder / "style.css").open("a", encoding="utf-8") as style:
        style.write(colors())
    entries = json.dumps(list(search_entries(all_pages, tag_file)), ensure_ascii=False)
    (folder / "search-index.js").write_text(f"const searchIndex = {entries};\n", encoding="utf-8")
    return len(all_pages), len(written)


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__.strip())
    print("%d pages, %d files" % build(Path(sys.argv[1]), *sys.argv[2:]))
