#!/usr/bin/env python3
"""The recipes for vcpkg and Conan, without these programs: recipes_test.py TREE.

It checks the rules of vcpkg.json that its schema has, and runs the recipe for Conan with stand-ins
for Conan's own modules. It cannot find out whether the packages of other registries build.
"""

import json
import re
import sys
import types
import unittest
from pathlib import Path

TREE = Path(sys.argv.pop(1)).resolve()
PORT = TREE / "packaging" / "vcpkg" / "mortise"
sys.path.insert(0, str(TREE / "tools"))

import version as versions  # noqa: E402

# https://github.com/microsoft/vcpkg-tool, docs/vcpkg.schema.json
IDENTIFIER = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
TOP = {"name", "version", "version-semver", "version-date", "version-string", "port-version",
       "maintainers", "summary", "description", "homepage", "documentation", "license",
       "builtin-baseline", "supports", "dependencies", "default-features", "features", "overrides"}
DEPENDENCY = {"name", "default-features", "features", "host", "platform", "version>="}


def of_the_project():
    return versions.header_numbers(versions.read(versions.HEADER))


class Vcpkg(unittest.TestCase):
    def setUp(self):
        self.manifest = json.loads((PORT / "vcpkg.json").read_text(encoding="utf-8"))
        self.port = (PORT / "portfile.cmake").read_text(encoding="utf-8")

    def test_it_has_the_form_of_a_manifest(self):
        self.assertEqual(set(self.manifest) - TOP, set())
        self.assertEqual(self.manifest["name"], PORT.name)
        self.assertTrue(IDENTIFIER.fullmatch(self.manifest["name"]))
        for feature, about in self.manifest["features"].items():
            self.assertTrue(IDENTIFIER.fullmatch(feature))
            self.assertEqual(set(about) - {"description", "dependencies", "supports"}, set())
            self.assertTrue(about["description"])
        for each in self.dependencies():
            one = {"name": each} if isinstance(each, str) else each
            self.assertEqual(set(one) - DEPENDENCY, set())
            self.assertTrue(IDENTIFIER.fullmatch(one["name"]), one)

    def dependencies(self):
        return [*self.manifest["dependencies"],
                *(each for about in self.manifest["features"].values()
                  for each in about["dependencies"])]

    def test_the_version_is_that_of_the_project(self):
        self.assertEqual(self.manifest["version"], of_the_project())

    def test_each_dependency_is_one_of_the_build(self):
        """And none is missing: the packages that CMake looks for, and a header without one."""
        named = {each if isinstance(each, str) else each["name"] for each in self.dependencies()}
        wanted = {"Asio": "asio", "CapnProto": "capnproto", "OpenSSL": "openssl",
                  "RocksDB": "rocksdb", "spdlog": "spdlog", "tomlplusplus": "tomlplusplus",
                  "CLI11": "cli11", "nlohmann_json": "nlohmann-json"}
        looked_for = set()
        for name in ("CMakeLists.txt", "embed/json_form/CMakeLists.txt", "tools/CMakeLists.txt"):
            looked_for |= set(re.findall(r"^ *find_package\((\w+)",
                                         (TREE / name).read_text(encoding="utf-8"), re.MULTILINE))
        looked_for -= {"Threads", "GTest", "Python3"}
        self.assertEqual(looked_for - set(wanted), set(), "another package than in this table")
        self.assertEqual(named - {"vcpkg-cmake", "vcpkg-cmake-config"},
                         {wanted[name] for name in looked_for} | {"xxhash"})

    def test_its_options_are_options_of_the_build(self):
        build = (TREE / "CMakeLists.txt").read_text(encoding="utf-8")
        for option in set(re.findall(r"MORTISE_\w+", self.port)):
            self.assertIn(f"option({option}", build)
        self.assertEqual(self.port.count("("), self.port.count(")"))


class Recorder(types.ModuleType):
    """A module in which everything that is asked for does nothing."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (Exception,), {"__init__": lambda self, *_, **__: None,
                                         "__getattr__": lambda self, _: lambda *_, **__: None})


class Conan(unittest.TestCase):
    def setUp(self):
        for name in ("conan", "conan.errors", "conan.tools", "conan.tools.build",
                     "conan.tools.cmake", "conan.tools.files"):
            sys.modules[name] = Recorder(name)
        sys.modules["conan"].ConanFile = type("ConanFile", (), {})
        sys.modules["conan.tools.files"].load = lambda _, path: Path(path).read_text("utf-8")
        self.copied = []
        sys.modules["conan.tools.files"].copy = lambda _, name, src, dst: self.copied.append(
            (name, Path(src)))
        path = TREE / "packaging" / "conan" / "conanfile.py"
        content = {"__name__": "conanfile"}
        exec(compile(path.read_text(encoding="utf-8"), path, "exec"), content)
        self.recipe = content["MortiseConan"]()
        self.recipe.recipe_folder = str(path.parent)
        self.recipe.export_sources_folder = "elsewhere"

    def test_it_has_what_a_recipe_has(self):
        for name in ("name", "description", "license", "topics", "settings", "options",
                     "default_options", "package_type"):
            self.assertTrue(getattr(self.recipe, name), name)
        self.assertEqual(set(self.recipe.options), set(self.recipe.default_options))
        for name in ("export_sources", "layout", "requirements", "validate", "generate", "build",
                     "package", "package_info"):
            self.assertTrue(callable(getattr(self.recipe, name)), name)

    def test_the_version_is_that_of_the_project(self):
        self.recipe.set_version()
        self.assertEqual(self.recipe.version, of_the_project())

    def test_it_takes_every_folder_that_the_build_reads(self):
        self.recipe.export_sources()
        taken = {name.split("/")[0] for name, _ in self.copied}
        build = (TREE / "CMakeLists.txt").read_text(encoding="utf-8")
        read = {name.split("/")[0] for name in re.findall(r"add_subdirectory\(([\w/]+)\)", build)}
        self.assertEqual(read - taken, {"bench", "examples", "tests"})
        for name, source in self.copied:
            self.assertTrue((source / name.rstrip("/*")).exists(), name)

    def test_requirements_are_those_of_the_port(self):
        manifest = json.loads((PORT / "vcpkg.json").read_text(encoding="utf-8"))
        port = {(each if isinstance(each, str) else each["name"]).replace("-", "_")
                for each in manifest["dependencies"]}
        required = []
        self.recipe.options = types.SimpleNamespace(tools=False)
        self.recipe.requires = lambda reference, **_: required.append(reference.split("/")[0])
        self.recipe.requirements()
        self.assertEqual(set(required), port - {"vcpkg_cmake", "vcpkg_cmake_config"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
