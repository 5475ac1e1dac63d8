// The public structs as JSON: what the command line prints with --json and what the console
// answers. docs/cli.md and docs/console.md describe it. Tokens are strings: they have 63 bits, and
// many JSON readers support only 53. An enumerator is its name. What is not known is null; `age_ms`
// and `origin` are left out then. The node of a client is 0, as in the structs.
#pragma once

#include "embed/json_form/detail.hpp"
#include "embed/json_form/json_text.hpp"
#include "embed/json_form/leader_value.hpp"
#include <mortise/activity.hpp>
#include <mortise/event.hpp>
#include <mortise/info.hpp>
#include <mortise/observe.hpp>
#include <mortise/remote.hpp>

namespace mortise::json_form {

[[nodiscard]] Json json_of(const HolderInfo& holder, const Detail& detail = {});
[[nodiscard]] Json json_of(const WaiterInfo& waiter);
[[nodiscard]] Json json_of(const ClosureInfo& closure);
[[nodiscard]] Json json_of(const BarrierMember& member);
[[nodiscard]] Json json_of(const LockInfo& lock, const Detail& detail = {});
[[nodiscard]] Json json_of(const SessionInfo& session);
[[nodiscard]] Json json_of(const ContendedName& name);
[[nodiscard]] Json json_of(const PrefixActivity& prefix);
[[nodiscard]] Json json_of(const ActivityRates& rates);
[[nodiscard]] Json json_of(const Activity& activity);
[[nodiscard]] Json json_of(const MemberInfo& member);
[[nodiscard]] Json json_of(const Status& status);
[[nodiscard]] Json json_of(const MemberReport& report);
// Events have only what their kind has.
[[nodiscard]] Json json_of(const Event& event, const Detail& detail = {});
[[nodiscard]] Json json_of(const NodeEvent& event);

template <class List, class... More>
[[nodiscard]] Json json_list(const List& list, const More&... detail) {
    auto json = Json::array();
    for (const auto& each : list)
        json.push_back(json_of(each, detail...));
    return json;
}

}  // namespace mortise::json_form
