"""The order of the pages. Those that are not named here are in the last groups."""

GROUPS = {
    "Start": ["README.md", "docs/tutorial.md", "docs/api.md", "docs/recipes.md",
              "examples/stories/README.md", "docs/c-and-python.md", "docs/http.md",
              "docs/coming-from.md"],
    "Understand": ["docs/semantics.md", "docs/faq.md", "docs/comparison.md",
                   "docs/architecture.md", "docs/conversations/README.md",
                   "docs/conversations/acquire.md", "docs/conversations/election.md",
                   "docs/conversations/failover.md", "docs/conversations/membership.md",
                   "docs/conversations/snapshot.md"],
    "Run": ["docs/handbook.md", "docs/night.md", "docs/cli.md", "docs/configuration.md",
            "docs/tls.md", "docs/console.md", "docs/monitoring.md", "docs/rolling.md",
            "docs/backup.md", "docs/package.md", "docs/building.md", "deploy/README.md",
            "deploy/three-nodes/README.md", "deploy/kubernetes/README.md", "SECURITY.md"],
    "Look up": ["docs/README.md", "docs/rules.md", "docs/formats.md", "docs/performance.md",
                "docs/scale.md", "CHANGELOG.md"],
    "Evidence": ["docs/evidence.md", "docs/testing.md", "docs/bugs_of_others.md"],
}
# The rest, by what their paths begin with.
REST = {"Decisions": "docs/decisions/", "Source": ""}


def groups(paths):
    """[(name, [path, ...]), ...] with every path once, and no group empty."""
    left = set(paths)
    found = []
    for name, listed in GROUPS.items():
        found.append((name, [path for path in listed if path in left]))
        left -= set(listed)
    for name, prefix in REST.items():
        members = sorted(path for path in left if path.startswith(prefix))
        found.append((name, members))
        left -= set(members)
    return [group for group in found if group[1]]
