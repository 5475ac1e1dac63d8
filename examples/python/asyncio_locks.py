"""Many tasks of one program take turns, and no thread waits for them."""

import asyncio

import mortise
from mortise import aio


async def order(node, number):
    async with aio.lock(node, "orders/42") as hold:
        print("order", number, "has token", hold.token)
        work = asyncio.create_task(asyncio.sleep(0.01))  # ... work with the token
        lost = asyncio.create_task(hold.lost.wait())
        await asyncio.wait({work, lost}, return_when=asyncio.FIRST_COMPLETED)
        work.cancel()  # without effect when it is done
        lost.cancel()
    # The block released the lock; it raises mortise.LockLost if the lock was lost.


async def main(node):
    await asyncio.gather(*(order(node, number) for number in range(20)))
    pool = mortise.Semaphore(node, "pool", 3)
    async with aio.permits(pool, 2) as hold:
        print("permits", hold.slots)


with mortise.Node(mortise.Config.in_memory()) as one_node:
    asyncio.run(main(one_node))
