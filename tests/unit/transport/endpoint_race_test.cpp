#include "transport/sockets/endpoint_race.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mortise::transport {
namespace {

using namespace std::chrono_literals;
using core::Instant;
using testing::ElementsAre;

constexpr Instant start{1'000'000'000'000};

// Lets the time go by, and notes when each attempt begins, in milliseconds.
struct Timed {
    explicit Timed(EndpointRace& race, core::Nanoseconds limit) {
        for (auto now = start; now <= start + limit; now = now + 1ms) {
            while (const auto begin = race.take_due(now)) {
                began.push_back((now - start) / 1ms);
                places.push_back(begin->place);
                if (begin->instead_of) given_up.push_back(*begin->instead_of);
            }
        }
    }
    std::vector<std::int64_t> began;
    std::vector<std::size_t> places;
    std::vector<std::size_t> given_up;
};

TEST(EndpointRace, BeginsTheNextAttemptAfterAMoment) {
    EndpointRace race{5s};
    race.add(3);
    const Timed timed{race, 5s};
    EXPECT_THAT(timed.began, ElementsAre(0, 250, 500));
    EXPECT_THAT(timed.places, ElementsAre(0, 1, 2));
    EXPECT_THAT(timed.given_up, ElementsAre());
    EXPECT_TRUE(race.has_begun_all());
    EXPECT_FALSE(race.is_lost());
}

TEST(EndpointRace, BeginsTheNextAttemptAtOnceWhenOneHasFailed) {
    EndpointRace race{5s};
    race.add(2);
    ASSERT_TRUE(race.take_due(start));
    EXPECT_FALSE(race.take_due(start));
    race.failed(0);
    ASSERT_TRUE(race.take_due(start));
    EXPECT_FALSE(race.is_lost());
    race.failed(1);
    EXPECT_TRUE(race.is_lost());
}

TEST(EndpointRace, LeavesTimeForTheLastOneWithLittlePatience) {
    EndpointRace race{160ms};
    race.add(2);
    EXPECT_THAT(Timed(race, 160ms).began, ElementsAre(0, 40));
    EndpointRace many{5s};
    many.add(50);
    EXPECT_EQ(Timed(many, 5s).began.back(), 49 * 50);
}

TEST(EndpointRace, HasFewOpenAttemptsAndGivesUpTheOldest) {
    EndpointRace race{5s};
    race.add(6);
    const Timed timed{race, 5s};
    EXPECT_THAT(timed.began, ElementsAre(0, 250, 500, 750, 1000, 1250));
    EXPECT_THAT(timed.given_up, ElementsAre(0, 1));
    race.failed(0);  // was given up: nothing is due because of it
    for (const std::size_t place : {2, 3, 4, 5}) {
        EXPECT_FALSE(race.is_lost());
        race.failed(place);
    }
    EXPECT_TRUE(race.is_lost());
}

// The endpoints of the name, when the last known one has not answered for a moment.
TEST(EndpointRace, WantsMoreEndpointsWhenTheNextAttemptIsDue) {
    EndpointRace race{5s};
    race.add(1);
    ASSERT_TRUE(race.take_due(start));
    EXPECT_FALSE(race.wants_more(start));
    EXPECT_EQ(race.due(), start + 250ms);
    EXPECT_TRUE(race.wants_more(race.due()));
    race.add(1);
    EXPECT_FALSE(race.wants_more(race.due()));
    EXPECT_EQ(race.take_due(race.due())->place, 1U);
    race.failed(1);
    EXPECT_TRUE(race.wants_more(start));
}

}  // namespace
}  // namespace mortise::transport
