"""Tests of doxygen_filter.py, and of the reference that is made with it.

    doxygen_filter_test.py [DOXYGEN]
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from doxygen_filter import filtered, filtered_c  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
DOXYGEN = sys.argv.pop(1) if len(sys.argv) > 1 else None


class FilterTest(unittest.TestCase):
    def check(self, before, after):
        self.assertEqual(filtered(before.splitlines()), after.splitlines())

    def test_a_comment_documents_all_forms_of_a_call_and_nothing_else(self):
        self.check("// Waits.\nint wait_for(int time,\n             int ec);\nint wait_until();\n"
                   "int other();\n",
                   "/// Waits.\nint wait_for(int time,\n             int ec);\n/// Waits.\n"
                   "int wait_until();\nint other();\n")
        self.check("// One.\nint one();\n\nint one(int);\n",
                   "/// One.\nint one();\n\nint one(int);\n")
        self.check("// Ends.\n~Node();\nNode(Node&&);\n", "/// Ends.\n~Node();\nNode(Node&&);\n")

    def test_the_head_of_a_file_documents_nothing(self):
        self.check("// About the file.\n\nint one();\n", "\nint one();\n")

    def test_what_is_said_of_a_section_is_said_of_each_of_its_declarations(self):
        self.check("// --- several\n\n// Of all.\n\n// One.\nint one();\n",
                   "// --- several\n\n\n/// One.\n///\n/// Of all.\n///\nint one();\n")

    def test_a_comment_behind_code_documents_its_line(self):
        self.check("    fifo,  // in order\n    url = \"a // b\",\n    odd,  // NOLINT(x)\n",
                   "    fifo,  ///< in order\n    url = \"a // b\",\n    odd,  // NOLINT(x)\n")

    def test_code_stays_and_words_are_no_commands(self):
        self.check("// A vector<int> of 1 % @home:\n//\n//   a::b(c<d>);\n//\n// - a::b\nint x;\n",
                   "/// A vector\\<int\\> of 1 \\% \\@home:\n///\n/// @code{.cpp}\n"
                   "///   a::b(c<d>);\n///\n/// @endcode\n/// - a\\::b\nint x;\n")

    def test_comments_of_c(self):
        self.assertEqual(filtered_c(["/* Of a\n", " * node<>. */", "int x; /* one */", "int y;"]),
                         ["/** Of a\n", " * node\\<\\>. */", "int x; /**< one */", "int y;"])


class ReferenceTest(unittest.TestCase):
    def test_it_is_made_without_a_complaint_and_knows_the_calls(self):
        with tempfile.TemporaryDirectory() as folder:
            settings = (ROOT / "docs/Doxyfile").read_text() + f"\nOUTPUT_DIRECTORY = {folder}\n"
            made = subprocess.run([DOXYGEN, "-"], cwd=ROOT, input=settings, text=True, check=False,
                                  capture_output=True, env={**os.environ, "LC_ALL": "C"})
            self.assertEqual((made.returncode, made.stderr), (0, ""))
            page = (Path(folder) / "reference/classmortise_1_1Node.html").read_text()
            self.assertIn("Like <a", page)
            self.assertGreater(page.count("but empty when the time ends first"), 6)


if __name__ == "__main__":
    unittest.main(verbosity=2, defaultTest=["FilterTest"] + (["ReferenceTest"] if DOXYGEN else []))
