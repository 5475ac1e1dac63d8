"""How a hold ends: what its client releases is released, and what a client loses that was not heard
is lost. ends_test.py PROGRAM"""

import time
import unittest

from door import DoorCase, Raw
from program import wait_until

DELAY = 3  # the lock_delay, in seconds
RELEASED = ("clean", "none")  # of a name that was waited for, and of one that was not


class Ends(DoorCase):
    def next_one(self, name=None, more=""):
        """How the hold before the next one ended."""
        with self.door.stream(f"/v1/hold/{name or self.name}{more}") as stream:
            return stream.begin()["previous"]

    def lapse(self, **wish):
        """A session that holds that, and is not kept alive."""
        session = self.door.session(ttl="1s")
        self.assertEqual(self.door.acquire(session, **wish)[0], 201)
        return time.monotonic()

    def test_a_session_that_lapses_loses_its_holds(self):
        self.lapse(name=self.name)
        self.assertEqual(self.next_one(), "expired")

    def test_then_the_lock_delay_begins(self):
        begin = self.lapse(name=self.name, lock_delay=f"{DELAY}s")
        self.assertEqual(self.next_one(), "expired")
        self.assertGreater(time.monotonic(), begin + DELAY)

    def test_also_for_several_names(self):
        names = [self.name + "/1", self.name + "/2"]
        begin = self.lapse(names=names, lock_delay=f"{DELAY}s")
        streams = [self.enterContext(self.door.stream("/v1/hold/" + name)) for name in names]
        self.assertEqual([each.begin()["previous"] for each in streams], 2 * ["expired"])
        self.assertGreater(time.monotonic(), begin + DELAY)

    def test_also_for_permits(self):
        self.lapse(name=self.name, permits=2, limit=2)
        self.assertEqual(self.next_one(more="?permits=1&limit=2"), "expired")

    def test_also_for_what_the_session_shares(self):
        session = self.door.session(ttl="1s")
        for _ in range(2):
            self.assertEqual(self.door.acquire(session, name=self.name)[0], 201)
        self.assertEqual(self.next_one(), "expired")

    def test_also_for_a_name_that_the_node_keeps(self):
        for _ in range(4):  # it is taken again by the same process
            with self.door.stream(f"/v1/hold/{self.name}") as stream:
                stream.begin()
        with self.door.stream(f"/v1/hold/{self.name}?ttl=1s&confirm=1") as stream:
            stream.begin()
            self.assertEqual(self.next_one(), "expired")
            self.assertEqual(stream.until("lost")["error"], "session_expired")

    def test_a_stream_that_is_not_confirmed_is_lost(self):
        with self.door.stream(f"/v1/hold/{self.name}?ttl=1s&confirm=1"
                              f"&lock_delay={DELAY}s") as stream:
            stream.begin()
            self.assertEqual(self.next_one(), "expired")
            self.assertGreater(time.monotonic(), stream.sent + DELAY)

    def test_what_the_client_ends_is_released(self):
        delay = "?lock_delay=1h"
        with self.door.stream(f"/v1/hold/{self.name}{delay}") as stream:
            stream.begin()
        self.assertIn(self.next_one(), RELEASED)
        for end in ("{}", "{}/holds/1"):
            session = self.door.session()
            self.assertEqual(self.door.acquire(session, name=self.name, lock_delay="1h")[0], 201)
            self.assertEqual(self.door.ask("DELETE", end.format(session))[0], 204)
            self.assertIn(self.next_one(), RELEASED)

    def test_what_it_could_not_be_told_is_released(self):
        session = self.door.session()
        with self.door.stream(f"/v1/hold/{self.name}") as stream:
            stream.begin()
            raw = Raw(self.door).acquire(session, name=self.name, lock_delay="1h")
            wait_until(lambda: self.door.get(f"/v1/locks/{self.name}")["waiters"])
            raw.close()
        self.assertIn(self.next_one(), RELEASED)


class Leaders(DoorCase):
    """A leader that ends takes its value with it."""

    def expect_nothing_left(self):
        wait_until(lambda: not self.holders())
        status, lock = self.door.ask("GET", f"/v1/locks/{self.name}")
        self.assertEqual((status, lock.get("value")), (200, None), lock)

    def leads(self):
        self.assertEqual(self.door.get(f"/v1/leader/{self.name}")["leader"]["value"], "me")

    def test_its_connection(self):
        with self.door.stream(f"/v1/lead/{self.name}?value=me") as stream:
            stream.begin()
            self.leads()
        self.expect_nothing_left()

    def test_its_session_or_its_hold(self):
        for end in ("{}", "{}/holds/1"):
            session = self.door.session()
            self.assertEqual(self.door.acquire(session, name=self.name, campaign="me")[0], 201)
            self.leads()
            self.assertEqual(self.door.ask("DELETE", end.format(session))[0], 204)
            self.expect_nothing_left()

    def test_who_follows_sees_nobody_and_then_the_next_one(self):
        follower = self.door.stream(f"/v1/follow/{self.name}")
        self.addCleanup(follower.close)
        self.assertEqual(follower.begin(), {"leader": None})
        for value in ("one", "other"):
            with self.door.stream(f"/v1/lead/{self.name}?value={value}") as stream:
                stream.begin()
                self.assertEqual(follower.line()["leader"]["value"], value)
            self.assertEqual(follower.line(), {"leader": None})


if __name__ == "__main__":
    unittest.main()
