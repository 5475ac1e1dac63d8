#include "embed/json_form/json_form.hpp"

#include "embed/json_form/fields.hpp"

namespace mortise::json_form {

Json json_of(const HolderInfo& holder, const Detail& detail) {
    return Fields<Json>::json_of(holder, detail);
}

Json json_of(const WaiterInfo& waiter) {
    return Fields<Json>::json_of(waiter);
}

Json json_of(const ClosureInfo& closure) {
    return Fields<Json>::json_of(closure);
}

Json json_of(const BarrierMember& member) {
    return Fields<Json>::json_of(member);
}

Json json_of(const LockInfo& lock, const Detail& detail) {
    return Fields<Json>::json_of(lock, detail);
}

Json json_of(const SessionInfo& session) {
    return Fields<Json>::json_of(session);
}

Json json_of(const ContendedName& name) {
    return Fields<Json>::json_of(name);
}

Json json_of(const PrefixActivity& prefix) {
    return Fields<Json>::json_of(prefix);
}

Json json_of(const ActivityRates& rates) {
    return Fields<Json>::json_of(rates);
}

Json json_of(const Activity& activity) {
    return Fields<Json>::json_of(activity);
}

Json json_of(const MemberInfo& member) {
    return Fields<Json>::json_of(member);
}

Json json_of(const Status& status) {
    return Fields<Json>::json_of(status);
}

Json json_of(const MemberReport& report) {
    return Fields<Json>::json_of(report);
}

Json json_of(const Event& event, const Detail& detail) {
    return Fields<Json>::json_of(event, detail);
}

Json json_of(const NodeEvent& event) {
    return Fields<Json>::json_of(event);
}

}  // namespace mortise::json_form
