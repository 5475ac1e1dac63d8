#!/usr/bin/env python3
"""The Debian packages: their content, and in a Debian of their own their whole life.

    debian_test.py PACKAGES TREE CACHE
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from bare_root import PLAIN, Root, why_not

PACKAGES, TREE, CACHE = (Path(sys.argv.pop(1)).resolve() for _ in range(3))
NAMES = ("libmortise0", "libmortise-dev", "mortise")
# A node with the console, and what this answers to a request; only bash is there to ask.
CONSOLE = """
export MORTISE_NODE_ID=1 MORTISE_DATA_DIR=/tmp/node MORTISE_LISTEN=127.0.0.1:7401
export MORTISE_PEER_LIST=1=127.0.0.1:7401
mortise node --console &
node=$!
until mortise status --ready >/dev/null 2>&1; do
    kill -0 $node && ((tries++ < 60)) || exit 1
    sleep 0.5
done
for path in / /metrics /api/v1/status; do
    exec 3<>/dev/tcp/127.0.0.1/7480
    printf 'GET %s HTTP/1.1\\r\\nHost: 127.0.0.1:7480\\r\\nConnection: close\\r\\n\\r\\n' \
        $path >&3
    cat <&3
    exec 3>&-
done
kill $node
wait $node
"""
# What somebody installs who writes a program against the library, in C and in Python.
TOOLS = ("gcc", "libc6-dev", "pkg-config", "python3-pip", "python3-setuptools", "python3-venv",
         "python3-wheel")
# lintian's tags that are meant; each has its reason.
MEANT = {
    "initial-upload-closes-no-bugs": "not uploaded to Debian",
}


def output(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=True, **options).stdout


def package(name):
    found, = PACKAGES.glob(f"{name}_*.deb")
    return found


def field(name, key):
    return output("dpkg-deb", "-f", package(name), key).strip()


def files(name):
    """Path -> mode and owner."""
    lines = output("dpkg-deb", "-c", package(name)).splitlines()
    return {line.split(None, 5)[5].split(" -> ")[0].removeprefix("."): line.split()[:2]
            for line in lines}


class Content(unittest.TestCase):
    def test_each_file_is_in_the_package_where_it_is_looked_for(self):
        wanted = {
            "libmortise0": [r"/usr/lib/[\w-]+/libmortise\.so\.0"],
            "libmortise-dev": [r"/usr/lib/[\w-]+/libmortise\.so", r"/usr/include/mortise\.h",
                               r"/usr/include/mortise/node\.hpp",
                               r"/usr/include/mortise/console\.hpp",
                               r"/usr/lib/[\w-]+/libmortise_testing\.a",
                               r"/usr/include/mortise/http_door\.hpp",
                               r"/usr/lib/[\w-]+/libmortise_console\.a",
                               r"/usr/lib/[\w-]+/libmortise_http_door\.a",
                               r"/usr/lib/[\w-]+/pkgconfig/mortise\.pc",
                               r"/usr/lib/[\w-]+/cmake/mortise/mortiseConfig\.cmake"],
            "mortise": [r"/usr/bin/mortise", r"/usr/lib/systemd/system/mortise\.service",
                        r"/usr/share/man/man1/mortise\.1\.gz",
                        r"/usr/share/bash-completion/completions/mortise"]}
        for name, patterns in wanted.items():
            for pattern in patterns:
                found = [path for path in files(name) if re.fullmatch(pattern, path)]
                self.assertEqual(len(found), 1, f"{name}: {pattern}")

    def test_every_file_belongs_to_root(self):
        for name in NAMES:
            self.assertEqual({owner for _, owner in files(name).values()}, {"root/root"})

    def test_they_depend_on_each_other_and_on_what_they_load(self):
        version = field("libmortise0", "Version")
        self.assertIn(f"libmortise0 (= {version})", field("mortise", "Depends"))
        self.assertIn(f"libmortise0 (= {version})", field("libmortise-dev", "Depends"))
        for library in ("librocksdb7.8", "libcapnp-0.9.2", "libssl3", "libc6", "libstdc++6"):
            self.assertIn(library, field("libmortise0", "Depends"))
        # They are compiled in.
        for library in ("libspdlog", "libfmt", "libtomlplusplus"):
            self.assertNotIn(library, field("libmortise0", "Depends"))
        # The console is in the program; a program that embeds it links it itself.
        self.assertIn("libcpp-httplib0.11", field("mortise", "Depends"))
        self.assertNotIn("httplib", field("libmortise0", "Depends"))
        self.assertIn("libcpp-httplib-dev", field("libmortise-dev", "Recommends"))

    def test_the_library_has_a_trigger_and_no_scripts(self):
        with tempfile.TemporaryDirectory() as folder:
            output("dpkg-deb", "-e", package("libmortise0"), folder)
            control = Path(folder)
            self.assertEqual({path.name for path in control.iterdir()},
                             {"control", "md5sums", "shlibs", "triggers"})
            self.assertEqual((control / "triggers").read_text(encoding="utf-8"),
                             "activate-noawait ldconfig\n")

    def test_the_symbols_for_debuggers_are_apart(self):
        for name in ("libmortise0", "mortise"):
            self.assertEqual(field(f"{name}-dbgsym", "Section"), "debug")
            self.assertTrue(any("/usr/lib/debug/.build-id/" in path
                                for path in files(f"{name}-dbgsym")))
        with tempfile.TemporaryDirectory() as folder:
            output("dpkg-deb", "-x", package("libmortise0"), folder)
            library, = Path(folder).rglob("libmortise.so.0.*")
            self.assertNotIn(".debug_info", output("readelf", "-SW", library))
            self.assertLess(library.stat().st_size, 8_000_000)

    def test_the_user_of_the_service_is_the_one_that_is_made(self):
        unit = (TREE / "deploy/systemd/mortise.service").read_text(encoding="utf-8")
        script = (TREE / "packaging/debian/postinst").read_text(encoding="utf-8")
        user = re.search(r"^User=(\S+)", unit, re.MULTILINE)[1]
        self.assertRegex(script, rf"adduser (?:.|\n)* {user}\n")

    @unittest.skipUnless(shutil.which("lintian"), "lintian is not installed")
    def test_lintian_has_no_complaints_but_those_that_are_meant(self):
        done = subprocess.run(["lintian", "--allow-root", "--no-cfg", "--tag-display-limit", "0",
                               *(package(name) for name in NAMES)],
                              capture_output=True, text=True, check=False)
        self.assertNotIn("internal error", done.stderr)
        left = [line for line in done.stdout.splitlines()
                if re.match(r"[EW]: ", line) and line.split(": ", 2)[2].split()[0] not in MEANT]
        self.assertEqual(left, [], done.stdout)


@unittest.skipIf(why_not(), why_not())
class Life(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if shutil.which("mmdebstrap") is None and not CACHE.exists():
            raise unittest.SkipTest("mmdebstrap is not installed")
        cls.directory = tempfile.TemporaryDirectory(prefix="mortise-debian-")
        cls.addClassCleanup(cls.directory.cleanup)
        cls.root = Root.debian(Path(cls.directory.name) / "root", CACHE)

    def apt(self, *words):
        return self.root.run("apt-get", "-q", "-y", "--no-install-recommends", *words,
                             network="shared", timeout=600)

    def test_installed_used_removed_and_purged(self):
        self.apt("update")
        # What the packages need stays when they go.
        needs = ["adduser", "libasio-dev", *TOOLS]
        depends = f'{field("libmortise0", "Depends")}, {field("mortise", "Depends")}'
        needs += {need for need in re.findall(r"([\w.+-]+)(?: \([^)]*\))?(?:,|$)", depends)
                  if need not in NAMES}
        self.apt("install", *needs)
        before = self.root.files()

        for name in NAMES:
            shutil.copy(package(name), self.root.path / "tmp")
        self.apt("install", *(f"/tmp/{package(name).name}" for name in NAMES))
        self.use()
        # An installation over the same version, as an upgrade does it.
        self.apt("install", "--reinstall", f"/tmp/{package('mortise').name}")
        self.assertIn("mortise:", (self.root.path / "etc/passwd").read_text(encoding="utf-8"))

        state = self.root.path / "var/lib/mortise"
        state.mkdir(exist_ok=True)
        (state / "kept").write_text("", encoding="utf-8")
        self.apt("remove", *NAMES)
        self.assertTrue((state / "kept").exists())
        self.assertFalse((self.root.path / "usr/bin/mortise").exists())
        # Only what has files to configure or scripts is still known; apt refuses the other names.
        self.assertEqual(self.known(), {"mortise"})
        self.root.run("dpkg", "--purge", "mortise")
        self.assertEqual(self.known(), set())
        # The user stays; adduser leaves a file of its own.
        left = {path for path in self.root.files() - before
                if not re.match(r"(etc/(passwd|group|g?shadow|subuid|subgid)-?|run/adduser)$",
                                path)}
        self.assertEqual(left, set())

    def known(self):
        """Our packages that dpkg has any record of."""
        lines = self.root.run("dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n").stdout
        return {name for name, status in map(str.split, lines.splitlines())
                if name in NAMES and status != "not-installed"}

    def use(self):
        version = field("mortise", "Version").rpartition("-")[0]
        self.assertEqual(self.root.run("mortise", "--version").stdout, f"mortise {version}\n")
        self.use_libraries()
        self.use_c_examples()
        self.use_python_example()
        self.use_console()
        self.root.run("mortise", "demo", timeout=200)

    def use_libraries(self):
        """In C and in C++, by programs of this machine's compilers."""
        root = self.root.path
        paths = [path.parent for path in root.rglob("mortise.pc")]
        flags = output("pkg-config", "--cflags", "--libs", "mortise",
                       env={**os.environ, "PKG_CONFIG_LIBDIR": str(paths[0])}).split()
        loaded = [f"-Wl,-rpath-link,{root}/usr/lib/x86_64-linux-gnu", "-Wl,-z,now"]
        output("gcc", TREE / "tests/consume/main.c", "-o", root / "tmp/hello", *flags, *loaded)
        self.assertIn("held consume", self.root.run("/tmp/hello").stdout)
        output("g++", "-std=c++20", TREE / "tests/consume/console.cpp", "-o", root / "tmp/console",
               f"-L{paths[0].parent}", "-lmortise_console", *flags, "-lcpp-httplib", *loaded)
        self.assertIn("http://127.0.0.1:", self.root.run("/tmp/console").stdout)

    def use_c_examples(self):
        """By the compiler of the machine that has the packages, and nothing else of ours."""
        for name, said in (("hello_lock", "orders/42 is ours"), ("three_nodes", "node 2 holds it")):
            shutil.copy(TREE / "examples" / "c" / f"{name}.c", self.root.path / "tmp")
            self.root.run("sh", "-c", f"gcc -std=gnu11 -Wall -Werror /tmp/{name}.c -o /tmp/{name} "
                          "$(pkg-config --cflags --libs mortise)")
            self.assertIn(said, self.root.run(f"/tmp/{name}").stdout)

    def use_python_example(self):
        """The package finds the installed library by itself."""
        root = self.root.path
        shutil.copytree(TREE / "python", root / "tmp" / "python",
                        ignore=shutil.ignore_patterns("__pycache__", "*.so*"))
        shutil.copy(TREE / "examples" / "python" / "hello_lock.py", root / "tmp")
        clean = {"PYTHONDONTWRITEBYTECODE": "1", "PIP_NO_CACHE_DIR": "1"}
        self.root.run("python3", "-m", "venv", "--system-site-packages", "/tmp/venv", **clean)
        self.root.run("/tmp/venv/bin/pip", "install", "--quiet", "--no-index",
                      "--no-build-isolation", "/tmp/python", **clean)
        self.assertNotIn("MORTISE_LIBRARY", PLAIN)
        python = ("/tmp/venv/bin/python", "-B")
        said = self.root.run(*python, "/tmp/hello_lock.py").stdout
        self.assertIn("orders/42 is ours", said)
        maps = 'import mortise; print(open("/proc/self/maps").read())'
        loaded = re.findall(r"/\S*libmortise\S*", self.root.run(*python, "-c", maps).stdout)
        library, = (path for path in files("libmortise0") if ".so.0." in path)
        self.assertEqual(set(loaded), {library})

    def use_console(self):
        done = self.root.run("bash", "-c", CONSOLE)
        self.assertIn("mortise: console at http://127.0.0.1:7480/\n", done.stderr)
        self.assertEqual(done.stdout.count("HTTP/1.1 200 OK"), 3, done.stdout)
        self.assertIn("<title>Mortise console</title>", done.stdout)
        self.assertRegex(done.stdout, r'(?m)^mortise_ready\{.*\} 1$')
        self.assertIn('"ready":true', done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
