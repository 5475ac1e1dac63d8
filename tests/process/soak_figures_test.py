"""What a soak calls growth."""

import unittest

import soak_figures
from soak_figures import CLIENT, LASTING, MINUTE, RESTARTED, judged, page, verdict

HOUR = 60 * MINUTE
LONG = soak_figures.SAWTOOTH
LIFE = 15 * MINUTE


def sample(at, who, age, **figures):
    return {"at": at, "who": who, "age": age, "memory": 50, "descriptors": 40, "threads": 15,
            "cpu": 20, "rate": 300, "p50": 3, "p99": 40, "gap": 200,
            **({"disk": 64} if who != CLIENT else {}),
            **({"names": 10, "sessions": 4} if who == LASTING else {}), **figures}


def samples(length=LONG, **grow):
    """One a minute and process; the figures that grow are functions of the sample's quarter."""
    found = []
    for minute in range(length // MINUTE):
        at = minute * MINUTE
        for who in (RESTARTED, LASTING, CLIENT):
            figures = {key: of(4 * at // length) for key, of in grow.items()}
            found.append(sample(at, who, at % LIFE if who == RESTARTED else at, **figures))
    return found


def complaints(found, length=LONG):
    return judged(found, length, LIFE)[1]


class Growth(unittest.TestCase):
    def grows(self, *words, **grow):
        self.assertEqual(complaints(samples(**grow)), [f"{each}: grew" for each in words])

    def test_what_stays_does_not_grow(self):
        self.grows()

    def test_every_figure_can_grow(self):
        keys = {figure.key for figure in soak_figures.FIGURES if figure.factor}
        self.assertEqual(keys, {"memory", "descriptors", "threads", "disk", "names", "sessions",
                                "p50", "p99", "gap"})
        for key in keys:
            found = complaints(samples(**{key: lambda quarter: 1000 * 4 ** quarter}))
            self.assertTrue(found and all("grew" in each for each in found), key)

    def test_the_first_quarter_is_that_of_caches(self):
        self.grows(memory=lambda quarter: 50 if quarter else 10)

    def test_a_little_is_noise(self):
        self.grows(memory=lambda quarter: 50 + 2 * quarter, p99=lambda quarter: 40 + 20 * quarter)

    def test_a_sawtooth_does_not_grow_unless_its_least_does(self):
        teeth = samples()
        for place, each in enumerate(teeth):
            if each["who"] == LASTING:
                each["memory"] += place % 50
        self.assertEqual(complaints(teeth), [])
        for each in teeth:
            if each["who"] == LASTING and each["at"] >= LONG // 4 * 3:
                each["memory"] += 20
        self.assertEqual(complaints(teeth), ["lasting member: least own memory, MiB: grew"])

    def test_one_bad_sample_is_noise_except_in_a_gap(self):
        found = samples()
        last = len(found) - 1
        found[last] = sample(LONG - MINUTE, CLIENT, HOUR, memory=900, p99=9000, gap=9000)
        self.assertEqual(complaints(found), ["client: longest time without a grant, ms: grew"])

    def test_the_limit_itself(self):
        self.grows(threads=lambda quarter: 15 + quarter)
        self.grows(*(f"{who}: threads" for who in (RESTARTED, LASTING, CLIENT)),
                   threads=lambda quarter: 15 + 2 * quarter)

    def test_members_of_equal_age_are_compared(self):
        """The second quarter has many young processes, which have little memory yet."""
        young = [sample(at, RESTARTED, 10, memory=10) for at in range(LONG // 4, LONG // 2, 5)]
        self.assertEqual(complaints(samples() + young), [])
        old = [sample(at, RESTARTED, LIFE, memory=90) for at in range(LONG // 4 * 3, LONG, 5)]
        self.assertEqual(complaints(samples() + young + old),
                         ["restarted member: own memory, MiB: grew"])


class Length(unittest.TestCase):
    def test_a_short_run_is_not_judged(self):
        short = 8 * MINUTE
        found = samples(short, threads=lambda quarter: 10 ** quarter)
        self.assertEqual(complaints(found, short), [])

    def test_what_begins_anew_is_judged_in_a_long_one(self):
        found = samples(HOUR, memory=lambda quarter: 60 * quarter)
        self.assertEqual(complaints(found, HOUR), ["restarted member: own memory, MiB: grew",
                                                   "client: own memory, MiB: grew"])

    def test_nor_is_one_whose_members_have_not_reached_their_age(self):
        self.assertEqual(complaints(samples(29 * MINUTE, disk=lambda quarter: 10 ** quarter),
                                    29 * MINUTE), [])

    def test_a_quarter_without_samples_is_no_success(self):
        found = [each for each in samples() if each["at"] < LONG // 4 * 3]
        self.assertIn("client: threads: no samples", complaints(found))


class Page(unittest.TestCase):
    def test_its_verdict(self):
        for words, *given in (("It failed", ["node 1 lost 1 holds"], False, False),
                              ("It still runs", [], False, True), ("too short", [], True, True),
                              ("Nothing that was judged grew", [], True, False)):
            self.assertIn(words, verdict(*given))

    def test_it_has_a_row_for_each_figure(self):
        rows, _ = judged(samples(), LONG, LIFE)
        text = page("It passed.", ["a", "b"], {"took": "an hour"}, rows)
        self.assertIn("| client: threads | 15.0 | 15.0 | 15.0 | 15.0 | 17.0 | did not grow |", text)
        self.assertIn("\n- a\n- b\n", text)


if __name__ == "__main__":
    unittest.main()
