"""The processes of a run: how they were started, their output, and how they ended."""

import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import cgroups
from namespaces import run
from power import BookedMachine, Power

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from harness import Process, config_text, times, tls_lines  # noqa: E402

SLOW = "slow"  # the worker with long holds
QUICK = ["hot", "a", "b", "c", "closed"]
DISK = "96m"  # of each node
TTL = 3.0  # seconds, as are the others
ELECTION = 0.5
HEARTBEAT = 0.05
CALL = 5.0
START_PATIENCE = 60
HISTORY = "HISTORY"  # a placeholder for a pipe in the command of a worker
START_PAUSE = 2_000_000_000  # nanoseconds between two starts of a node that fails to start


def now():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


class Drain:
    """Reads a pipe into a file on a thread until no process writes to it; pauses when requested."""

    SIZE = 4096  # of the pipe, so that it fills up soon

    def __init__(self, pipe, log):
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, self.SIZE)
        self.pipe = pipe
        self.log = log
        self.reads = threading.Event()
        self.reads.set()
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while self.reads.wait() and (part := os.read(self.pipe.fileno(), self.SIZE)):
            self.log.write(part)
            self.log.flush()


class Life(Process):
    """One process of a node, from its start to its end. Its history and its standard error go
    through pipes: a limit of the size of its files is about those of its node then."""

    def __init__(self, node, number, words, folder, variables):
        self.name = f"node{node}.{number}"
        self.node = node
        self.began = now()
        self.ended = None  # when its end was noticed
        self.killed = None  # when it was sent SIGKILL
        self.leader = 0
        self.term = 0
        self.lies = 0
        self.ready = threading.Event()
        self.stopped = ""  # why its node stopped by itself
        self.end_is_known = False  # its end was judged, or requested
        self.stop_is_known = False
        self.said = open(folder / "output.log", "ab")
        history, into = os.pipe()
        with open(folder / f"{number}.jsonl", "ab") as out:
            self.copying = subprocess.Popen(["cat"], stdin=history, stdout=out,
                                            start_new_session=True)
        super().__init__([word.replace(HISTORY, f"/dev/fd/{into}") for word in words],
                         start_new_session=True, pass_fds=(into,), cwd=folder, errors="replace",
                         env=os.environ | variables)
        os.close(history)
        os.close(into)
        self.drain = Drain(self.stderr, self.said)
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.stdout:
            words = line.split()
            if words[:1] == ["status"]:
                self.leader, self.term = int(words[1]), int(words[2])
            elif words[:1] == ["lied"]:
                self.lies += int(words[2])
            elif words[:1] == ["ready"]:
                self.ready.set()
            elif words[:1] == ["stopped"]:
                self.stopped = " ".join(words[1:]) or "no reason given"
            self.said.write(line.encode())
            self.said.flush()

    def tell(self, line):
        with contextlib.suppress(OSError):  # it has ended, which is noticed elsewhere
            super().tell(line)

    def is_over(self):
        if self.ended is None and self.poll() is not None:
            self.ended = now()
        return self.ended is not None

    def strike(self):
        if not self.is_over():
            self.killed = self.killed or now()
            self.kill()

    def kill_in(self, patience):
        """True when it has ended; a frozen process cannot die yet."""
        if not self.is_over():
            self.strike()
            try:
                self.wait(patience)
            except subprocess.TimeoutExpired:
                return False
        return self.is_over()


class Node:
    def __init__(self, cluster, number):
        self.cluster = cluster
        self.number = number
        self.folder = cluster.folder / f"node{number}"
        self.disk = self.folder / "disk"
        self.disk.mkdir(parents=True)
        self.machine = BookedMachine(self.folder)
        self.lives = []
        self.excuses = set()  # faults of this episode after which a node may stop by itself
        self.group = cgroups.Group(cluster.owner, f"node{number}")
        if cluster.has("tmpfs"):
            run("mount", "-t", "tmpfs", "-o", f"size={DISK},mode=700", "none", str(self.disk))

    @property
    def life(self):
        return self.lives[-1]

    def write_config(self):
        network = self.cluster.network
        text = config_text(
            self.number, {peer: network.address(peer) for peer in self.cluster.numbers},
            f"{self.disk.name}/data", network.address(self.number),
            self.cluster.tls_lines(f"node-{self.number}"),
            times(f"{TTL}s", f"{ELECTION}s", f"{HEARTBEAT}s", call_timeout=f"{CALL}s"),
            cluster='"torture"', **self.cluster.power.durability)
        path = self.folder / "node.toml"
        path.write_text(text + '[log]\nlevel = "info"\n')
        return path

    def start(self, lies_every=None):
        """A worker, or one that lies at such intervals, in milliseconds."""
        number = len(self.lives) + 1
        seed = self.cluster.seed % 1_000_000 * 1_000_000 + self.number * 1_000 + number
        config = str(self.write_config())
        words = [str(self.cluster.programs / "torture_worker"), config, HISTORY,
                 str(self.cluster.store), ",".join([SLOW, *QUICK]), str(seed)]
        if lies_every:
            words = [str(self.cluster.programs / "torture_liar"), config, str(lies_every),
                     str(seed)]
        variables = {}
        if self.cluster.has("boot") and self.cluster.has("memory"):
            words = [*self.machine.runs(), *words]
            variables["SYNC_BOOK"] = self.machine.book
        words = [*self.cluster.network.enter(self.number), *words]
        life = Life(self.number, number, words, self.folder, variables)
        self.lives.append(life)
        self.group.add(life.pid)

    def lose_power(self):
        """After its process has died: how many bytes of its log were not synced."""
        return self.machine.lose_power(self.disk / "data")

    def make_room(self):
        """A person removes directories that were put aside, of which eight fill the disk."""
        for aside in sorted((self.disk / "data").glob("damaged-*"))[2:]:
            shutil.rmtree(aside)

    def signal(self, number):
        if not self.life.is_over():
            self.life.send_signal(number)


class Cluster:
    def __init__(self, options, network, gone, folder):
        self.network = network
        self.gone = gone
        self.folder = folder
        self.seed = options.seed
        self.owner = options.inside
        self.programs = options.programs
        self.store = folder / "store"
        self.store.mkdir()
        self.pki = folder / "pki"
        self.numbers = list(range(1, options.nodes + 1))
        self.nodes = {number: Node(self, number) for number in self.numbers}
        self.violations = []
        self.slowed = []  # (node, from, to): when calls may take longer
        self.program = options.programs.parent / "bin" / "mortise"
        self.removed = set()  # nodes that may not be members now
        self.lost = set()  # nodes whose directory was lost or rolled back in this episode
        self.forgetful = set()  # nodes that may have forgotten entries in this episode
        self.all_vote = False  # at the begin of this episode, with their original directories
        self.power = Power(options)
        if not self.power.may_be_lost:
            gone["memory"] = ""  # nothing that is acknowledged can be forgotten

        if not options.plain:
            self.make_certificates()

    def make_certificates(self):
        self.pki.mkdir()
        cert = [str(self.program), "cert"]
        place = ["--dir", str(self.pki)]
        run(*cert, "init", "--cluster", "torture", *place)
        for number in self.numbers:
            run(*cert, "issue", "--node", str(number), *place)
        run(*cert, "issue", "--user", "torturer", "--role", "admin", *place)
        run(*cert, "issue", "--user", "greedy", "--role", "client", *place)

    def tls_lines(self, stem):
        if not self.pki.exists():
            return ["[tls]\ninsecure = true"]
        return tls_lines(self.pki, stem)

    def credentials(self, user):
        """The certificate, the key and the authority of a user; nothing without TLS."""
        if not self.pki.exists():
            return {}
        return {"cert": f"{self.pki}/user-{user}.pem", "key": f"{self.pki}/user-{user}.key",
                "ca": f"{self.pki}/ca.pem"}

    def has(self, need):
        return need not in self.gone

    def complain(self, what):
        print(f"VIOLATION: {what}", flush=True)
        self.violations.append(what)

    def start(self):
        for node in self.nodes.values():
            node.start()
        for node in self.nodes.values():
            if not node.life.ready.wait(START_PATIENCE):
                raise RuntimeError(f"node{node.number} is not ready: see {node.folder}/output.log")

    def leadership(self):
        """The leader and its term according to most running nodes that know one."""
        lives = [node.life for node in self.nodes.values() if not node.life.is_over()]
        said = [(life.leader, life.term) for life in lives if life.leader in self.nodes]
        return max(said, key=said.count, default=None)

    def leader(self):
        known = self.leadership()
        return known and known[0]

    def ask(self, *words):
        """The answer of the command line, if it reaches a node that has one; otherwise none."""
        for node in self.numbers:
            peer = ["--peer", self.network.address(node)]
            for option, file in self.credentials("torturer").items():
                peer += [f"--{option}", file]
            done = subprocess.run([*self.network.enter(node), str(self.program), *words, *peer],
                                  capture_output=True, text=True, check=False)
            if done.returncode == 0:
                return done.stdout
        return None

    def change(self, *words):
        return self.ask(*words, "--timeout", "4s") is not None

    def voters_besides(self, victim):
        said = self.ask("members", "--json", "--timeout", "1s")
        return [member["id"] for member in json.loads(said or "[]")
                if member["role"] == "voter" and member["id"] != victim]

    def begin_episode(self):
        self.lost.clear()
        self.forgetful.clear()
        for node in self.nodes.values():
            node.excuses.clear()
            node.make_room()
        self.all_vote = self.voters_besides(None) == self.numbers
        self.power.begin_episode(now())

    def take_back(self):
        """Adds the removed nodes again. A node whose disk failed while it was no member stops at
        its first write, which is here, and is started again."""
        end = time.monotonic() + START_PATIENCE
        while self.removed and time.monotonic() < end:
            self.restart_the_dead()
            node = min(self.removed)
            added = self.change("members", "add", str(node), self.network.address(node))
            if added and self.change("members", "promote", str(node)):
                self.removed.remove(node)
        if self.removed:
            self.complain(f"not taken back: {sorted(self.removed)}")

    def look_for_deaths(self):
        """Complains about nodes that ended or stopped by themselves without an excuse."""
        for node in self.nodes.values():
            life = node.life
            if life.is_over() and life.killed is None and not life.end_is_known:
                life.end_is_known = True
                self.judge(node, f"ended by itself with {life.returncode}")
            if life.stopped and not life.stop_is_known:
                life.stop_is_known = True
                self.judge(node, f"stopped: {life.stopped}")

    def judge(self, node, what):
        if node.excuses:
            print(f"  node{node.number} {what} (after {', '.join(sorted(node.excuses))})",
                  flush=True)
        else:
            self.complain(f"{node.life.name} {what}")

    def restart_the_dead(self):
        self.look_for_deaths()
        for node in self.nodes.values():
            life = node.life
            if life.stopped and not end_in_order(life):
                self.complain(f"{life.name} has stopped, and does not end when told to")
            if life.killed is not None and not life.kill_in(10):
                raise RuntimeError(f"{life.name} does not die")
            if life.is_over() and (life.killed or now() - life.began > START_PAUSE):
                node.start()

    def stop(self):
        """Ends all in an orderly way; a process that does not end is reported and killed."""
        for node in self.nodes.values():
            node.life.tell("quit")
        for node in self.nodes.values():
            if not end_in_order(node.life):
                self.complain(f"{node.life.name} does not end when told to")
            elif node.life.returncode not in (0, -signal.SIGKILL):
                self.complain(f"{node.life.name} ended with {node.life.returncode}")

    def kill_all(self):
        for node in self.nodes.values():
            if node.lives:
                node.life.kill_in(5)
            for life in node.lives:
                life.drain.reads.set()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    life.copying.wait(5)


def end_in_order(life):
    life.end_is_known = True
    life.tell("quit")
    try:
        life.wait(20)
    except subprocess.TimeoutExpired:
        life.kill_in(5)
        return False
    return life.is_over()
