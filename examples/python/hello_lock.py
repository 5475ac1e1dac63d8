"""Holds a lock. It runs alone and in memory; mortise.Node("mortise.toml") would be one process of a
cluster."""

import mortise

with mortise.Node(mortise.Config.in_memory()) as node:
    with node.acquire("orders/42") as hold:  # waits; raises mortise.LockError
        print("orders/42 is ours, token", hold.token)
        # ... work, as long as hold.valid; leaving the block releases it

    with node.acquire("orders/43") as hold:
        if (other := node.try_acquire("orders/43")) is None:
            print("somebody else has orders/43: that is no error")
