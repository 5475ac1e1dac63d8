#include "core/node/watched_holds.hpp"

#include <string>
#include <utility>
#include <variant>

#include "core/base/overloaded.hpp"

namespace mortise::core {

namespace {

constexpr std::size_t holds_watched_max = 65'536;
// Where it is not known which hold has changed, one step examines at most so many.
constexpr std::size_t examined_max = 1'024;

// The hold that the request may end or convert; not set if it does neither.
Seq changed_by(const Request& request) {
    return std::visit(Overloaded{[](const Release& one) { return one.operation; },
                                 [](const Cancel& one) { return one.operation; },
                                 [](const Downgrade& one) { return one.operation; },
                                 [](const Upgrade& one) { return one.operation; },
                                 [](const auto&) { return Seq{}; }},
                      request.body);
}

}  // namespace

void WatchedHolds::add(const Session& session, Seq hold, ContentionWatch& contentions) {
    const auto* operation = session.operations.find(hold);
    const bool has_room = holds_.contains(hold) || holds_.size() < holds_watched_max;
    if (operation == nullptr || !operation->held() || !has_room) return;
    watch({session.id, hold}, *operation, contentions);
}

// The others have no limit here: a recall that is not told would keep somebody waiting for as long
// as the client uses its cache.
void WatchedHolds::add_cached(const Session& session, Seq grant, ContentionWatch& contentions) {
    const auto* operation = session.operations.find(grant);
    if (operation != nullptr && operation->held())
        watch({session.id, grant}, *operation, contentions);
}

void WatchedHolds::watch(OperationId hold, const Operation& operation,
                         ContentionWatch& contentions) {
    Names names;
    for (const auto& record : operation.names())
        names.push_back(std::string{record->name()});
    holds_.try_emplace(hold.seq);
    contentions.watch(hold, names);
}

void WatchedHolds::note(const std::vector<Command>& commands) {
    for (const auto& command : commands) {
        const auto* request = std::get_if<Request>(&command);
        if (request == nullptr) continue;
        const auto watched = holds_.find(changed_by(*request));
        if (watched == holds_.end()) continue;
        changing_.erase(std::exchange(watched->second, request->seq));
        changing_[request->seq] = watched->first;
    }
}

// A client may have thousands of watched holds, and each notice would take milliseconds if all of
// them were examined. A request that came by way of another member is not known here: then some
// are.
void WatchedHolds::answered(const Answered& answered, const Session* session,
                            ContentionWatch& contentions) {
    const auto [id, seq] = answered.operation;
    const bool is_converted = answered.answer.kind == AnswerKind::converted;
    if (const auto request = changing_.find(seq); request != changing_.end()) {
        const auto hold = request->second;
        if (session == nullptr || !session->operations.holds(hold))
            return forget({id, hold}, contentions);
        changing_.erase(request);
        holds_.at(hold) = {};
        if (is_converted) contentions.converted({id, hold});
    } else if (is_converted) {
        std::size_t left = examined_max;
        for (auto hold = holds_.begin(); hold != holds_.end() && left > 0; --left)
            contentions.converted({id, hold++->first});
    }
}

void WatchedHolds::sweep(const Session& session, ContentionWatch& contentions) {
    auto next = holds_.upper_bound(swept_);
    for (auto left = examined_max; left > 0 && next != holds_.end(); --left) {
        swept_ = next++->first;
        if (!session.operations.holds(swept_)) forget({session.id, swept_}, contentions);
    }
    if (next == holds_.end()) swept_ = {};
}

void WatchedHolds::forget_all(SessionId session, ContentionWatch& contentions) {
    for (const auto& [hold, _] : std::exchange(holds_, {}))
        contentions.forget({session, hold});
    changing_.clear();
    swept_ = {};
}

void WatchedHolds::forget(OperationId hold, ContentionWatch& contentions) {
    const auto watched = holds_.extract(hold.seq);
    if (watched.empty()) return;
    changing_.erase(watched.mapped());
    contentions.forget(hold);
}

}  // namespace mortise::core
