#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
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

// `ask` is the one of the acquiring calls.
template <class Ask>
int acquire(mortise_node* node, const char* name, std::size_t name_length,
            const mortise_acquire_options* options, mortise_hold** hold, mortise_error** error,
            const Ask& ask) {
    clear(hold);
    return guarded(error, [&] {
        require(node != nullptr, "node is NULL");
        require(hold != nullptr, "hold is NULL");
        const auto wanted = text(name, name_length, "name is NULL");
        *hold = handle_of(ask(node->node, wanted, options_of(options)));
    });
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
    return acquire(node, name, name_length, options, hold, error,
                   [](mortise::Node& asked, std::string_view wanted, const auto& with) {
                       return std::optional{asked.acquire(wanted, with)};
                   });
}

int mortise_node_try_acquire(mortise_node* node, const char* name, size_t name_length,
                             const mortise_acquire_options* options, mortise_hold** hold,
                             mortise_error** error) {
    return acquire(node, name, name_length, options, hold, error,
                   [](mortise::Node& asked, std::string_view wanted, const auto& with) {
                       return asked.try_acquire(wanted, with);
                   });
}

int mortise_node_acquire_for(mortise_node* node, const char* name, size_t name_length,
                             int64_t wait_max_ns, const mortise_acquire_options* options,
                             mortise_hold** hold, mortise_error** error) {
    return acquire(node, name, name_length, options, hold, error,
                   [&](mortise::Node& asked, std::string_view wanted, const auto& with) {
                       const auto wait = time_of(wait_max_ns, "wait_max_ns is negative");
                       return asked.acquire_for(wanted, wait, with);
                   });
}

int mortise_node_acquire_async(mortise_node* node, const char* name, size_t name_length,
                               int64_t wait_max_ns, const mortise_acquire_options* options,
                               mortise_acquired_callback acquired, void* context,
                               void (*destroy)(void* context), mortise_error** error) {
    CallbackContext owned{context, destroy};
    return guarded(error, [&] {
        require(node != nullptr, "node is NULL");
        mortise::detail::AcquireOrder order{std::string{text(name, name_length, "name is NULL")},
                                            options_of(options), mortise::detail::Attempt::until,
                                            deadline_of(wait_max_ns)};
        auto end = end_of(order, acquired, owned);
        mortise::detail::start_acquire(mortise::detail::runtime_of(node->node), std::move(order),
                                       std::move(end));
    });
}

int mortise_node_break_lock(mortise_node* node, const char* name, size_t name_length, int64_t token,
                            const char* reason, size_t reason_length, mortise_error** error) {
    return guarded(error, [&] {
        require(node != nullptr, "node is NULL");
        node->node.break_lock(text(name, name_length, "name is NULL"),
                              mortise::FencingToken::from_raw(token),
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
