"""Every system of the comparison, what it promises, and how its servers are started."""

from servers import Etcd, MariaDb, Redis, ZooKeeper

# What survives a crash: the colours of the plot.
THREE, MEMORIES, ONE, NONE = "three disks", "three memories", "one disk", "memory"


class System:
    """A row of each table. `recipe` is what the client program is told, `fenced` whether a grant
    has a number that a resource can compare."""

    def __init__(self, name, keeps, fenced, recipe=None):
        self.name, self.keeps, self.fenced, self.recipe = name, keeps, fenced, recipe


class Peer:
    """Servers that run at the same time, and the systems that are measured with them."""

    def __init__(self, client, start, systems, **more):
        self.client = client  # bench_NAME; --peers NAME picks it
        self.start = start
        self.systems = systems
        self.survives = more.get("survives", False)  # the loss of a server
        self.is_java = more.get("is_java", False)  # it gets faster for a minute


FLOOR = System("floor", THREE, False)
MORTISE = System("Mortise", THREE, True)
UNAWAITED = System("Mortise, releases not awaited", THREE, True)
LOCAL = System("Mortise, caching (the default)", THREE, True)
REPLICATED = System("Mortise, replicated", MEMORIES, True)
REPLICATED_FOLLOWER = System("Mortise, replicated, at a follower", MEMORIES, True)
REDIS = System("Redis, defaults", NONE, False, "set")


def etcd(count, name, keeps):
    return Peer("etcd", lambda programs: Etcd(programs, count),
                [System(name, keeps, True, "mutex")], survives=count > 1)


def zookeeper(count, name, keeps):
    return Peer("zookeeper", lambda programs: ZooKeeper(programs, count),
                [System(name, keeps, True, "lock")], survives=count > 1, is_java=True)


PEERS = [
    etcd(3, "etcd, 3 members", THREE),
    zookeeper(3, "ZooKeeper, 3 servers", THREE),
    etcd(1, "etcd, 1 member", ONE),
    zookeeper(1, "ZooKeeper, 1 server", ONE),
    Peer("redis", lambda programs: Redis(programs, always=True),
         [System("Redis, appendfsync always", ONE, False, "set")]),
    Peer("mariadb", MariaDb, [System("MariaDB, unique row", ONE, False, "row"),
                              System("MariaDB, GET_LOCK", NONE, False, "get_lock")]),
    Peer("redis", lambda programs: Redis(programs, always=False), [REDIS]),
]
NAMES = sorted({peer.client for peer in PEERS})
SYSTEMS = [FLOOR, MORTISE, UNAWAITED, LOCAL, REPLICATED, REPLICATED_FOLLOWER] + [
    system for peer in PEERS for system in peer.systems]


class Scenario:
    def __init__(self, name, callers, one_name=False):
        self.name, self.callers, self.one_name = name, callers, one_name


SCENARIOS = [Scenario("1 caller", 1), Scenario("16 callers", 16), Scenario("64 callers", 64),
             Scenario("16 callers, one lock", 16, one_name=True)]

