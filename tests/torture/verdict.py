"""The result of a run: its histories joined, judged and counted."""

import collections
import shutil

import history

# What a leader says that begins one.
ERA = "the machines of a majority lost power: all sessions end"


def read_calls(cluster):
    calls = []
    for node in cluster.nodes.values():
        for number, life in enumerate(node.lives, 1):
            path = node.folder / f"{number}.jsonl"
            if path.exists():
                with open(path, encoding="utf-8", errors="replace") as lines:
                    calls += history.join(lines, life.name, node.number)
    return sorted(calls, key=lambda call: call["invoke"])


def deaths_of(cluster):
    return {life.name: life.killed for node in cluster.nodes.values() for life in node.lives
            if life.killed is not None}


def judge(cluster, calls, programs):
    deaths = deaths_of(cluster)
    restarts = {life.name: following.began for node in cluster.nodes.values()
                for life, following in zip(node.lives, node.lives[1:])}
    for what in history.judge(calls, deaths, cluster.slowed, cluster.power.blackouts):
        cluster.complain(what)
    for what in history.search(programs / "history_check", cluster.folder / "history.jsonl", calls,
                               deaths, restarts):
        cluster.complain(what)


def report(episodes, calls, deaths):
    operations = collections.Counter(call["operation"] for call in calls)
    outcomes = collections.Counter(call.get("outcome", "unanswered") for call in calls
                                   if call["operation"] in ("acquire", "try"))
    print("operations: " + ", ".join(f"{n} {what}" for what, n in operations.most_common()))
    print("acquires and tries: " + ", ".join(f"{n} {what}" for what, n in outcomes.most_common()))
    orphaned = list(history.orphaned(calls, deaths))
    if orphaned:
        print(f"locks of the dead: {len(orphaned)}, each granted again within "
              f"{max(orphaned) / 1e9:.2f} s")
    print(f"{'fault':<14}{'times':>6}{'injected':>9}{'longest gap':>13}{'slowest return':>16}")
    times = history.grant_times(calls)
    kinds = collections.defaultdict(list)
    for episode in episodes:
        if episode.recovery is not None:
            for fault in episode.faults:
                kinds[fault.kind].append((episode, fault.count))
    for kind, found in sorted(kinds.items()):
        gaps = [history.longest_gap(times, e.begin, e.healed + int(e.recovery * 1e9))
                for e, _ in found]
        slowest = max(episode.recovery for episode, _ in found)
        print(f"{kind:<14}{len(found):>6}{sum(count for _, count in found):>9}"
              f"{max(gaps) / 1e9:>11.2f} s{slowest:>14.2f} s")


def report_power(cluster):
    if not cluster.has("memory"):
        return
    eras = sum((node.folder / "output.log").read_text(errors="replace").count(ERA)
               for node in cluster.nodes.values())
    power = cluster.power
    print(f"a sync every {power.interval} ms; losses of power: {power.cuts}, of a majority "
          f"{len(power.blackouts)}; {power.unsynced} bytes were not synced; eras: {eras}")


def save(cluster):
    """The disks are in memory, and removed with the mounts."""
    for node in cluster.nodes.values():
        shutil.copytree(node.disk, node.folder / "kept", dirs_exist_ok=True)
    lines = [f"seed {cluster.seed}, {len(cluster.nodes)} nodes", *cluster.violations, ""]
    (cluster.folder / "violations.txt").write_text("\n".join(lines))
