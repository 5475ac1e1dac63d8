// How a small number of descriptors is divided.
#include "embed/host/descriptor_budget.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace mortise::detail {
namespace {

Config one_of_three() {
    Config config;
    config.node_id = 1;
    config.data_dir = "/somewhere";
    config.listen = "127.0.0.1:7401";
    config.peers = {{1, "127.0.0.1:7401"}, {2, "127.0.0.1:7402"}, {3, "127.0.0.1:7403"}};
    return config;
}

TEST(DescriptorBudget, LeavesTheConfiguredBoundsWhereThereAreMany) {
    for (const auto limit : {std::uint64_t{1'024}, std::numeric_limits<std::uint64_t>::max()}) {
        const auto budget = descriptor_budget(limit, one_of_three());
        EXPECT_EQ(budget.strangers_max, 64U);
        EXPECT_EQ(budget.clients_max, LimitsConfig{}.clients);
        EXPECT_TRUE(budget.is_ample());
    }
}

TEST(DescriptorBudget, LeavesThePartOfTheProgram) {
    for (std::uint64_t limit = 40; limit <= 2'048; ++limit) {
        const auto budget = descriptor_budget(limit, one_of_three());
        EXPECT_GE(budget.strangers_max, 2U);
        EXPECT_GE(budget.clients_max, 2U);
        const auto used = budget.needed + budget.strangers_max + budget.clients_max;
        if (limit > budget.needed + 8) {
            EXPECT_LE(used, limit);
        }
        if (limit >= budget.needed + 128 + 8) {
            EXPECT_LE(used + 64, limit);
        }
    }
}

TEST(DescriptorBudget, LeavesPlacesForClientsThatAreNoNodes) {
    EXPECT_EQ(client_node_places(256), 224U);
    EXPECT_EQ(client_node_places(8), 7U);
    EXPECT_EQ(client_node_places(2), 1U);
    EXPECT_EQ(client_node_places(1), 1U);
}

TEST(DescriptorBudget, NeverExceedsWhatIsConfigured) {
    auto config = one_of_three();
    config.limits.connections = 3;
    EXPECT_EQ(descriptor_budget(4'096, config).strangers_max, 3U);
    config.limits.connections = 1;
    EXPECT_EQ(descriptor_budget(24, config).strangers_max, 1U);
}

TEST(DescriptorBudget, KnowsWhatIsTooLittle) {
    const auto few = descriptor_budget(24, one_of_three());
    EXPECT_FALSE(few.is_enough());
    EXPECT_NE(why_not_enough(few).find("24 descriptors"), std::string::npos);
    const auto some = descriptor_budget(64, one_of_three());
    EXPECT_TRUE(some.is_enough());
    EXPECT_FALSE(some.is_ample());
    EXPECT_NE(why_not_ample(some).find("64 descriptors"), std::string::npos);
    EXPECT_TRUE(descriptor_budget(24, Config::in_memory()).is_enough());
}

}  // namespace
}  // namespace mortise::detail
