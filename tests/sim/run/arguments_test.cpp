#include "tests/sim/run/arguments.hpp"

#include <sstream>

#include <gtest/gtest.h>

#include "tests/sim/run/report.hpp"
#include "tests/sim/run/seed_list.hpp"

namespace mortise::sim {
namespace {

TEST(Arguments, AreTakenAsGiven) {
    const auto parsed =
        parse({"--seeds", "7", "--first", "3", "--steps", "50", "--until-failure", "--jobs", "3"});
    const auto* arguments = std::get_if<Arguments>(&parsed);
    ASSERT_NE(arguments, nullptr);
    EXPECT_EQ(arguments->seeds, 7U);
    EXPECT_EQ(arguments->first, 3U);
    EXPECT_EQ(arguments->steps, 50U);
    EXPECT_EQ(arguments->jobs, 3U);
    EXPECT_TRUE(arguments->until_failure);
    EXPECT_FALSE(arguments->seed);
}

TEST(Arguments, AreRefusedWhenTheyMakeNoSense) {
    const std::vector<std::vector<std::string>> bad = {
        {"--sedes", "7"},    {"--seeds"},
        {"--seeds", "many"}, {"--seed", "-1"},
        {"--trace"},         {"7"},
        {"--minimise"},      {"--without", "pause,nothing"},
        {"--jobs", "0"},     {"--jobs", "257"},
    };
    for (const auto& words : bad) {
        EXPECT_TRUE(std::holds_alternative<BadArguments>(parse(words))) << words.front();
    }
}

TEST(Arguments, NameFaultsInOneWord) {
    const auto parsed = parse({"--seed", "7", "--without", "cut-split,pause"});
    const auto* arguments = std::get_if<Arguments>(&parsed);
    ASSERT_NE(arguments, nullptr);
    Faults both;
    both.set(static_cast<std::size_t>(Fault::cut_split));
    both.set(static_cast<std::size_t>(Fault::pause));
    EXPECT_EQ(arguments->without, both);
}

TEST(Arguments, EveryFaultHasAWordOfItsOwn) {
    for (std::size_t i = 0; i < fault_count; ++i) {
        EXPECT_EQ(fault_named(word_of(static_cast<Fault>(i))), static_cast<Fault>(i));
    }
    EXPECT_FALSE(fault_named("nothing"));
}

TEST(SeedList, IsWhatReplaysARunAndWhatItWas) {
    std::istringstream file{"# once\n\n--seed 7 --without pause  # slept too long\n"};
    const auto list = read_list(file);
    ASSERT_EQ(list.size(), 1U);
    EXPECT_EQ(list[0].options.seed, 7U);
    EXPECT_TRUE(list[0].options.without.test(static_cast<std::size_t>(Fault::pause)));
    EXPECT_EQ(list[0].what, "slept too long");
    EXPECT_EQ(replay_of(list[0].options), "./dev sim --seed 7 --without pause");
}

TEST(SeedList, MustMakeSense) {
    for (const auto* line : {"--seed 7", "--seed 7 #  ", "--steps 7 # no seed", "7 # no flag"}) {
        std::istringstream file{line};
        EXPECT_THROW(static_cast<void>(read_list(file)), BadList) << line;
    }
}

}  // namespace
}  // namespace mortise::sim
