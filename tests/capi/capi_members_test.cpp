// The members of a cluster and the metrics of a node, through mortise.h.
#include <algorithm>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "embed/capi/handles.hpp"
#include "embed/json_form/fields.hpp"
#include "embed/json_form/written.hpp"
#include "tests/capi/one_c_node.hpp"
#include "tests/support/shown_fields.hpp"
#include <mortise/testkit/local_cluster.hpp>

namespace mortise::capi {
namespace {

nlohmann::json metrics_of(mortise_node* node) {
    return nlohmann::json::parse(text_told([&](auto json, auto length, auto error) {
        return mortise_node_metrics(node, json, length, error);
    }));
}

class CMetrics : public OneCNode {};

TEST_F(CMetrics, AreJson) {
    mortise_hold_free(acquire("a"));
    const auto metrics = metrics_of(node_);
    EXPECT_EQ(metrics.at("acquires"), 1);
    EXPECT_EQ(metrics.at("acquire_results").at("granted"), 1);
    EXPECT_EQ(metrics.at("acquire_time").at("counts").size(), 31U);
    EXPECT_TRUE(metrics.at("certificate_left_ms").is_null());
    EXPECT_EQ(mortise_node_metrics(nullptr, nullptr, nullptr, nullptr), MORTISE_INVALID_ARGUMENT);
}

TEST_F(CMetrics, AreTextForPrometheus) {
    mortise_hold_free(acquire("a"));
    const auto text = text_told([&](auto out, auto length, auto error) {
        return mortise_node_prometheus(node_, out, length, error);
    });
    EXPECT_NE(text.find("# TYPE mortise_"), std::string::npos);
    EXPECT_EQ(text.back(), '\n');
}

template <class... Fields>
void expect_shown(const Metrics& metrics, Fields&... fields) {
    using Form = json_form::Fields<json_form::Written>;
    tests::expect_each_shown([&] { return Form::json_of(metrics).text(); }, fields...);
}

// What is added to the struct does not compile here until it is named.
TEST(CMetricsForm, HasEachNumber) {
    Metrics metrics;
    auto& [acquires, granted, busy, timed_out, cancelled, failed, released, holds_lost,
           calls_refused, sessions_expired, holds, waits, names, sessions, leader_changes,
           entries_applied, commands_applied, states_taken_over, log_writes, log_bytes,
           messages_sent, messages_received, messages_refused, messages_dropped,
           connections_refused, loop_overruns, late_callbacks, lost_untold, slowest_loop_turn,
           slowest_log_write, log_lines_left_out, handshakes_failed, certificate_left,
           served_from_cache, acquire_results, handed_over, holds_released, lost_expired,
           lost_broken, lost_node_stopped, sessions_opened, locks_broken, elections_started,
           snapshots_sent, log_memory_bytes, unsaved_bytes, unsynced_writes, background_syncs,
           unsynced_age, acquire_time, hold_time, commit_time, log_write_time, renewal_slack,
           hand_over_time, waiters, contended_names, oldest_wait, hottest, prefixes] = metrics;
    expect_shown(metrics, acquires, granted, busy, timed_out, cancelled, failed, released,
                 holds_lost, calls_refused, sessions_expired, holds, waits, names, sessions,
                 leader_changes, entries_applied, commands_applied, states_taken_over, log_writes,
                 log_bytes, messages_sent, messages_received, messages_refused, messages_dropped,
                 connections_refused, loop_overruns, late_callbacks, lost_untold);
    expect_shown(metrics, slowest_loop_turn, slowest_log_write, log_lines_left_out,
                 handshakes_failed, certificate_left, served_from_cache, acquire_results.deadlocked,
                 handed_over, holds_released, lost_expired, lost_broken, lost_node_stopped,
                 sessions_opened, locks_broken, elections_started, snapshots_sent, log_memory_bytes,
                 unsaved_bytes, unsynced_writes, background_syncs, unsynced_age,
                 acquire_time.sum_us, hold_time.sum_us, commit_time.sum_us, log_write_time.sum_us,
                 renewal_slack.sum_us, hand_over_time.sum_us, waiters, contended_names, oldest_wait,
                 hottest, prefixes);
}

// A cluster of three, of which the interface has the first member.
class CMembers : public ::testing::Test {
protected:
    nlohmann::json members() {
        return nlohmann::json::parse(text_told([&](auto json, auto length, auto error) {
            return mortise_node_members(&first_, json, length, error);
        }));
    }
    std::string role_of(std::uint64_t id) {
        for (const auto& member : members())
            if (member.at("id") == id) return member.at("role");
        return {};
    }
    testkit::LocalCluster cluster_{3};
    mortise_node first_{std::move(cluster_.node(0))};
};

TEST_F(CMembers, AreListed) {
    const auto all = members();
    ASSERT_EQ(all.size(), 3U);
    for (const auto& member : all)
        EXPECT_EQ(member.at("role"), "voter");
}

TEST_F(CMembers, AreChanged) {
    mortise_error* error = nullptr;
    ASSERT_EQ(mortise_node_transfer_leadership(&first_, 2, nullptr), MORTISE_OK);
    ASSERT_EQ(mortise_node_remove_member(&first_, 3, nullptr), MORTISE_OK);
    EXPECT_TRUE(comes_true([&] { return members().size() == 2; }));
    EXPECT_EQ(mortise_node_remove_member(&first_, 3, nullptr), MORTISE_OK) << "it may be repeated";
    const std::string address = "127.0.0.1:1";
    ASSERT_EQ(mortise_node_move_member(&first_, 9, address.data(), address.size(), &error),
              MORTISE_INVALID_ARGUMENT);
    mortise_error_free(error);
    EXPECT_NE(mortise_node_add_member(&first_, 2, address.data(), address.size(), nullptr),
              MORTISE_OK);
    EXPECT_EQ(mortise_node_promote_member(&first_, 9, nullptr), MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(role_of(2), "voter");
}

TEST_F(CMembers, AreAskedOfANode) {
    EXPECT_EQ(mortise_node_promote_member(nullptr, 1, nullptr), MORTISE_INVALID_ARGUMENT);
    EXPECT_EQ(mortise_node_add_member(&first_, 4, nullptr, 1, nullptr), MORTISE_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace mortise::capi
