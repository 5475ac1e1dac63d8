"""Recent grants, read from the histories while they grow."""

import json
import time

from cluster import now


class Progress:
    def __init__(self, cluster):
        self.cluster = cluster
        self.files = {}  # path -> (file, rest of a line)
        self.asked = {}  # (path, call) -> name
        self.names = {}  # name -> newest grant
        self.nodes = {}

    def read(self):
        for number, node in self.cluster.nodes.items():
            for path in sorted(node.folder.glob("*.jsonl")):
                self.read_one(number, path)

    def read_one(self, node, path):
        if path not in self.files:
            self.files[path] = (open(path, "rb"), b"")
        file, rest = self.files[path]
        *lines, rest = (rest + file.read()).split(b"\n")
        self.files[path] = (file, rest)
        for line in lines:
            part = json.loads(line)
            key = (path, part["call"])
            if part.get("operation") in ("acquire", "try"):
                self.asked[key] = part["name"]
            elif "operation" not in part:
                name = self.asked.pop(key, None)
                if part.get("outcome") == "granted":
                    self.names[name] = self.nodes[node] = part["return"]

    def behind(self, names, since):
        """The names that were not granted since then, and the nodes that were granted nothing."""
        self.read()
        late = [name for name in names if self.names.get(name, 0) <= since]
        return late + [f"node{number}" for number in self.cluster.numbers
                       if self.nodes.get(number, 0) <= since]

    def wait(self, names, patience):
        """The seconds until every name was granted at every node again, and what is missing when
        the time is over."""
        since = now()
        while True:
            late = self.behind(names, since)
            seconds = (now() - since) / 1e9
            if not late or seconds > patience:
                return seconds, late
            self.cluster.restart_the_dead()
            time.sleep(0.1)
