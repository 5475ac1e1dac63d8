"""A Markdown page as HTML: headings with anchors, links within the site, highlighted code."""

import html
import os
import re
import sys
from pathlib import Path

from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name, guess_lexer_for_filename
from pygments.util import ClassNotFound

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import tidy  # noqa: E402

LEXERS = {"text": None, "capnp": None}
FORMATTER = HtmlFormatter(nowrap=True)


def address(path):
    """Where a Markdown page of the tree is in the site."""
    folder, name = os.path.split(path)
    stem = "index" if name == "README.md" else name.removesuffix(".md")
    return os.path.join(folder, stem + ".html")


def source_address(path):
    """Where a file or a folder of the tree is in the site that is no page."""
    return f"source/{path}.html"


def place(root, path):
    """The address of a file or folder of the tree; and whether that is a page of its source."""
    if (root / path / "README.md").is_file():
        path = os.path.normpath(os.path.join(path, "README.md"))
    if path.endswith(".md"):
        return address(path), False
    if path.endswith((".svg", ".png")):
        return path, False
    return source_address(path), True


def relative(target, page):
    """A link from one address of the site to another."""
    return os.path.relpath(target, os.path.dirname(page) or ".")


def colored(code, lexer):
    return highlight(code, lexer, FORMATTER) if lexer else html.escape(code)


def code_block(code, language):
    try:
        lexer = None if language in LEXERS else get_lexer_by_name(language)
    except ClassNotFound:
        lexer = None
    return f'<pre class="code"><code>{colored(code, lexer)}</code></pre>\n'


def source_page(path, text):
    """A file of the tree, with an anchor for each line."""
    try:
        lexer = guess_lexer_for_filename(path, text, stripnl=False)
    except ClassNotFound:
        lexer = None
    lines = colored(text, lexer).rstrip("\n").split("\n")
    numbered = "\n".join(f'<span id="L{number}" class="line">{line}</span>'
                         for number, line in enumerate(lines, 1))
    return f'<h1>{html.escape(path)}</h1>\n<pre class="code lines"><code>{numbered}</code></pre>\n'


class Page:
    """The body of a page, its title, and its sections with their text, for the search."""

    def __init__(self, path, text, root):
        self.path = path
        self.address = address(path)
        self.root = root
        self.sources = set()  # the files and folders of the tree that it links to
        self.title = path
        self.sections = []  # [anchor, heading, level, text]
        self.used = {}
        markdown = MarkdownIt("commonmark", {"html": True}).enable("table")
        tokens = markdown.parse(text)
        for number, token in enumerate(tokens):
            if token.type == "heading_open":
                self.heading(token, tokens[number + 1])
            elif token.type == "inline":
                self.inline(token, is_heading=tokens[number - 1].type == "heading_open")
            elif token.type in ("fence", "code_block"):
                self.note(token.content)
        for kind in ("fence", "code_block"):
            markdown.add_render_rule(kind, lambda _, tokens, at, *more: code_block(
                tokens[at].content, tokens[at].info.split(" ")[0] or "text"))
        markdown.add_render_rule("table_open", lambda *_: '<div class="table"><table>\n')
        markdown.add_render_rule("table_close", lambda *_: "</table></div>\n")
        self.body = markdown.renderer.render(tokens, markdown.options, {})

    def heading(self, token, inline):
        """As tidy.anchors() makes the anchors; an inline token has the source of its text."""
        name = tidy.slug(inline.content)
        self.used[name] = self.used.get(name, -1) + 1
        if self.used[name]:
            name = f"{name}-{self.used[name]}"
            self.used[name] = 0
        token.attrSet("id", name)
        words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", inline.content).replace("`", "")
        level = int(token.tag[1])
        if level == 1:
            self.title = words
        self.sections.append([name, words, level, []])

    def inline(self, token, is_heading):
        for child in token.children:
            for attribute in ("href", "src"):
                if child.attrGet(attribute):
                    child.attrSet(attribute, self.link(child.attrGet(attribute)))
        if not is_heading:
            self.note("".join(child.content if child.type in ("text", "code_inline") else " "
                              for child in token.children))

    def note(self, text):
        if self.sections:
            self.sections[-1][3].append(text)

    def link(self, target):
        if re.match(r"[a-z][a-z0-9+.-]*:|#", target, re.IGNORECASE):
            return target
        file, _, anchor = target.partition("#")
        if file.endswith(".html"):  # the reference, which is beside the pages
            return target
        path = os.path.normpath(os.path.join(os.path.dirname(self.path), file))
        target, is_source = place(self.root, path)
        if is_source:
            self.sources.add(path)
        return relative(target, self.address) + (f"#{anchor}" if anchor else "")
