"""The recipe for Conan 2: conan create packaging/conan (from the top folder)."""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

FOLDERS = ("cmake", "core", "deploy", "embed", "packaging", "storage", "tools", "transport")


class MortiseConan(ConanFile):
    name = "mortise"
    description = "Embeddable distributed lock manager with a replicated log"
    license = "Apache-2.0"
    topics = ("lock", "distributed-systems", "raft")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "tools": [True, False]}
    default_options = {"shared": False, "tools": False}

    @property
    def _tree(self):
        return os.path.join(self.recipe_folder, os.pardir, os.pardir)

    def set_version(self):
        header = load(self, os.path.join(self._tree, "embed", "include", "mortise.h"))
        self.version = re.search(r'MORTISE_VERSION_STRING "([\d.]+)"', header)[1]

    def export_sources(self):
        for name in ("CMakeLists.txt", "LICENSE", *(f"{folder}/*" for folder in FOLDERS)):
            copy(self, name, src=self._tree, dst=self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires("asio/[>=1.22 <2]", transitive_headers=True)
        self.requires("capnproto/[>=0.9 <2]")
        self.requires("openssl/[>=3 <4]")
        self.requires("rocksdb/[>=7.8 <11]")
        self.requires("spdlog/[>=1.10 <2]")
        self.requires("tomlplusplus/[>=3.3 <4]")
        self.requires("xxhash/[>=0.8 <1]")
        if self.options.tools:
            self.requires("cli11/[>=2.3 <3]")
            self.requires("nlohmann_json/[>=3.11 <4]")

    def build_requirements(self):
        self.tool_requires("capnproto/<host_version>")
        self.tool_requires("cmake/[>=3.25 <5]")

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("mortise runs on Linux only")

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["MORTISE_BUILD_TESTS"] = False
        toolchain.cache_variables["MORTISE_BUILD_EXAMPLES"] = False
        toolchain.cache_variables["MORTISE_CONSOLE"] = False
        toolchain.cache_variables["MORTISE_HTTP"] = False
        toolchain.cache_variables["MORTISE_BUILD_TOOLS"] = bool(self.options.tools)
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", src=self.source_folder,
             dst=os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.components["mortise"].libs = ["mortise"]
        self.cpp_info.components["mortise"].set_property("cmake_target_name", "mortise::mortise")
        self.cpp_info.components["mortise"].set_property("pkg_config_name", "mortise")
        self.cpp_info.components["mortise"].system_libs = ["dl", "m", "pthread"]
        self.cpp_info.components["mortise"].requires = [
            "asio::asio", "capnproto::capnp-rpc", "openssl::ssl", "rocksdb::rocksdb",
            "spdlog::spdlog", "tomlplusplus::tomlplusplus", "xxhash::xxhash"]
        self.cpp_info.components["testing"].libs = ["mortise_testing"]
        self.cpp_info.components["testing"].set_property("cmake_target_name", "mortise::testing")
        self.cpp_info.components["testing"].requires = ["mortise"]
