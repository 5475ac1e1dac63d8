"""Runs a program with a PostgreSQL of its own: with_postgres.py PROGRAM. The program gets the
folder of its socket, and finds an empty database "story" for the user "story"."""

import subprocess
import sys
import tempfile

from servers import Postgres

if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="mortise-story-") as folder, \
            Postgres(folder) as database:
        sys.exit(subprocess.run([sys.argv[1], database.folder], check=False).returncode)
