#include "tests/sim/judges/client_recalls.hpp"

#include <utility>

#include "tests/sim/base/in_words.hpp"
#include "tests/sim/judges/contentions.hpp"

namespace mortise::sim {

void ClientRecalls::cached(core::NodeId client, core::OperationId grant, std::string name) {
    grants_[grant] = {client, std::move(name)};
}

void ClientRecalls::client_lost(core::NodeId client) {
    std::erase_if(grants_, [&](const auto& one) { return one.second.client == client; });
}

void ClientRecalls::told(const core::Contended& contended) {
    const auto found = grants_.find(contended.hold);
    if (found == grants_.end()) return;
    tally_.probe(contended.waiters == 0 ? "client recalled its cached grant itself"
                                        : "client told of a waiter for its cached grant");
    found->second.was_told = true;
}

void ClientRecalls::member_stepped(core::LogIndex applied, const core::LockMachine& machine) {
    for (auto& [grant, cached] : grants_) {
        if (!cached.was_told && keeps_waiting(machine, cached.name, grant))
            cached.wanted_at.insert(applied);
    }
}

void ClientRecalls::client_stepped(core::NodeId client, core::LogIndex position, bool hears) {
    for (const auto& [grant, cached] : grants_) {
        if (cached.client != client || cached.was_told) continue;
        if (!hears) report(grant, cached, "stays although no member would tell of a recall");
        if (cached.wanted_at.contains(position))
            report(grant, cached, "keeps somebody waiting, and the client was not told");
    }
}

void ClientRecalls::took(core::OperationId grant, bool hears) {
    const auto found = grants_.find(grant);
    if (found == grants_.end()) return;
    if (!hears && !found->second.was_told)
        report(grant, found->second, "is used although no member would tell of a recall");
}

void ClientRecalls::report(core::OperationId grant, const Cached& cached, const std::string& what) {
    violations_.report(cached.client, "recall: cached grant " + in_words(grant) + " " + what);
}

}  // namespace mortise::sim
