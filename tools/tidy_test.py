#!/usr/bin/env python3
"""Plants each violation that tidy.py detects, and checks that it is reported; and that a similar
valid line is not."""

import subprocess
import tempfile
import unittest
from pathlib import Path

import tidy


class Tidy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def plant(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def finds(self, name, text, *expected):
        """Exactly the expected complaints, each given as `line: part of the text`."""
        self.plant(name, text)
        found = list(tidy.check(self.root))
        self.assertEqual(len(found), len(expected), found)
        for complaint, part in zip(found, expected):
            line, words = part.split(": ", 1)
            self.assertTrue(complaint.startswith(f"{name}:{line}: "), complaint)
            self.assertIn(words, complaint)


class Includes(Tidy):
    def test_each_folder_may_include_what_the_table_says(self):
        for folder, uses in tidy.USES.items():
            for target in sorted(tidy.WATCHED if uses is None else uses):
                with self.subTest(folder=folder, target=target):
                    header = "xxhash.h" if target == "xxhash" else f"{target}/any.hpp"
                    self.finds(f"{folder}/x.cpp", f"#include <{header}>\n")
            (self.root / folder / "x.cpp").unlink(missing_ok=True)

    def test_each_folder_must_not_include_the_rest(self):
        for folder, uses in tidy.USES.items():
            for target in sorted(set() if uses is None else tidy.WATCHED - uses):
                with self.subTest(folder=folder, target=target):
                    text = f'// a line above\n#include "{target}/any.hpp"\n'
                    self.finds(f"{folder}/x.cpp", text, f"2: must not include {target}")
            (self.root / folder / "x.cpp").unlink(missing_ok=True)

    def test_single_headers_count_as_their_library(self):
        self.finds("embed/x.cpp", "#include <httplib.h>\n", "1: must not include httplib")
        self.finds("embed/x.cpp", "# include <asio.hpp>\n#include <spdlog/spdlog.h>\n")

    def test_public_headers_see_only_what_a_user_has(self):
        self.finds("embed/include/mortise/node.hpp",
                   '#pragma once\n#include "core/base/ids.hpp"\n', "2: must not include core")

    def test_a_file_beside_the_file_is_no_library(self):
        self.finds("core/base/x.cpp", '#include "benchmark.hpp"\n')

    def test_a_folder_inside_another_includes_itself_and_not_the_other(self):
        self.finds("embed/capi/x.cpp", '#include "embed/capi/y.hpp"\n')
        self.finds("embed/capi/x.cpp", '#include "embed/holds/y.hpp"\n',
                   "1: embed/capi must not include embed")

    def test_a_folder_inside_another_may_include_less(self):
        text = "#include <rocksdb/db.h>\n"
        for folder in ("storage/base", "storage/files"):
            self.finds(f"{folder}/x.cpp", text, f"1: {folder} must not include rocksdb")
            (self.root / folder / "x.cpp").unlink()
        self.finds("storage/rocks/x.cpp", text)

    def test_a_folder_inside_another_is_included_by_those_that_name_it(self):
        for folder in ("embed/json_form", "embed/console", "embed/capi", "tools/mortise"):
            self.finds(f"{folder}/x.cpp", '#include "embed/json_form/y.hpp"\n')
            self.finds(f"{folder}/x.cpp", '#include "embed/holds/y.hpp"\n',
                       "1: must not include embed")
            (self.root / folder / "x.cpp").unlink()
        self.finds("embed/api/x.cpp", '#include "embed/json_form/y.hpp"\n',
                   "1: embed must not include embed/json_form")

    def test_climbing_out_of_the_folder(self):
        self.finds("core/base/x.cpp", '#include "../../storage/y.hpp"\n', "1: from the top folder")

    def test_a_folder_outside_the_table(self):
        self.finds("misc/x.cpp", "int x;\n", "1: not in the table")
        (self.root / "misc/x.cpp").unlink(missing_ok=True)
        self.finds("x.cpp", "int x;\n", "1: not in the table")


class Purity(Tidy):
    def test_impure_headers_in_core(self):
        for header in sorted(tidy.IMPURE):
            with self.subTest(header=header):
                self.finds("core/x.cpp", f"#include <{header}>\n", "1: core is pure")

    def test_the_same_headers_elsewhere(self):
        for header in sorted(tidy.IMPURE):
            self.finds("embed/x.cpp", f"#include <{header}>\n")

    def test_system_headers_in_core(self):
        self.finds("core/x.cpp", "#include <unistd.h>\n", "1: no <unistd.h>")
        self.finds("core/x.cpp", "#include <sys/random.h>\n", "1: no <sys/random.h>")
        self.finds("core/x.cpp", "#include <boost/any.hpp>\n", "1: no <boost/any.hpp>")

    def test_standard_headers_in_core(self):
        self.finds("core/x.cpp", "#include <chrono>\n#include <vector>\n#include <xxhash.h>\n")

    def test_reading_a_clock_in_core(self):
        text = "auto t = std::chrono::steady_clock::now();\n"
        self.finds("core/x.cpp", text, "1: time is handed in")
        (self.root / "core/x.cpp").unlink(missing_ok=True)
        self.finds("embed/x.cpp", text)

    def test_unordered_containers_where_order_is_the_answer(self):
        text = "#include <unordered_map>\nstd::unordered_set<int> x;\n"
        for name in ("core/locks/x.cpp", "core/raft/x.cpp"):
            self.finds(name, text, "1: iteration order", "2: iteration order")
            (self.root / name).unlink(missing_ok=True)
        self.finds("core/agent/x.cpp", text)

    def test_a_comment_may_speak_of_them(self):
        self.finds("core/locks/x.cpp", "int x;  // not std::unordered_map, not a_clock::now()\n")


class Subfolders(Tidy):
    def test_each_subfolder_includes_itself_and_those_before_it(self):
        for folder, names in tidy.SUBFOLDERS.items():
            for place, inner in enumerate(names):
                text = "".join(f'#include "{folder}/{other}/y.hpp"\n'
                               for other in names[:place + 1])
                with self.subTest(folder=folder, inner=inner):
                    self.finds(f"{folder}/{inner}/x.cpp", text)
                (self.root / f"{folder}/{inner}/x.cpp").unlink()

    def test_no_subfolder_includes_those_behind_it(self):
        for folder, names in tidy.SUBFOLDERS.items():
            for place, inner in enumerate(names):
                for later in names[place + 1:]:
                    with self.subTest(folder=folder, inner=inner, later=later):
                        self.finds(f"{folder}/{inner}/x.cpp",
                                   f'\n#include "{folder}/{later}/y.hpp"\n',
                                   f"2: {folder}/{inner} comes before {folder}/{later}")
                (self.root / f"{folder}/{inner}/x.cpp").unlink(missing_ok=True)

    def test_a_test_may_use_every_subfolder_of_its_folder(self):
        self.finds("tests/sim/base/x_test.cpp", '#include "tests/sim/run/y.hpp"\n')

    def test_what_lies_in_the_folder_itself_is_in_no_subfolder(self):
        self.finds("transport/x.hpp", '#pragma once\n#include "transport/network/y.hpp"\n')

    def test_values_go_everywhere(self):
        for value in sorted(tidy.CORE_VALUES):
            self.finds("core/base/x.cpp", f'#include "{value}"\n')

    def test_a_new_subfolder_is_put_in_its_place_first(self):
        for folder in tidy.SUBFOLDERS:
            with self.subTest(folder=folder):
                self.finds(f"{folder}/somewhere/x.cpp", "int x;\n", "1: not in the table")
            (self.root / f"{folder}/somewhere/x.cpp").unlink(missing_ok=True)


class Rules(Tidy):
    def cite(self, number):
        return f"// As {'S'}{number} says.\n"

    def test_a_rule_that_is_not_listed(self):
        self.plant("docs/rules.md", "# Rules\n\n| # | rule |\n| --- | --- |\n| S12 | one |\n")
        self.finds("core/x.cpp", "int x;\n" + self.cite(13), "2: S" + "13 is not in docs/rules.md")
        self.finds("core/x.cpp", self.cite(12))

    def test_without_the_page_none_is_listed(self):
        self.finds("core/x.cpp", self.cite(12), "1: S12 is not in")

    def test_a_fault_of_others_that_is_not_listed(self):
        bug = "B" + "-S"  # apart, so that this file cites nothing
        self.plant("docs/bugs_of_others.md", f"# Bugs\n\n| # |\n| --- |\n| {bug}12 |\n")
        self.finds("core/x.cpp", f"// ({bug}12)\nint x;  // {bug}13\n",
                   f"2: {bug}13 is not in docs/bugs_of_others.md")

    def test_what_looks_like_one(self):
        self.finds("tools/x.cpp", 'auto a = "P' + '50"; int S100 = 1, XS1, S0; // SS1\n')


class Lines(Tidy):
    def test_long_lines_in_code(self):
        for name in ("core/x.cpp", "tools/x.py", "core/CMakeLists.txt", "cmake/x.cmake", "dev"):
            with self.subTest(name=name):
                self.finds(name, "\n" + "x" * 101 + "\n", "2: longer than 100")
                self.finds(name, "x" * 100 + "\n")

    def test_columns_are_characters(self):
        self.finds("core/x.cpp", "//" + "ü" * 98 + "\n")

    def test_pages_may_have_long_lines(self):
        self.finds("x.md", "# Title\n\n" + "x" * 200 + "\n")

    def test_unfinished_work(self):
        for name in ("core/x.cpp", "core/CMakeLists.txt", "tools/x.py", "dev"):
            with self.subTest(name=name):
                self.finds(name, f"# {tidy.UNFINISHED}\n", f"1: {tidy.UNFINISHED}")
                (self.root / name).unlink(missing_ok=True)
        self.finds("x.md", f"# T\n{tidy.UNFINISHED}\n", f"2: {tidy.UNFINISHED}")

    def test_headers_are_included_once(self):
        self.finds("core/x.hpp", "// Words.\nint x;\n", "1: #pragma once")
        self.finds("core/x.hpp", "// Words.\n#pragma once\nint x;\n")


class Pages(Tidy):
    def test_one_title(self):
        self.finds("x.md", "no title\n", "1: one title, not 0")
        self.finds("x.md", "# One\n\n# Two\n", "1: one title, not 2")
        self.finds("x.md", "# One\n\n## Part\n\n```sh\n# a comment\n```\n")
        self.finds("x.md", "# One\n~~~\n```\n# x\n~~~\n````\n```\n# x\n````\n")

    def test_dead_links(self):
        self.finds("docs/x.md", "# T\n[a](gone.md)\n", "2: leads nowhere: gone.md")
        self.finds("docs/x.md", "# T\n[a](/docs/x.md)\n", "2: leads nowhere")
        self.finds("docs/x.md", "# T\n[a](../../etc/passwd)\n", "2: leads nowhere")
        self.finds("docs/x.md", "# T\n![a](gone.svg#x) [b](x.md)\n", "2: gone.svg")
        self.finds("docs/x.md", "# T\n[a][b]\n\n[b]: gone.md\n", "4: gone.md")

    def test_live_links_and_what_is_none(self):
        self.plant("README.md", "# R\n")
        self.finds("docs/x.md", "# T\n[a](../README.md#r) [b](../docs) [c](#t) "
                   "[d](https://example.org/x) [e](mailto:a@example.org)\n"
                   "`[f](gone.md)`\n```\n[g](gone.md)\n```\n")

    def test_headings_that_links_name(self):
        self.plant("docs/y.md", "# What `a` is, [really](z)\n## Why?\n## Why?\n```\n# Code\n```\n")
        self.plant("docs/z", "")
        self.finds("docs/x.md", "# T\n[a](y.md#what-a-is-really) [b](y.md#why) [c](y.md#why-1)\n")
        self.finds("docs/x.md", "# T\n[a](y.md#why-2)\n", "2: no such heading: y.md#why-2")
        self.finds("docs/x.md", "# T\n[a](y.md#code)\n", "2: no such heading")
        self.finds("docs/x.md", "# T\n[a](#tee)\n", "2: no such heading: #tee")

    def test_an_example_is_the_file_it_names(self):
        page = "# R\n\n<!-- from: examples/1.cpp -->\n\n```cpp\nint x;\n\nint y;\n```\n"
        self.plant("examples/1.cpp", "int x;\n\nint y;\n")
        self.finds("README.md", page)
        self.plant("examples/1.cpp", "int x;\nint y;\n")
        self.finds("README.md", page, "3: differs from examples/1.cpp")
        (self.root / "examples/1.cpp").unlink(missing_ok=True)
        self.finds("README.md", page, "3: does not exist")
        self.finds("README.md", "# R\n<!-- from: a -->\nwords\n", "2: no fenced block")


class Evidence(Tidy):
    page = "docs/evidence.md"

    def test_a_test_that_is_not_there(self):
        self.plant("tests/unit/x_test.cpp", "TEST(Door, Opens) {\n}\n")
        self.finds(self.page, "# Page\n\n`Door.Opens`, `Door.Closes`\n", "3: no test Door.Closes")

    def test_tests_of_every_kind_and_what_is_none(self):
        self.plant("tests/unit/x_test.cpp",
                   "TEST_F(Door, Opens) {\n}\nTYPED_TEST(Door, Closes) {\n}\n"
                   "TEST(Door,\n     OpensAgain) {\n}\n")
        self.finds(self.page, "# Page\n\n`Door.Opens` `Door.Closes` `Door.OpensAgain`\n"
                              "`Door`, `door.hpp`, `tests/Door.md`, Door.Slams\n")

    def test_other_pages_speak_of_what_they_like(self):
        self.finds("docs/page.md", "# Page\n\n`Door.Slams`\n")


class Killers(Tidy):
    page = "tests/mutants/table/core.toml"

    def setUp(self):
        super().setUp()
        self.plant("tests/unit/x_test.cpp", "TEST(Door, Opens) {\n}\n")

    def test_one_that_is_not_there(self):
        self.finds(self.page, '[m]\nkilled_by = "door_unit: Door.Closes"\n',
                   "2: no test Door.Closes")

    def test_those_with_parameters_and_types_and_whole_suites(self):
        for name in ("Door.Opens", "All/Door.Opens/3", "Door/OfWood.Opens"):
            self.finds(self.page, f'[m]\nkilled_by = "door_unit: {name}"\n')
        self.finds(self.page, '[m]\nkilled_by = "door_unit"\n')

    def test_those_in_python(self):
        self.plant("tests/http/x_test.py", "class Door(Case):\n    def test_it_opens(self):\n")
        self.finds(self.page, '[m]\nkilled_by = "http_x: Door.test_it_opens"\n')
        self.finds(self.page, '[m]\nkilled_by = "http_x: Door.test_it_closes"\n',
                   "2: no test Door.test_it_closes")


class Unbuilt(Tidy):
    def test_a_test_that_no_list_names(self):
        self.plant("tests/CMakeLists.txt", "add(unit/door_test.cpp gate_test)\n")
        self.finds("tests/unit/door_test.cpp", "")
        self.finds("tests/unit/gate_test.cpp", "")
        self.finds("tests/unit/window_test.cpp", "", "1: no CMakeLists.txt names this test")


class Tree(Tidy):
    def test_without_version_control_all_but_the_build_folder(self):
        self.plant("core/x.cpp", "")
        self.plant("build/dev/x.cpp", "")
        self.assertEqual(tidy.tree(self.root), ["core/x.cpp"])

    def test_with_version_control_tracked_and_new_files_but_not_ignored_ones(self):
        def git(*arguments):
            subprocess.run(["git", "-C", str(self.root), *arguments], check=True,
                           capture_output=True)
        git("init", "-q")
        for name in ("a.cpp", "deleted.cpp", "new file.cpp", "out/ignored.cpp"):
            self.plant(name, "")
        self.plant(".gitignore", "/out/\n")
        git("add", "a.cpp", "deleted.cpp")
        (self.root / "deleted.cpp").unlink(missing_ok=True)
        self.assertEqual(tidy.tree(self.root), [".gitignore", "a.cpp", "new file.cpp"])


if __name__ == "__main__":
    unittest.main()
