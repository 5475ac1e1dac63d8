// The holds of one client that its member watches: those for which the client asks (S24), and its
// cached grants (S40). And its requests that may end or convert one of them. The member has a copy
// of the log, so it learns of each end by itself.
#pragma once

#include <map>
#include <vector>

#include "core/base/ids.hpp"
#include "core/locks/command.hpp"
#include "core/locks/outcome.hpp"
#include "core/locks/table/session_table.hpp"
#include "core/node/contention_watch.hpp"

namespace mortise::core {

class WatchedHolds {
public:
    // Watches the hold, if the session has it, unless too many are watched.
    void add(const Session& session, Seq hold, ContentionWatch& contentions);
    // Watches the cached grant, if the session has it.
    void add_cached(const Session& session, Seq grant, ContentionWatch& contentions);
    // The client asks for this.
    void note(const std::vector<Command>& commands);
    // A request of the client was answered. `session` is null if it has ended.
    void answered(const Answered& answered, const Session* session, ContentionWatch& contentions);
    // Forgets holds that have ended by way of another member: some of them with each call.
    void sweep(const Session& session, ContentionWatch& contentions);
    void forget_all(SessionId session, ContentionWatch& contentions);

private:
    void watch(OperationId hold, const Operation& operation, ContentionWatch& contentions);
    void forget(OperationId hold, ContentionWatch& contentions);

    std::map<Seq, Seq> holds_;     // each with the newest request that may end or convert it
    std::map<Seq, Seq> changing_;  // these requests, until they are answered, and their holds
    Seq swept_;                    // the hold that was examined last
};

}  // namespace mortise::core
