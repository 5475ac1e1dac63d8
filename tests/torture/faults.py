"""The faults: each a class with a beginning and an end. KINDS is the list a run draws from."""

import errno
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from cluster import now


class Fault:
    needs = ()  # see sandbox.missing()
    excuses = False  # the node may stop by itself after it
    alone = 0  # so many seconds before another fault begins, in which others go on
    keeps_leader = True  # meanwhile

    def __init__(self, cluster, chance):
        self.cluster = cluster
        self.chance = chance
        self.count = 1  # how often it was injected, if not once
        leader = cluster.leader()
        others = cluster.numbers
        self.victim = leader if leader and chance.random() < 0.5 else chance.choice(others)
        self.node = cluster.nodes[self.victim]

    @property
    def kind(self):
        words = [c if c.islower() else "_" + c.lower() for c in type(self).__name__]
        return "".join(words).removeprefix("_")

    def where(self):
        return f"node{self.victim}"

    def others(self):
        return [number for number in self.cluster.numbers if number != self.victim]

    def begin(self):
        raise NotImplementedError

    def can_be_missed(self):
        """All the others vote, with their original directories, and remember what they said."""
        return (not self.cluster.lost - {self.victim} and not self.cluster.forgetful
                and self.cluster.voters_besides(self.victim) == self.others())

    def can_forget(self, *victims):
        """True if these nodes may forget what they acknowledged. If that is a majority, all voters
        have to come back with what they have."""
        cluster = self.cluster
        if not cluster.has("memory"):
            return True
        if not cluster.all_vote or cluster.lost or cluster.removed:
            return False
        cluster.forgetful |= set(victims)
        return True

    def end(self):
        """Everything is as before, except that dead nodes stay dead: the cluster restarts them."""


class Kill(Fault):
    def begin(self):
        gone = self.node.life.kill_in(1)
        if gone and self.chance.random() < 0.3:
            self.node.start()  # at once, whatever other faults are active


class KillAll(Fault):
    def where(self):
        return "all"

    def begin(self):
        self.count = len(self.cluster.nodes)
        for node in self.cluster.nodes.values():
            node.life.kill_in(1)


class PowerCut(Fault):
    """Machines lose their power: what was not synced is damaged, and they boot."""

    needs = ("boot", "memory")

    def victims(self):
        return [self.victim]

    def begin(self):
        self.count = 0
        if not self.can_forget(*self.victims()):
            return
        self.cut()
        while self.chance.random() < 0.3:  # it comes back for a moment only
            self.start()
            time.sleep(self.chance.uniform(0, 1))
            self.cut()
        if self.chance.random() < 0.3:
            self.start()

    def cut(self):
        """At once: otherwise the rest elects a leader, and votes are synced."""
        lives = {number: self.cluster.nodes[number].life for number in self.victims()}
        for life in lives.values():
            life.strike()
        dead = [number for number, life in lives.items() if life.kill_in(1)]
        self.cluster.power.cut(dead, self.cluster)
        self.count += len(dead)

    def start(self):
        for number in self.victims():
            node = self.cluster.nodes[number]
            if node.life.is_over():
                node.start()


class PowerCutSome(PowerCut):
    """A majority of them, and not all."""

    def __init__(self, cluster, chance):
        super().__init__(cluster, chance)
        count = chance.randrange(len(cluster.numbers) // 2, len(cluster.numbers) - 1)
        self.found = [self.victim, *chance.sample(self.others(), count)]

    def victims(self):
        return self.found

    def where(self):
        return ", ".join(f"node{number}" for number in sorted(self.found))


class PowerCutAll(PowerCut):
    def victims(self):
        return self.cluster.numbers

    def where(self):
        return "all"


class Wiped(Fault):
    """Its directory is lost; it returns as a learner. One node at a time, because the others
    have to vote."""

    needs = ("mortise",)

    def begin(self):
        self.count = 0
        if not self.can_be_missed() or not self.node.life.kill_in(1):
            return
        self.count = 1
        self.cluster.lost.add(self.victim)
        shutil.rmtree(self.node.disk / "data", ignore_errors=True)


class RolledBack(Fault):
    """Its directory is put back to an earlier image; it begins anew. Two lives come in between: of
    the second all others know as long as they have their state, whoever dies meanwhile."""

    needs = ("mortise",)
    patience = 20

    def begin(self):
        self.count = 0
        if not self.can_be_missed() or not self.node.life.kill_in(1):
            return
        data = self.node.disk / "data"
        image = self.node.folder / "image"
        shutil.copytree(data, image)
        if self.live() and self.live():
            self.count = 1
            self.cluster.lost.add(self.victim)
            shutil.rmtree(data)
            shutil.copytree(image, data)
        shutil.rmtree(image)

    def live(self):
        """True if there was a run in which it had a session."""
        self.node.start()
        ready = self.node.life.ready.wait(self.patience)
        return self.node.life.kill_in(1) and ready


class Slowing(Fault):
    """Calls of the node's program may take longer meanwhile, which is not an error of the
    library."""

    def begin(self):
        self.began = now()
        self.slow()

    def end(self):
        self.undo()
        self.cluster.slowed.append((self.victim, self.began, now()))


class Stop(Slowing):
    def slow(self):
        self.life = self.node.life
        self.node.signal(signal.SIGSTOP)

    def undo(self):
        if not self.life.is_over():
            self.life.resume()


class Freeze(Slowing):
    needs = ("freezer",)

    def slow(self):
        self.node.group.freeze(True)

    def undo(self):
        self.node.group.freeze(False)


class Starve(Slowing):
    needs = ("cpu",)

    def slow(self):
        self.node.group.limit_cpu(self.chance.choice([3, 5, 10]))

    def undo(self):
        self.node.group.limit_cpu(None)


class Membership(Slowing):
    """The node is removed from the cluster while it runs; the cluster adds it again as a
    learner, and promotes it."""

    needs = ("mortise",)

    def slow(self):
        self.count = 0
        if not self.can_be_missed():
            return
        self.cluster.removed.add(self.victim)
        if self.cluster.change("members", "remove", str(self.victim)):
            self.count = 1

    def undo(self):
        """When all nodes are back: see Cluster.take_back()."""


class NetworkFault(Fault):
    needs = ("nft",)

    def begin(self):
        self.undo = list(self.cut(self.cluster.network))

    def end(self):
        for undo in self.undo:
            undo()


class Partition(NetworkFault):
    """Two parts without a connection."""

    def cut(self, network):
        others = self.others()
        away = self.chance.randrange((len(others) + 1) // 2)
        part = [self.victim, *self.chance.sample(others, away)]
        rest = [number for number in self.cluster.numbers if number not in part]
        for node in part:
            yield network.drop_from(node, rest)
        for node in rest:
            yield network.drop_from(node, part)


class OneWay(NetworkFault):
    """The messages of the victim are lost, or those to it."""

    def cut(self, network):
        if self.chance.random() < 0.5:
            yield network.drop_from(self.victim, self.others())
        else:
            for node in self.others():
                yield network.drop_from(node, [self.victim])


class Bridge(NetworkFault):
    """Two nodes cannot reach each other; all others reach both."""

    def cut(self, network):
        other = self.chance.choice(self.others())
        yield network.drop_from(self.victim, [other])
        yield network.drop_from(other, [self.victim])


class Loss(NetworkFault):
    def cut(self, network):
        percent = self.chance.choice([2, 10, 30])
        everywhere = self.chance.random() < 0.5
        for node in self.cluster.numbers if everywhere else [self.victim]:
            yield network.lose(node, percent)


class SlowLink(NetworkFault):
    needs = ("nft", "tc")

    def cut(self, network):
        yield network.slow(self.victim, self.chance.choice([64, 256, 1024]))


class Reset(Fault):
    """Its connections are ended repeatedly."""

    needs = ("nft",)

    def begin(self):
        self.count = 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.repeat)
        self.thread.start()

    def repeat(self):
        while True:
            self.count += self.cluster.network.reset(self.victim)
            if self.over.wait(0.3):
                return

    def end(self):
        self.over.set()
        self.thread.join()


class FullDisk(Fault):
    needs = ("tmpfs",)
    excuses = True

    def begin(self):
        self.balloon = self.node.disk / "balloon"
        with open(self.balloon, "wb", buffering=0) as out:
            while True:
                try:
                    out.write(bytes(65_536))
                except OSError:
                    return

    def end(self):
        os.unlink(self.balloon)


class SyncFault(Slowing):
    """strace answers the node's system calls, or delays them."""

    needs = ("strace",)

    def slow(self):
        self.log = self.node.folder / "strace.log"
        self.tracer = None
        if self.node.life.is_over():
            return
        inject = f"inject=fsync,fdatasync:{self.injected()}"
        self.tracer = subprocess.Popen(
            ["strace", "-f", "-qq", "-o", str(self.log), "-e", "trace=fsync,fdatasync",
             "-e", inject, "-p", str(self.node.life.pid)],
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def undo(self):
        self.count = 0
        if self.tracer is None:
            return
        self.tracer.terminate()
        try:
            self.tracer.wait(2)
        except subprocess.TimeoutExpired:  # the node is frozen and cannot be detached
            self.tracer.kill()
            self.tracer.wait()
        if self.log.exists():
            text = self.log.read_text(errors="replace")
            self.count = text.count("(INJECTED)") + text.count("(DELAYED)")


class SyncError(SyncFault):
    """After a failed sync nobody knows what is on disk."""

    excuses = True

    def slow(self):
        self.tracer = None
        if self.can_forget(self.victim):
            super().slow()

    def injected(self):
        # One call, or all from one on. Each thread has its own count.
        return "error=EIO:when=" + self.chance.choice(["3", "5+"])


class SyncStall(SyncFault):
    def injected(self):
        return f"delay_enter={self.chance.choice([100_000, 700_000, 3_000_000])}"


class Limited(Fault):
    """A limit of the running process is lowered below its present use."""

    def begin(self):
        self.count = 0
        self.life = self.node.life
        if not self.life.ready.is_set() or self.life.is_over():
            return  # its own program needs files until then
        try:
            self.before = resource.prlimit(self.life.pid, self.resource)
            limit = self.lowered()
            resource.prlimit(self.life.pid, self.resource, (limit, self.before[1]))
        except (ProcessLookupError, FileNotFoundError):
            return  # it has died
        self.count = 1

    def end(self):
        if self.count == 0 or self.life.is_over():
            return
        try:
            resource.prlimit(self.life.pid, self.resource, self.before)
        except ProcessLookupError:
            pass


class Descriptors(Limited):
    """No descriptor is left, or few are."""

    resource = resource.RLIMIT_NOFILE

    def lowered(self):
        used = len(os.listdir(f"/proc/{self.life.pid}/fd"))
        return self.chance.choice([0, used, used + self.chance.randint(1, 8)])


# The program writes so many bytes to files of its own (shared_counter.hpp), and would be ended by
# its own write beyond the limit.
COUNTER_BYTES = 16


class FileSize(Limited):
    """No file may grow much beyond the size that one of the directory's files has."""

    resource = resource.RLIMIT_FSIZE

    def lowered(self):
        data = self.node.disk / "data"
        sizes = [os.path.getsize(Path(folder) / name)
                 for folder, _, names in os.walk(data) for name in names]
        limit = self.chance.choice(sizes) + self.chance.choice([-1, 0, 1, 100, 10_000])
        return max(COUNTER_BYTES, limit)


class Undrained(Fault):
    """Its standard error is a pipe that is full and has no reader."""

    def begin(self):
        self.count = 0
        self.life = self.node.life
        if self.life.is_over():
            return
        self.life.drain.reads.clear()
        try:
            pipe = os.open(f"/proc/{self.life.pid}/fd/2", os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return  # it has died
        self.fill(pipe)
        os.close(pipe)
        self.count = 1

    @staticmethod
    def fill(pipe):
        while True:
            try:
                os.write(pipe, b".")
            except BlockingIOError:
                return

    def end(self):
        self.life.drain.reads.set()


class Elsewhere(Fault):
    """Its program changes to another directory, which is removed then."""

    def begin(self):
        place = tempfile.mkdtemp(prefix="elsewhere", dir=self.node.folder)
        self.node.life.tell(f"chdir {place}")
        time.sleep(0.1)
        os.rmdir(place)


class TidiedUp(Fault):
    """A clean-up removes the files named LOCK, without which nobody knows whether a directory is a
    copy that lacks something."""

    def begin(self):
        data = self.node.disk / "data"
        self.count = 0
        if not self.can_forget(self.victim):
            return
        for place in (data, data / "log", data / "state"):
            try:
                os.unlink(place / "LOCK")
                self.count += 1
            except OSError as problem:
                if problem.errno not in (errno.ENOENT, errno.ENOTDIR):
                    raise


KINDS = [Kill, KillAll, PowerCut, PowerCutSome, PowerCutAll, Wiped, RolledBack,
         Membership, Stop, Freeze, Starve, Partition, OneWay, Bridge, Loss, SlowLink,
         Reset, FullDisk, SyncError, SyncStall, Descriptors, FileSize, Undrained,
         Elsewhere, TidiedUp]
