#include "embed/api/argument_errors.hpp"

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;

std::string_view part(std::string name, const AcquireOptions& options) {
    return unsound_part({std::move(name), options, Attempt::wait, {}});
}

// Options that are refused, with a word that the reason must contain.
std::vector<std::pair<std::string, AcquireOptions>> refused() {
    return {
        {"label", {.label = std::string(257, 'x')}},
        {"LockMode", {.mode = static_cast<LockMode>(6)}},
        {"max_hold", {.max_hold = 0s}},
        {"max_hold", {.max_hold = std::chrono::days{25}}},
        {"min_hold", {.min_hold = -1s}},
        {"min_hold", {.min_hold = std::chrono::days{25}}},
        {"progress_timeout", {.progress_timeout = 0s}},
        {"lock_delay", {.lock_delay = -1s}},
        {"priority", {.priority = -1}},
        {"queue policy", {.queue_policy = static_cast<QueuePolicy>(4)}},
        {"OnUncertain", {.on_uncertain = static_cast<OnUncertain>(2)}},
        {"on_suspended", {.on_suspended = [] {}}},
    };
}

TEST(UnsoundCalls, OfNoNameAreRefused) {
    const std::string_view why = "a name has 1 to 512 bytes";
    EXPECT_EQ(unsound_count_down("", 1), why);
    EXPECT_EQ(unsound_wait("", {}), why);
    EXPECT_EQ(unsound_arrival("", true, {}), why);
    EXPECT_EQ(unsound_resize("", 1), why);
    EXPECT_EQ(unsound_count_down("x", 1), "");
    EXPECT_EQ(unsound_wait("x", {}), "");
    EXPECT_EQ(unsound_arrival("x", true, {}), "");
    EXPECT_EQ(unsound_resize("x", 0), "");
}

TEST(UnsoundPart, NamesTheOptionThatIsRefused) {
    for (const auto& [word, options] : refused()) {
        EXPECT_NE(part("x", options).find(word), std::string_view::npos) << part("x", options);
    }
}

TEST(UnsoundPart, IsTheNameBeforeTheOptions) {
    for (const auto& name : {std::string{}, std::string(513, 'x')})
        EXPECT_EQ(part(name, {.priority = -1}), "a name has 1 to 512 bytes");
}

TEST(UnsoundPart, SaysWhatIsWrongWithPermits) {
    const auto part_of = [](Permits permits, const AcquireOptions& options) {
        AcquireOrder order{"pool", options, Attempt::wait, {}};
        order.permits = permits;
        return unsound_part(order);
    };
    EXPECT_EQ(part_of({1'024, 65'536}, {}), "");
    EXPECT_EQ(part_of({0, 3}, {}), "an acquire takes 1 to 1,024 permits at a time");
    EXPECT_EQ(part_of({1'025, 3}, {}), "an acquire takes 1 to 1,024 permits at a time");
    EXPECT_EQ(part_of({1, 0}, {}), "a limit is 1 to 65,536");
    EXPECT_EQ(part_of({1, 3}, {.mode = LockMode::shared}),
              "a semaphore has neither modes nor queue policies");
    EXPECT_EQ(part_of({1, 3}, {.queue_policy = QueuePolicy::fifo}),
              "a semaphore has neither modes nor queue policies");
    EXPECT_EQ(unsound_limit(0, 0), "");
    EXPECT_EQ(unsound_limit(65'537, 0), "a limit is at most 65,536");
}

AcquireOrder for_several(std::vector<LockRequest> requests, bool all, int priority = 0) {
    AcquireOrder order{{}, {.priority = priority}, Attempt::wait, {}};
    order.several = {std::move(requests), all};
    return order;
}

std::vector<LockRequest> numbered(std::size_t count) {
    std::vector<LockRequest> requests;
    for (std::size_t i = 0; i < count; ++i)
        requests.push_back({"x" + std::to_string(i)});
    return requests;
}

TEST(UnsoundPart, OfSeveralNamesIsThatOfOneOfThem) {
    const auto mode = static_cast<LockMode>(9);
    for (const auto& [words, order, name] :
         std::vector<std::tuple<std::string_view, AcquireOrder, std::string_view>>{
             {"the list of names is empty", for_several({}, true), ""},
             {"a name has 1 to 512 bytes", for_several({{"a"}, {""}}, true), ""},
             {"mode is not a valid LockMode", for_several({{"a"}, {"b", mode}}, false), "b"},
             {"the list has the name in two modes",
              for_several({{"a"}, {"b"}, {"b", LockMode::shared}}, true), "b"},
             {"a call for all names has no priority", for_several({{"a"}, {"b"}}, true, 1), "a"},
             {"a call is for at most 64 names", for_several(numbered(65), true), "x0"},
             {"a priority is from 0 to 7", for_several({{"a"}}, false, 8), "a"},
         }) {
        EXPECT_EQ(unsound_part(order), words);
        EXPECT_EQ(blamed_name(order), name) << words;
    }
}

TEST(UnsoundPart, OfSeveralNamesIsEmptyWhenNothingIsWrong) {
    auto twice = numbered(64);
    twice.push_back(twice.front());
    EXPECT_EQ(unsound_part(for_several(twice, true)), "");
    EXPECT_EQ(unsound_part(for_several({{"a"}}, false, 7)), "");
    EXPECT_EQ(blamed_name(for_several({{"b"}, {"a"}}, true)), "b");
}

TEST(UnsoundPart, IsEmptyWhenNothingIsWrong) {
    EXPECT_EQ(part("x", {}), "");
    const AcquireOptions options{.mode = LockMode::shared,
                                 .label = std::string(256, 'x'),
                                 .wait_max = 1s,
                                 .max_hold = 1ns,
                                 .min_hold = 0s,
                                 .progress_timeout = std::chrono::days{24},
                                 .lock_delay = std::chrono::days{24},
                                 .queue_policy = QueuePolicy::fifo};
    EXPECT_EQ(part(std::string(512, 'x'), options), "");
}

}  // namespace
}  // namespace mortise::detail
