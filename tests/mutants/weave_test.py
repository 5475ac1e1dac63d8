#!/usr/bin/env python3
"""What weave.py makes of a table and a source, and that it accepts nothing that is wrong."""

import contextlib
import io
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import run
import weave
from mutant_table import TableError

SOURCE = """int f(int a, int b) {
    // a comment
    if (a > 0 && b > 0) return a + b;
    ++b;
    return b;
}
"""


def section(name, right, wrong, file="core/f.cpp", more=""):
    return (f"[{name}]\nwhat = 'It is wrong.'\nfile = '{file}'\n"
            f"right = '''{right}'''\nwrong = '''{wrong}'''\n{more}\n")


def at_work(name):
    return f'::mortise::mutants::at_work("{name}")'


class Weave(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.plant("core/f.cpp", SOURCE)

    def plant(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def table(self, *sections, file="one"):
        self.plant(f"tests/mutants/table/{file}.toml", "\n".join(sections))

    def woven(self, *sections):
        self.table(*sections)
        woven, _ = weave.weave(self.root)
        return woven["core/f.cpp"].removeprefix(weave.HEADER)

    def refuses(self, *parts):
        """One complaint that has all the parts."""
        with self.assertRaises(TableError) as raised:
            weave.weave(self.root)
        complaint = str(raised.exception)
        self.assertEqual(len(complaint.splitlines()), 1, complaint)
        for part in parts:
            self.assertIn(part, complaint)


class Forms(Weave):
    def test_an_expression_becomes_a_choice(self):
        woven = self.woven(section("m", "return «a + b»;", "a"))
        self.assertEqual(woven, SOURCE.replace("a + b", f"({at_work('m')} ? (a) : (a + b))"))

    def test_true_and_false_need_no_common_type(self):
        woven = self.woven(section("m", "if («a > 0» && b > 0)", "true"),
                           section("n", "if (a > 0 && «b > 0»)", "false"))
        self.assertIn(f"({at_work('m')} || (a > 0)) && (!{at_work('n')} && (b > 0))", woven)

    def test_a_statement_becomes_a_branch(self):
        woven = self.woven(section("m", "++b;", "--b;"))
        self.assertIn(f"{{ if ({at_work('m')}) {{ --b; }} else {{ ++b; }} }}\n", woven)

    def test_a_statement_is_left_out(self):
        self.assertIn(f"{{ if ({at_work('m')}) {{  }} else {{ ++b; }} }}",
                      self.woven(section("m", "++b;", "")))

    def test_a_statement_is_put_between(self):
        woven = self.woven(section("m", "«»return b;", "return 1;"))
        self.assertIn(f"    if ({at_work('m')}) {{ return 1; }} return b;\n", woven)
        woven = self.woven(section("m", "++b;«»", "return 1;"))
        self.assertIn(f"    ++b;if ({at_work('m')}) {{ return 1; }} \n", woven)

    def test_a_form_of_its_own_is_taken_as_it_is(self):
        also = "[[m.also]]\nright = 'int «b»'\nwoven = 'long b'\n"
        self.assertIn("f(int a, int long b) {", self.woven(section("m", "++b;", "", more=also)))

    def test_mutants_within_one_another_and_in_one_place(self):
        woven = self.woven(section("m", "if («a > 0 && b > 0»)", "false"),
                           section("n", "a > 0", "true"), section("o", "a > 0", "a >= 0"))
        inner = f"({at_work('n')} || (({at_work('o')} ? (a >= 0) : (a > 0))))"
        self.assertIn(f"if ((!{at_work('m')} && ({inner} && b > 0))) return", woven)

    def test_blanks_and_comments_do_not_count(self):
        woven = self.woven(section("m", "f(int a,int b) { if«(a>0\n&& b > 0)»", "(true)"))
        self.assertIn(f"if ({at_work('m')} ? ((true)) : ((a > 0 && b > 0))) return", woven)

    def test_words_are_whole(self):
        self.table(section("m", "b > 0) return a + «b»;", "1"), section("n", "«turn» b;", "1"))
        self.refuses("n: core/f.cpp has the fragment 0 times")

    def test_each_source_asks_for_the_header(self):
        self.table(section("m", "++b;", ""))
        woven, names = weave.weave(self.root)
        self.assertTrue(woven["core/f.cpp"].startswith('#include "tests/mutants/mutant.hpp"\n'))
        self.assertEqual(names, ["m"])


class Refusals(Weave):
    def test_no_match(self):
        self.table(section("m", "return c;", ""))
        self.refuses("m: core/f.cpp has the fragment 0 times, not once: return c;")

    def test_two_matches(self):
        self.table(section("m", "> 0", ">= 0"))
        self.refuses("m: core/f.cpp has the fragment 2 times, not once: > 0")

    def test_unknown_file(self):
        self.table(section("m", "++b;", "", file="core/g.cpp"))
        self.refuses("m: there is no file core/g.cpp")

    def test_a_name_twice_in_a_file(self):
        self.table(section("m", "++b;", ""), section("m", "return b;", "return 1;"))
        self.refuses("one.toml: ")

    def test_a_name_in_two_files(self):
        self.table(section("m", "++b;", ""))
        self.table(section("m", "return b;", "return 1;"), file="two")
        self.refuses("two.toml: m: another file of the table has it")

    def test_every_complaint_at_once(self):
        self.table(section("m", "return c;", ""), section("n", "> 0", ">= 0"))
        with self.assertRaises(TableError) as raised:
            weave.weave(self.root)
        self.assertEqual(len(str(raised.exception).splitlines()), 2)

    def test_marks_that_are_no_pair(self):
        for right in ("«++b;", "++b;»", "»++b;«", "«++»«b;»"):
            with self.subTest(right=right):
                self.table(section("m", right, ""))
                self.refuses("m: the marks are not one pair")

    def test_marks_that_overlap(self):
        self.table(section("m", "if («a > 0 && b» > 0)", "a"),
                   section("n", "if (a > 0 && «b > 0»)", "true"))
        self.refuses("m and n: their marks in core/f.cpp overlap")

    def test_an_insertion_within_a_statement(self):
        self.table(section("m", "b > 0)«»return", "++a;"))
        self.refuses("m: core/f.cpp: the marks are not between two statements")

    def test_a_statement_for_an_expression(self):
        self.table(section("m", "return «b»;", "return 1;"))
        self.refuses("m: of right and wrong one is a statement")

    def test_a_jump_without_its_semicolon(self):
        self.plant("core/f.cpp", "while (true) continue;\n")
        self.table(section("m", "while (true) «continue»;", "break"))
        self.refuses("m: a jump is a statement, with its semicolon")

    def test_the_head_of_a_statement(self):
        self.plant("core/f.cpp", "if (a)\n    ++b;\n")
        self.table(section("m", "«if (a)»", "if (false)"))
        self.refuses("m: the head of a statement is no expression")
        self.table(section("m", "«for (int i = 0; i != a; ++i)»", "for (int i = 1; i != a; ++i)"))
        self.plant("core/f.cpp", "for (int i = 0; i != a; ++i)\n    ++b;\n")
        self.refuses("m: the head of a statement is no expression")

    def test_a_list_in_braces(self):
        self.plant("core/f.cpp", "return {a, b};\n")
        self.table(section("m", "return «{a, b}»;", "{a}"))
        self.refuses("m: a list in braces is no expression")

    def test_a_declaration(self):
        for declared in ("const Guard guard{lock};", "auto guard = lock();",
                         "std::scoped_lock lock{mutex};"):
            self.plant("core/f.cpp", f"{declared}\n++b;\n")
            self.table(section("m", f"«{declared}»", ""))
            self.refuses("m: a declaration has no effect beyond its block")

    def test_sections_that_are_not_whole(self):
        whole = "what = 'W.'\nfile = 'core/f.cpp'\nright = '++b;'\nwrong = ''\n"
        for line in whole.splitlines():
            key = line.split()[0]
            with self.subTest(without=key):
                self.table("[m]\n" + whole.replace(line + "\n", ""))
                self.refuses("one.toml: m: ")
        self.table("[m]\n" + whole + "wrng = ''\n")
        self.refuses("m: unknown key wrng")
        self.table("[m]\n" + whole + "woven = ''\n")
        self.refuses("m: a place has either wrong or woven")

    def checked(self, *killers):
        """What `--check` says of mutants with these killers, and its exit code."""
        self.table(*(section(name, right, "", more=f"killed_by = '{killer}'")
                     for name, right, killer in zip("mn", ("++b;", "return b;"), killers)))
        with contextlib.redirect_stderr(io.StringIO()) as said, \
                contextlib.redirect_stdout(io.StringIO()):
            code = weave.main(["--check", str(self.root)])
        return code, said.getvalue()

    def test_each_names_the_test_that_kills_it(self):
        good = "core_unit: Door.Opens"
        self.assertEqual(self.checked(good, good), (0, ""))
        for other in ("core_unit", "core_unit: All/Door.Opens/3"):
            self.assertEqual(self.checked(other, good), (0, ""), other)
        for bad in ("", "core_unit: Door", "Door.Opens", "core_unit Door.Opens"):
            with self.subTest(bad):
                code, said = self.checked(good, bad)
                self.assertEqual(code, 1)
                self.assertIn("n: killed_by is not", said)
                self.assertEqual(len(said.splitlines()), 1)

    def test_the_program_says_so(self):
        self.table(section("m", "return c;", ""))
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(weave.main(["--check", str(self.root)]), 1)
        self.assertIn("m: core/f.cpp has the fragment 0 times", said.getvalue())


class Results(unittest.TestCase):
    def test_a_line_for_each_suite(self):
        killed = run.Verdict("m", "x", "b_unit: A.B", unit="b_unit: A.B")
        by_another = run.Verdict("n", "x", "b_unit: A.C", unit="c_unit: D.E")
        alive = run.Verdict("o", "x")
        self.assertEqual(run.results([killed, by_another, alive], "now").splitlines(),
                         ["# Mutants that the named test killed, now.",
                          f"{'b_unit':20}1 of 2", f"{'none named':20}0 of 1", f"{'all':20}1 of 3"])


class Writing(Weave):
    def write(self, *prefixes):
        weave.write_all(self.root, self.root / "woven", prefixes or ("",))

    def test_writes_only_what_changed(self):
        self.plant("core/g.cpp", SOURCE)
        self.table(section("m", "++b;", ""), section("n", "++b;", "", file="core/g.cpp"))
        self.write()
        before = list(self.root.glob("woven/**/*.*"))
        self.assertEqual(len(before), 3)
        for path in before:
            os.utime(path, (1, 1))
        self.table(section("m", "++b;", ""), section("n", "++b;", "--b;", file="core/g.cpp"))
        self.write()
        changed = [path.name for path in before if path.stat().st_mtime != 1]
        self.assertEqual(changed, ["g.cpp"])

    def test_takes_away_what_has_no_mutant_any_more(self):
        self.plant("core/g.cpp", SOURCE)
        self.table(section("m", "++b;", ""), section("n", "++b;", "", file="core/g.cpp"))
        self.write()
        self.table(section("m", "++b;", ""))
        self.write()
        self.assertEqual([path.name for path in self.root.glob("woven/**/*.cpp")], ["f.cpp"])

    def test_names_every_mutant_but_writes_the_files_asked_for(self):
        self.plant("storage/g.cpp", SOURCE)
        self.table(section("m", "++b;", ""), section("n", "++b;", "", file="storage/g.cpp"))
        self.write("storage/")
        self.assertEqual([path.name for path in self.root.glob("woven/**/*.cpp")], ["g.cpp"])
        names = (self.root / "woven/mutant_names.inc").read_text(encoding="utf-8")
        self.assertEqual(names, '"m",\n"n",\n')


if __name__ == "__main__":
    unittest.main()
