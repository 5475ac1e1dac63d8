"""Which versions of the other services and of their client libraries were measured."""

import re
import subprocess

from report import output
from servers import program


def number_in(text):
    found = re.search(r"\d+\.\d+(\.\d+)?", text)
    return found[0] if found else "unknown"


def said_by(name, *words):
    done = subprocess.run([program(name), *words], capture_output=True, text=True, check=False)
    return number_in(done.stdout + done.stderr)


def package_version(package):
    return "".join(output("dpkg-query", "-W", "-f=${Version}", package)) or "unknown"


def library(package):
    return f"{package} {package_version(package)}"


VERSIONS = {
    "redis": lambda: f"Redis {said_by('redis-server', '--version')}, {library('libhiredis-dev')}",
    "etcd": lambda: f"etcd {said_by('etcd', '--version')}, {library('golang-etcd-server-dev')}, "
                    f"Go {said_by('go', 'version')}",
    "zookeeper": lambda: f"ZooKeeper {number_in(package_version('zookeeper'))}, "
                         f"{library('libzookeeper-mt-dev')}, Java {said_by('java', '-version')}",
    "mariadb": lambda: f"MariaDB {said_by('mariadbd', '--version')}, {library('libmariadb-dev')}",
}
