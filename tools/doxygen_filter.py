"""Makes a public header readable for Doxygen, which reads comments that begin with `///` or `/**`.

    doxygen_filter.py HEADER

- A comment above a declaration documents it, and the other forms of the same call right below it.
- A comment at the end of a line documents what is on that line.
- A comment below a `// --- heading` that stands alone is about each declaration of that section.
- Indented lines of a comment are code or a table, which stays as it is.
"""

import re
import sys
from pathlib import Path

COMMENT = re.compile(r"^(\s*)//(?!/)\s?(.*)$")
TRAILING = re.compile(r"^(?P<code>[^\"]*[^\s\"])\s+// (?P<text>.*)$")
DECLARED = re.compile(r"([~\w]+)\s*\(")
NOT_FOR_READERS = ("NOLINT", "---")


def escaped(text):
    """The words as they are: Doxygen would take some characters for commands, tags or links."""
    return re.sub(r"([\\@<>#$&%]|::)", r"\\\1", text)


def doc_lines(comment):
    """The lines of a comment, in the form that Doxygen reads."""
    indent = comment[0][0]
    lines, is_code = [], False
    for _, text in comment:
        begins_code = text.startswith("  ") and not text.lstrip().startswith("- ")
        if text.strip() and begins_code != is_code:
            lines.append("@code{.cpp}" if begins_code else "@endcode")
            is_code = begins_code
        lines.append(text if is_code else escaped(text))
    if is_code:
        lines.append("@endcode")
    return [f"{indent}/// {line}".rstrip() for line in lines]


def is_form_of(name, documented):
    """acquire_until() is a form of acquire_for(), which has the comment."""
    return bool(name) and name.rpartition("_")[0] == documented.rpartition("_")[0] and \
        (name == documented or "_" in name)


class Filter:
    def __init__(self):
        self.output = []
        self.comment = []  # not printed yet
        self.section = None  # what is said of a whole section; None before the first heading
        self.doc = None  # the newest documentation, and the name of what it documents
        self.is_inside = False  # a declaration has begun on an earlier line

    def take(self, line):
        comment = COMMENT.match(line)
        if comment and not comment[2].startswith(NOT_FOR_READERS):
            self.comment.append((comment[1], comment[2]))
        elif comment or not line.strip():
            if comment:
                self.section = []
            elif self.comment and self.section is not None:
                self.section += [*self.comment, (self.comment[0][0], "")]
            # Otherwise it is the head of a file, which documents nothing.
            self.comment, self.doc = [], None
            self.output.append(line)
        else:
            self.take_code(line)

    def take_code(self, line):
        if not self.is_inside or self.comment:
            self.document(line)
        trailing = TRAILING.match(line)
        code = trailing["code"] if trailing else line
        if trailing and not trailing["text"].startswith(NOT_FOR_READERS):
            line = f"{code}  ///< {escaped(trailing['text'])}"
        self.output.append(line)
        self.is_inside = not code.rstrip().endswith((";", "{", "}", ",", ":")) or \
            (self.is_inside and code.rstrip().endswith(",")) or code.count("(") > code.count(")")

    def document(self, line):
        declared = DECLARED.search(line)
        name = declared[1] if declared else ""
        if self.comment:
            about_all = [(self.comment[0][0], ""), *self.section] if self.section else []
            self.doc = (doc_lines([*self.comment, *about_all]), name)
            self.comment = []
            self.output += self.doc[0]
        elif self.doc and is_form_of(name, self.doc[1]):
            self.output += self.doc[0]
        else:
            self.doc = None


def filtered(lines):
    one = Filter()
    for line in lines:
        one.take(line)
    return one.output


def filtered_c(lines):
    """The same for C, whose comments are /* these */."""
    output, is_inside = [], False
    for line in lines:
        opens, closes = line.find("/*"), line.find("*/")
        if line.startswith("/* ---"):
            output.append("")
        elif is_inside or opens >= 0:
            begin = 0 if is_inside else opens
            code, comment = line[:begin], line[begin:]
            mark = "/**" if not code.strip() else "/**<"
            rest = re.sub(r"^/\*", "", comment)
            output.append(code + (mark if rest != comment else "") + escaped(rest))
            is_inside = closes < opens if opens >= 0 else closes < 0
        else:
            output.append(line)
    return output


if __name__ == "__main__":
    text = Path(sys.argv[1]).read_text(encoding="utf-8")
    # What this library adds to std is not for readers, and Doxygen cannot place it.
    text = re.sub(r"^template <>\nstruct std::.*?\};$", "", text, flags=re.DOTALL | re.MULTILINE)
    read = filtered_c if sys.argv[1].endswith(".h") else filtered
    print("\n".join(read(text.splitlines())))
