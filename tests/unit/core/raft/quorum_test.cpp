#include "core/raft/quorum.hpp"

#include <gtest/gtest.h>

#include "core/base/prng.hpp"
#include "tests/support/raft_fixture.hpp"

namespace mortise::core::test {
namespace {

// The members whose bit is set, so that every subset is one number.
std::vector<Member> members_of(unsigned bits) {
    std::vector<Member> list;
    for (unsigned id = 1; bits >> (id - 1) != 0; ++id) {
        if ((bits >> (id - 1) & 1U) != 0) list.push_back(member(id));
    }
    return list;
}

Configuration configuration_of(unsigned voter_bits, unsigned outgoing_bits) {
    return {{7, 9}, members_of(voter_bits), members_of(outgoing_bits), {}};
}

auto agrees_in(unsigned bits) {
    return [bits](NodeId id) { return (bits >> (id.raw() - 1) & 1U) != 0; };
}

int ones(unsigned bits) {
    return __builtin_popcount(bits);
}

// More than half, expressed in another way.
bool carries(unsigned members, unsigned agreeing) {
    return ones(members & agreeing) > ones(members & ~agreeing);
}

// The greatest value that a quorum has reached, found by trying all values.
std::uint64_t by_trying(const Configuration& configuration,
                        const std::vector<std::uint64_t>& reached) {
    std::uint64_t best = 0;
    for (const auto value : reached) {
        const auto there = [&](NodeId id) { return reached[id.raw() - 1] >= value; };
        if (has_quorum(configuration, there)) best = std::max(best, value);
    }
    return best;
}

// B-C2, for one to nine voters and each set of agreeing ones.
TEST(Quorum, IsMoreThanHalf) {
    for (unsigned size = 1; size <= 9; ++size) {
        const auto all = (1U << size) - 1;
        const auto configuration = configuration_of(all, 0);
        for (unsigned agreeing = 0; agreeing <= all; ++agreeing)
            EXPECT_EQ(has_quorum(configuration, agrees_in(agreeing)), carries(all, agreeing));
    }
}

TEST(Quorum, WhileJointNeedsBoth) {  // B-M8
    constexpr unsigned all = 0x1f;
    for (unsigned voting = 1; voting <= all; ++voting) {
        for (unsigned outgoing = 1; outgoing <= all; ++outgoing) {
            const auto configuration = configuration_of(voting, outgoing);
            for (unsigned agreeing = 0; agreeing <= all; ++agreeing) {
                EXPECT_EQ(has_quorum(configuration, agrees_in(agreeing)),
                          carries(voting, agreeing) && carries(outgoing, agreeing));
            }
        }
    }
}

TEST(Quorum, TwoOfThemAlwaysMeet) {  // B-C2
    for (unsigned size = 1; size <= 7; ++size) {
        const auto all = (1U << size) - 1;
        const auto configuration = configuration_of(all, 0);
        for (unsigned a = 0; a <= all; ++a) {
            if (!has_quorum(configuration, agrees_in(a))) continue;
            EXPECT_FALSE(has_quorum(configuration, agrees_in(all & ~a)));
        }
    }
}

TEST(Quorum, NobodyToAskIsNoAgreement) {
    EXPECT_FALSE(has_quorum(Configuration{}, [](NodeId) { return true; }));
}

TEST(Quorum, LearnersDoNotCount) {  // B-M8
    auto configuration = configuration_of(0x7, 0);
    configuration.learners = members({4, 5});
    EXPECT_FALSE(has_quorum(configuration, agrees_in(0x19)));
    const auto reached = [](NodeId id) { return id == n4 || id == n5 ? 9 : 1; };
    EXPECT_EQ(quorum_value(configuration, reached), 1);
}

TEST(QuorumValue, IsWhatTryingEveryValueFinds) {  // B-C4
    Prng prng{5};
    for (int round = 0; round < 20'000; ++round) {
        std::vector<std::uint64_t> reached(9);
        for (auto& value : reached)
            value = prng.below(6);
        const auto voting = static_cast<unsigned>(1 + prng.below(0x1ff));
        const auto outgoing = prng.one_in(2) ? static_cast<unsigned>(prng.below(0x200)) : 0U;
        const auto configuration = configuration_of(voting, outgoing);
        const auto found =
            quorum_value(configuration, [&](NodeId id) { return reached[id.raw() - 1]; });
        ASSERT_EQ(found, by_trying(configuration, reached)) << voting << " " << outgoing;
    }
}

TEST(QuorumValue, WithOneVoterIsItsValue) {
    EXPECT_EQ(quorum_value(voters({3}), [](NodeId id) { return id.raw() * 10; }), 30U);
}

}  // namespace
}  // namespace mortise::core::test
