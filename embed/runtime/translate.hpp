// Translates between the types of the public API and those of the core.
#pragma once

#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/agent/call.hpp"
#include "core/raft/durability.hpp"
#include "core/raft/role.hpp"
#include "embed/values/lock_mode.hpp"
#include "transport/wire/client_messages.hpp"
#include <mortise/config.hpp>
#include <mortise/errc.hpp>
#include <mortise/info.hpp>
#include <mortise/lock_error.hpp>
#include <mortise/lock_request.hpp>
#include <mortise/options.hpp>

namespace mortise::core {
struct ClientOptions;
struct NodeOptions;
}  // namespace mortise::core

namespace mortise::detail {

// The number of locks in one answer of the core, which it makes in one step.
constexpr std::size_t list_page_max = 1'000;

constexpr std::string_view removed_in_words = "not a member of the cluster: it was removed";
// docs/backup.md, Tokens
constexpr std::string_view remedy_of_sole_node =
    "if it was the only one, form a new cluster: end all programs that may hold a lock, reset the "
    "tokens at the resources, remove the content of data_dir, and start it (docs/backup.md, "
    "Tokens)";

[[nodiscard]] Errc errc_of(core::CallError error);
[[nodiscard]] Errc errc_of(core::MembershipRefusal refusal);
[[nodiscard]] std::string reason_of(core::MembershipRefusal refusal);  // one clause for a person
[[nodiscard]] QueuePolicy from_core(core::QueuePolicy policy);
[[nodiscard]] Standing from_core(core::Role role);
[[nodiscard]] Durability from_core(core::Durability durability);
[[nodiscard]] NameKind from_core(core::RecordKind kind);
// The machine maps a session to its node.
[[nodiscard]] LockInfo from_core(const core::LockView& view);
// For each step the label, or else the node and the number of the locker, and the name that it
// waits for.
[[nodiscard]] std::vector<ErrorDetail::Wait> from_core(const std::vector<core::CycleStep>& cycle);
[[nodiscard]] std::string in_words(core::NodeId node);  // "node 3"; "a client" if it has no id
[[nodiscard]] std::string to_text(const core::ClusterId& cluster);  // 32 hexadecimal digits
// The address is the configured one.
[[nodiscard]] Status status_of(const transport::MemberStatus& member);

[[nodiscard]] SessionInfo session_of(const core::SessionView& view);

// The request without its names.
[[nodiscard]] core::Acquire to_request(const AcquireOptions& options, bool wait);

// Voters, timing and limits; the rest comes from the data directory.
[[nodiscard]] core::NodeOptions node_options(const Config& config);
// The same for a client node.
[[nodiscard]] core::ClientOptions client_options(const Config& config);

}  // namespace mortise::detail
