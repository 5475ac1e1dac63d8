// What mortise.h tells of locks, sessions and changes.
#include <atomic>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/capi/one_c_node.hpp"

namespace mortise::capi {
namespace {

using Json = nlohmann::json;

class CLook : public OneCNode {
protected:
    template <class Call>
    static Json told(const Call& call) {
        return Json::parse(text_told(call), nullptr, false);
    }
    Json inspect(std::string_view name, mortise_read_level level = MORTISE_READ_LINEARIZABLE) {
        return told([&](auto json, auto length, auto error) {
            return mortise_node_inspect(node_, name.data(), name.size(), level, json, length,
                                        error);
        });
    }
    std::vector<std::string> names(std::string_view prefix, std::string_view after,
                                   std::size_t limit) {
        std::vector<std::string> found;
        const auto page = told([&](auto json, auto length, auto error) {
            return mortise_node_list(node_, prefix.data(), prefix.size(), after.data(),
                                     after.size(), limit, MORTISE_READ_LINEARIZABLE, json, length,
                                     error);
        });
        for (const auto& lock : page)
            found.push_back(lock.at("name"));
        return found;
    }
};

TEST_F(CLook, AnInspectedLockShowsItsHolderAndItsValue) {
    mortise_acquire_options options = MORTISE_ACQUIRE_OPTIONS_INIT;
    options.label = "me";
    options.label_length = 2;
    auto* const hold = acquire("x", &options);
    ASSERT_EQ(mortise_hold_set_value(hold, "\xff", 1, nullptr), MORTISE_OK);
    for (const auto level : {MORTISE_READ_LINEARIZABLE, MORTISE_READ_LOCAL}) {
        const auto lock = inspect("x", level);
        EXPECT_EQ(lock.at("name"), "x");
        EXPECT_EQ(lock.at("kind"), "lock");
        EXPECT_EQ(lock.at("value").at("bytes").at("hex"), "ff");
        ASSERT_EQ(lock.at("holders").size(), 1U);
        const auto& holder = lock.at("holders").at(0);
        EXPECT_EQ(holder.at("label"), "me");
        EXPECT_EQ(holder.at("mode"), "exclusive");
        EXPECT_EQ(holder.at("token"), std::to_string(mortise_hold_token(hold)));
    }
    mortise_hold_free(hold);
    EXPECT_TRUE(inspect("nobody uses it").at("holders").empty());
}

TEST_F(CLook, AValueIsDirtyAfterALossUntilItIsDeclaredConsistent) {
    auto* const lost = acquire_for_a_while("x", 50 * ms);
    ASSERT_EQ(mortise_hold_set_value(lost, "v", 1, nullptr), MORTISE_OK);
    auto* const hold = acquire("x");
    EXPECT_EQ(inspect("x").at("value").at("dirty"), true);
    EXPECT_EQ(mortise_hold_consistent(hold, nullptr), MORTISE_OK);
    EXPECT_EQ(inspect("x").at("value").at("dirty"), false);
    EXPECT_EQ(mortise_hold_consistent(lost, nullptr), MORTISE_LOCK_LOST);
    mortise_hold_free(lost);
    mortise_hold_free(hold);
}

TEST_F(CLook, AListHasPages) {
    std::vector<mortise_hold*> holds;
    for (const char* name : {"a/1", "a/2", "a/3", "b"})
        holds.push_back(acquire(name));
    using Names = std::vector<std::string>;
    EXPECT_EQ(names("a/", "", 2), (Names{"a/1", "a/2"}));
    EXPECT_EQ(names("a/", "a/2", 2), (Names{"a/3"}));
    EXPECT_EQ(names("", "", SIZE_MAX).size(), 4U);
    for (auto* const hold : holds)
        mortise_hold_free(hold);
}

TEST_F(CLook, TheSessionsAreCounted) {
    auto* const hold = acquire("x");
    for (const auto level : {MORTISE_READ_LINEARIZABLE, MORTISE_READ_LOCAL}) {
        const auto sessions = told([&](auto json, auto length, auto error) {
            return mortise_node_sessions(node_, level, json, length, error);
        });
        ASSERT_EQ(sessions.size(), 1U);
        EXPECT_EQ(sessions.at(0).at("node"), 1);
        EXPECT_EQ(sessions.at(0).at("holds"), 1);
    }
    mortise_hold_free(hold);
}

TEST_F(CLook, WrongArgumentsAreRefused) {
    char* json = nullptr;
    std::size_t length = 7;
    const auto refuses = [&](const char* why, const auto& call) {
        mortise_error* error = nullptr;
        EXPECT_EQ(call(&error), MORTISE_INVALID_ARGUMENT) << why;
        EXPECT_NE(message_of(error).find(why), std::string::npos) << why;
        EXPECT_EQ(json, nullptr);
        EXPECT_EQ(length, 0U);
    };
    const auto inspects = [&](mortise_node* node, const char* name, std::size_t size,
                              mortise_read_level level) {
        return [&, node, name, size, level](mortise_error** error) {
            return mortise_node_inspect(node, name, size, level, &json, &length, error);
        };
    };
    refuses("node is NULL", inspects(nullptr, "x", 1, 0));
    refuses("name is NULL", inspects(node_, nullptr, 1, 0));
    refuses("1 to 512 bytes", inspects(node_, "", 0, 0));
    refuses("level is no read level", inspects(node_, "x", 1, 2));
    refuses("limit is 0", [&](auto error) {
        return mortise_node_list(node_, "", 0, "", 0, 0, 0, &json, &length, error);
    });
    refuses("prefix is NULL", [&](auto error) {
        return mortise_node_list(node_, nullptr, 1, "", 0, 1, 0, &json, &length, error);
    });
    refuses("after is NULL", [&](auto error) {
        return mortise_node_list(node_, "", 0, nullptr, 1, 1, 0, &json, &length, error);
    });
    refuses("level is no read level",
            [&](auto error) { return mortise_node_sessions(node_, -1, &json, &length, error); });
    EXPECT_EQ(mortise_node_inspect(node_, "x", 1, 0, nullptr, &length, nullptr),
              MORTISE_INVALID_ARGUMENT);
    mortise_node_close(node_);
    EXPECT_EQ(mortise_node_sessions(node_, 0, &json, &length, nullptr), MORTISE_NODE_STOPPED);
    EXPECT_EQ(mortise_node_inspect(node_, "x", 1, 0, &json, &length, nullptr),
              MORTISE_NODE_STOPPED);
}

// --- changes

// What an observation was told.
struct Seen {
    std::atomic<int> destroyed = 0;

    void add(const char* json, std::size_t length) {
        const std::lock_guard lock{mutex_};
        events_.push_back(Json::parse(json, json + length));
    }
    // The first event of that kind about the name; null if there is none yet.
    [[nodiscard]] Json find(std::string_view kind, std::string_view name = {}) {
        const std::lock_guard lock{mutex_};
        for (const auto& event : events_) {
            const bool is_it = event.at("event") == kind &&
                               (name.empty() || event.value("name", std::string{}) == name);
            if (is_it) return event;
        }
        return {};
    }
    [[nodiscard]] bool comes(std::string_view kind, std::string_view name = {}) {
        return comes_true([&] { return !find(kind, name).is_null(); });
    }

private:
    std::mutex mutex_;
    std::vector<Json> events_;
};

class CObserve : public CLook {
protected:
    static void see(void* context, const char* json, std::size_t length) {
        static_cast<Seen*>(context)->add(json, length);
    }
    static void count_end(void* context) { ++static_cast<Seen*>(context)->destroyed; }

    int observe(std::string_view prefix, Seen& seen, mortise_observation** observation,
                const mortise_observe_options* options = nullptr) {
        return mortise_node_observe(node_, prefix.data(), prefix.size(), options, see, &seen,
                                    count_end, observation, nullptr);
    }
};

TEST_F(CObserve, TheStateIsToldAndThenEachChange) {
    auto* const before = acquire("a/1");
    Seen seen;
    mortise_observation* observation = nullptr;
    ASSERT_EQ(observe("a/", seen, &observation), MORTISE_OK);
    EXPECT_TRUE(seen.comes("state_complete"));
    EXPECT_EQ(seen.find("state", "a/1").at("holders").size(), 1U);
    auto* const hold = acquire("a/2");
    auto* const other = acquire("b");
    EXPECT_TRUE(seen.comes("granted", "a/2"));
    EXPECT_EQ(seen.find("granted", "a/2").at("holder").at("token"),
              std::to_string(mortise_hold_token(hold)));
    ASSERT_EQ(mortise_hold_set_value(hold, "v", 1, nullptr), MORTISE_OK);
    EXPECT_TRUE(seen.comes("value_set", "a/2"));
    EXPECT_EQ(seen.find("value_set").at("value").at("bytes"), "v");
    const std::string position = seen.find("value_set").at("position");
    mortise_hold_free(hold);
    EXPECT_TRUE(seen.comes("released", "a/2"));
    EXPECT_TRUE(seen.find("granted", "b").is_null());
    mortise_observation_free(observation);
    EXPECT_EQ(seen.destroyed, 1);

    Seen later;
    mortise_observe_options options = MORTISE_OBSERVE_OPTIONS_INIT;
    options.position = position.data();
    options.position_length = position.size();
    options.only_this_name = 1;
    ASSERT_EQ(observe("a/2", later, &observation, &options), MORTISE_OK);
    EXPECT_TRUE(later.comes("released", "a/2"));
    EXPECT_TRUE(later.find("gap").is_null());
    mortise_observation_free(observation);
    mortise_hold_free(other);
    mortise_hold_free(before);
}

TEST_F(CObserve, WrongArgumentsAreRefused) {
    Seen seen;
    mortise_observation* observation = nullptr;
    mortise_observe_options options = MORTISE_OBSERVE_OPTIONS_INIT;
    options.position = "no position";
    options.position_length = 11;
    EXPECT_EQ(observe("", seen, &observation, &options), MORTISE_INVALID_ARGUMENT);
    options = MORTISE_OBSERVE_OPTIONS_INIT;
    options.reserved = 1;
    EXPECT_EQ(observe("", seen, &observation, &options), MORTISE_INVALID_ARGUMENT);
    options.size = 8;
    EXPECT_EQ(observe("", seen, &observation, &options), MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(observe(std::string(513, 'x'), seen, &observation), MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(observe("", seen, nullptr), MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(mortise_node_observe(node_, "", 0, nullptr, nullptr, &seen, count_end, &observation,
                                   nullptr),
              MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(observation, nullptr);
    EXPECT_EQ(seen.destroyed, 6);
}

// --- what an operator does

TEST_F(CLook, ABrokenLockIsLost) {
    const auto breaks = [&](const char* name, auto function) {
        auto* const hold = acquire(name);
        const std::string_view text{name};
        const auto token = mortise_hold_token(hold);
        EXPECT_EQ(function(node_, name, text.size(), token + 1, "", 0, nullptr), MORTISE_NOT_HELD);
        EXPECT_EQ(function(node_, name, text.size(), token, "why", 3, nullptr), MORTISE_OK);
        EXPECT_TRUE(comes_true([&] { return mortise_hold_state(hold) == MORTISE_HOLD_LOST; }));
        EXPECT_EQ(mortise_hold_why_lost(hold), MORTISE_LOSS_BROKEN);
        mortise_hold_free(hold);
    };
    breaks("confirmed", mortise_node_break_lock);
    breaks("now", mortise_node_break_lock_now);
    EXPECT_EQ(mortise_node_break_lock_now(nullptr, "x", 1, 1, "", 0, nullptr),
              MORTISE_INVALID_ARGUMENT);
}

TEST_F(CLook, AnEvictedSessionLosesItsHolds) {
    auto* const hold = acquire("x");
    const auto sessions = told([&](auto json, auto length, auto error) {
        return mortise_node_sessions(node_, MORTISE_READ_LINEARIZABLE, json, length, error);
    });
    const std::uint64_t session = sessions.at(0).at("session");
    for (auto* const evict : {mortise_node_evict, mortise_node_evict_now}) {
        EXPECT_EQ(evict(node_, session + 1, "why", 3, nullptr), MORTISE_NOT_HELD);
        EXPECT_EQ(evict(node_, session, nullptr, 1, nullptr), MORTISE_INVALID_ARGUMENT);
        EXPECT_EQ(evict(nullptr, session, "why", 3, nullptr), MORTISE_INVALID_ARGUMENT);
    }
    // The caller evicts its own session, so it may not get the answer.
    const int code = mortise_node_evict_now(node_, session, "why", 3, nullptr);
    EXPECT_TRUE(code == MORTISE_OK || code == MORTISE_OUTCOME_UNKNOWN) << code;
    EXPECT_TRUE(comes_true([&] { return mortise_hold_state(hold) == MORTISE_HOLD_LOST; }));
    mortise_hold_free(hold);
}

// How it was broken is in the log of each node.
TEST(CLookAlone, ALockThatIsBrokenNowIsBrokenAtOnce) {
    struct Lines {
        std::mutex mutex;
        std::string text;
    } lines;
    const auto keep = [](void* context, mortise_log_level, const char* line, std::size_t length) {
        auto& kept = *static_cast<Lines*>(context);
        const std::lock_guard lock{kept.mutex};
        kept.text.append(line, length) += '\n';
    };
    const auto has = [&](const std::string& words) {
        return comes_true([&] {
            const std::lock_guard lock{lines.mutex};
            return lines.text.find(words) != std::string::npos;
        });
    };
    mortise_config* config = nullptr;
    mortise_node* node = nullptr;
    mortise_hold* hold = nullptr;
    ASSERT_EQ(mortise_config_in_memory(&config, nullptr), MORTISE_OK);
    ASSERT_EQ(mortise_config_set_log(config, MORTISE_LOG_WARN, keep, &lines, nullptr, nullptr),
              MORTISE_OK);
    ASSERT_EQ(mortise_node_open(config, &node, nullptr), MORTISE_OK);
    ASSERT_EQ(mortise_node_acquire(node, "x", 1, nullptr, &hold, nullptr), MORTISE_OK);
    ASSERT_EQ(
        mortise_node_break_lock_now(node, "x", 1, mortise_hold_token(hold), "why", 3, nullptr),
        MORTISE_OK);
    EXPECT_TRUE(has("broke \"x\", token 1, at once: why"));
    mortise_hold_free(hold);
    mortise_node_free(node);
    mortise_config_free(config);
}

TEST_F(CLook, AReleaseIsAskedForOfHoldersAlone) {
    auto* const hold = acquire("x");
    EXPECT_EQ(mortise_node_request_release(node_, "x", 1, "please", 6, nullptr), MORTISE_OK);
    EXPECT_EQ(mortise_hold_valid(hold), 1);
    EXPECT_EQ(mortise_node_request_release(node_, "free", 4, "", 0, nullptr), MORTISE_NOT_HELD);
    EXPECT_EQ(mortise_node_request_release(node_, "x", 1, nullptr, 1, nullptr),
              MORTISE_INVALID_ARGUMENT);
    mortise_hold_free(hold);
}

TEST_F(CLook, ALeaderPublishesAnotherValue) {
    mortise_election* election = nullptr;
    mortise_hold* hold = nullptr;
    mortise_leader* leader = nullptr;
    ASSERT_EQ(mortise_election_new(node_, "boss", 4, &election, nullptr), MORTISE_OK);
    ASSERT_EQ(mortise_election_campaign(election, "one", 3, nullptr, &hold, nullptr), MORTISE_OK);
    EXPECT_EQ(mortise_election_publish(election, hold, "two", 3, nullptr), MORTISE_OK);
    ASSERT_EQ(mortise_election_leader(election, &leader, nullptr), MORTISE_OK);
    EXPECT_STREQ(mortise_leader_value(leader, nullptr), "two");
    mortise_leader_free(leader);
    EXPECT_EQ(mortise_election_publish(election, nullptr, "", 0, nullptr),
              MORTISE_INVALID_ARGUMENT);
    auto* const other = acquire("other");
    EXPECT_EQ(mortise_election_publish(election, other, "", 0, nullptr), MORTISE_NOT_HELD);
    mortise_hold_free(other);
    mortise_hold_free(hold);
    mortise_election_free(election);
}

}  // namespace
}  // namespace mortise::capi
