"""A network namespace for each node, on a bridge; packets are dropped, slowed and reset there."""

import os
import socket
import subprocess
import sys

PORT = 7401
DEVICE = "e0"
UNSHARE = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
INSIDE = "MORTISE_TEST_INSIDE"


def run_inside():
    """Runs this script again, in namespaces of its own, unless it is in them already."""
    if INSIDE in os.environ:
        return
    os.environ[INSIDE] = "1"
    os.execvp(UNSHARE[0], [*UNSHARE, sys.executable, "-B", *sys.argv])


def run(*words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=30, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def are_allowed():
    return INSIDE in os.environ or subprocess.run(
        [*UNSHARE, "true"], capture_output=True, check=False).returncode == 0


def run_inside_or_skip():
    """As run_inside(); where that is not allowed, the test counts as not tried."""
    if not are_allowed():
        print("not tried: this takes namespaces of its own, and so root")
        sys.exit(77)
    run_inside()


class Network:
    """Created in the network and mount namespaces of the run, and removed with them."""

    isolated = True

    def __init__(self, count):
        self.chains = 0
        run("mount", "-t", "tmpfs", "none", "/run")
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "br0", "type", "bridge")
        run("ip", "link", "set", "br0", "up")
        for node in range(1, count + 1):
            self.add(node)

    def add(self, node):
        run("ip", "netns", "add", f"node{node}")
        run("ip", "link", "add", f"v{node}", "type", "veth", "peer", "name", DEVICE,
            "netns", f"node{node}")
        run("ip", "link", "set", f"v{node}", "master", "br0", "up")
        self.at(node, "ip", "link", "set", "lo", "up")
        self.at(node, "ip", "address", "add", f"{self.ip(node)}/24", "dev", DEVICE)
        self.at(node, "ip", "link", "set", DEVICE, "up")

    def ip(self, node):
        return f"10.77.0.{node}"

    def address(self, node):
        return f"{self.ip(node)}:{PORT}"

    def enter(self, node):
        """The prefix of a command that runs there; it becomes the command, with the same pid."""
        return ["nsenter", f"--net=/run/netns/node{node}", "--"]

    def at(self, node, *words):
        return run(*self.enter(node), *words)

    def drop(self, node, rule):
        """Applies to packets to the node that match; the returned function undoes it."""
        self.chains += 1
        chain = f"fault{self.chains}"
        self.at(node, "nft", "add", "table", "inet", "torture")
        self.at(node, "nft", "add", "chain", "inet", "torture", chain,
                "{ type filter hook input priority 0; }")
        self.at(node, "nft", "add", "rule", "inet", "torture", chain,
                f"iifname {DEVICE} {rule} drop")

        def undo():
            self.at(node, "nft", "flush", "chain", "inet", "torture", chain)
            self.at(node, "nft", "delete", "chain", "inet", "torture", chain)

        return undo

    def drop_from(self, node, others):
        return self.drop(node, "ip saddr { " + ", ".join(self.ip(o) for o in others) + " }")

    def lose(self, node, percent):
        return self.drop(node, f"meta l4proto tcp numgen random mod 100 < {percent}")

    def slow(self, node, kilobits):
        self.at(node, "tc", "qdisc", "add", "dev", DEVICE, "root", "tbf", "rate",
                f"{kilobits}kbit", "burst", "4k", "latency", "400ms")
        return lambda: self.at(node, "tc", "qdisc", "del", "dev", DEVICE, "root")

    def reset(self, node):
        """Ends every connection of the node with its peers, and returns their number."""
        words = [*self.enter(node), "ss", "-K", "-H", "-t", "state", "established",
                 "dst", "10.77.0.0/24"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)
        return len(done.stdout.splitlines())


class Loopback:
    """Without namespaces: all nodes use this machine's loopback."""

    isolated = False

    def __init__(self, count):
        taken = [socket.socket() for _ in range(count)]
        for each in taken:
            each.bind(("127.0.0.1", 0))
        self.ports = [each.getsockname()[1] for each in taken]
        for each in taken:
            each.close()

    def address(self, node):
        return f"127.0.0.1:{self.ports[node - 1]}"

    def enter(self, _):
        return []
