"""Runs a program with a MariaDB of its own: with_mariadb.py PROGRAM. The program gets the path of
its socket, and finds an empty database with the name "story"."""

import subprocess
import sys
import tempfile

from servers import MariaDb

if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="mortise-story-") as folder, \
            MariaDb(folder) as database:
        sys.exit(subprocess.run([sys.argv[1], database.socket], check=False).returncode)
