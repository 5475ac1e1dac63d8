#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <mortise.h>

#include "embed/capi/acquired.hpp"
#include "embed/capi/calls.hpp"
#include "embed/capi/handles.hpp"
#include "embed/capi/options.hpp"
#include "embed/capi/structs.hpp"
#include <mortise/detail/start.hpp>
#include <mortise/errc.hpp>
#include <mortise/fencing_token.hpp>
#include <mortise/lock_error.hpp>
#include <mortise/node.hpp>

using namespace mortise::capi;
using mortise::detail::Attempt;

namespace mortise::capi {
namespace {

constexpr std::size_t oldest_status = 64;
static_assert(sizeof(mortise_status) >= oldest_status);

void require_ready(Node& node, std::int64_t wait_max_ns) {
    const auto wait = time_of(wait_max_ns, "wait_max_ns is negative");
    if (node.wait_ready(std::chrono::steady_clock::now() + wait)) return;
    ErrorDetail detail;
    detail.reason = node.status().why_not_ready;
    throw LockError{Errc::timed_out, std::move(detail)};
}

mortise_status status_of(const Status& status) {
    mortise_status known{};
    known.node_id = status.id;
    known.leader_id = status.leader.value_or(0);
    known.term = status.term;
    known.commit_index = status.commit_index;
    known.applied_index = status.applied_index;
    known.members = static_cast<std::uint32_t>(status.members.size());
    known.voters = static_cast<std::uint32_t>(
        std::ranges::count(status.members, Role::voter, &MemberInfo::role));
    known.is_ready = status.ready ? 1 : 0;
    known.is_stopped = status.stopped ? 1 : 0;
    return known;
}

Asked<detail::AcquireOrder> lock_of(const mortise_node* node, std::string_view name,
                                    const mortise_acquire_options* options, detail::Attempt attempt,
                                    detail::Deadline deadline = detail::Deadline::max()) {
    return {detail::runtime_of(existing(node, "node is NULL").node),
            order_of(name, options, attempt, deadline)};
}

}  // namespace
}  // namespace mortise::capi

int mortise_node_open(const mortise_config* config, mortise_node** node, mortise_error** error) {
    clear(node);
    return guarded(error, [&] {
        require(config != nullptr, "config is NULL");
        require(node != nullptr, "node is NULL");
        *node = new mortise_node{mortise::Node{config->config}};
    });
}

int mortise_node_wait_ready(mortise_node* node, int64_t wait_max_ns, mortise_error** error) {
    return guarded(error, [&] {
        require(node != nullptr, "node is NULL");
        require_ready(node->node, wait_max_ns);
    });
}

uint64_t mortise_node_id(const mortise_node* node) {
    return node != nullptr ? node->node.id() : 0;
}

void mortise_node_close(mortise_node* node) {
    if (node == nullptr) return;
    static_cast<void>(guarded(nullptr, [&] { node->node.close(); }));
}

void mortise_node_free(mortise_node* node) {
    mortise_node_close(node);  // the destructor alone does not wait for a slow callback
    delete node;
}

int mortise_node_status(mortise_node* node, mortise_status* status, mortise_error** error) {
    return guarded(error, [&] {
        require(node != nullptr, "node is NULL");
        require(status != nullptr, "status is NULL");
        write_struct(status_of(node->node.status()), *status, oldest_status);
    });
}

int mortise_node_acquire(mortise_node* node, const char* name, size_t name_length,
                         const mortise_acquire_options* options, mortise_hold** hold,
                         mortise_error** error) {
    return acquire(hold, error, [&] {
        return lock_of(node, text(name, name_length, "name is NULL"), options, Attempt::wait);
    });
}

int mortise_node_try_acquire(mortise_node* node, const char* name, size_t name_length,
                             const mortise_acquire_options* options, mortise_hold** hold,
                             mortise_error** error) {
    return acquire(hold, error, [&] {
        return lock_of(node, text(name, name_length, "name is NULL"), options, Attempt::once);
    });
}

int mortise_node_acquire_for(mortise_node* node, const char* name, size_t name_length,
                             int64_t wait_max_ns, const mortise_acquire_options* options,
                             mortise_hold** hold, mortise_error** error) {
    return acquire(hold, error, [&] {
        return lock_of(node, text(name, name_length, "name is NULL"), options, Attempt::until,
                       deadline_of(wait_max_ns));
    });
}

int mortise_node_acquire_async(mortise_node* node, const char* name, size_t name_length,
                               int64_t wait_max_ns, const mortise_acquire_options* options,
                               mortise_acquired_callback acquired, void* context,
                               void (*destroy)(void* context), mortise_error** error) {
    return begin_async(Then<AcquireEnd>{acquired, context, destroy}, error,
                       mortise::detail::start_acquire, [&] {
                           return lock_of(node, text(name, name_length, "name is NULL"), options,
                                          Attempt::until, deadline_of(wait_max_ns));
                       });
}

int mortise_node_break_lock(mortise_node* node, const char* name, size_t name_length, int64_t token,
                            const char* reason, size_t reason_length, mortise_error** error) {
    return guarded(error, [&] {
        existing(node, "node is NULL")
            .node.break_lock(text(name, name_length, "name is NULL"),
                             mortise::FencingToken::from_raw(token),
                             text(reason, reason_length, "reason is NULL"));
    });
}

int mortise_node_break_lock_now(mortise_node* node, const char* name, size_t name_length,
                                int64_t token, const char* reason, size_t reason_length,
                                mortise_error** error) {
    return guarded(error, [&] {
        existing(node, "node is NULL")
            .node.break_lock(
                text(name, name_length, "name is NULL"), mortise::FencingToken::from_raw(token),
                text(reason, reason_length, "reason is NULL"), mortise::BreakMode::immediate);
    });
}

int mortise_node_evict(mortise_node* node, uint64_t session, const char* reason,
                       size_t reason_length, mortise_error** error) {
    return guarded(error, [&] {
        existing(node, "node is NULL")
            .node.evict(session, text(reason, reason_length, "reason is NULL"));
    });
}

int mortise_node_evict_now(mortise_node* node, uint64_t session, const char* reason,
                           size_t reason_length, mortise_error** error) {
    return guarded(error, [&] {
        existing(node, "node is NULL")
            .node.evict(session, text(reason, reason_length, "reason is NULL"),
                        mortise::BreakMode::immediate);
    });
}

int mortise_node_request_release(mortise_node* node, const char* name, size_t name_length,
                                 const char* reason, size_t reason_length, mortise_error** error) {
    return guarded(error, [&] {
        existing(node, "node is NULL")
            .node.request_release(text(name, name_length, "name is NULL"),
                                  text(reason, reason_length, "reason is NULL"));
    });
}

int mortise_canceller_new(mortise_canceller** canceller, mortise_error** error) {
    clear(canceller);
    return guarded(error, [&] {
        require(canceller != nullptr, "canceller is NULL");
        *canceller = new mortise_canceller{};
    });
}

void mortise_canceller_cancel(mortise_canceller* canceller) {
    if (canceller != nullptr) canceller->source.request_stop();
}

void mortise_canceller_free(mortise_canceller* canceller) {
    delete canceller;
}
