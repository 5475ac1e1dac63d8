#include "tests/spec/minimise.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/overloaded.hpp"

namespace mortise::spec {

using core::LogIndex;
using core::Seq;
using core::SessionId;

namespace {

using Fails = std::function<bool(const Script&)>;

LogIndex shifted(LogIndex index, std::size_t at, std::size_t count) {
    return index.raw() > at + count ? LogIndex{index.raw() - count} : index;
}

// Renumbers the requests of each session without gaps, because a request behind a gap has no
// effect. A reference to a removed request refers to nothing.
Script closed_up(Script script) {
    std::map<SessionId, std::map<Seq, Seq>> numbers;
    const auto each_request = [&](const auto& visit) {
        for (auto& entry : script) {
            for (auto& command : entry) {
                if (auto* request = std::get_if<core::Request>(&command)) visit(*request);
            }
        }
    };
    each_request([&](const core::Request& one) { numbers[one.session][one.seq]; });
    for (auto& [session, of_session] : numbers) {
        Seq newest;
        for (auto& [former, now] : of_session)
            now = newest = newest.next();
    }
    each_request([&](core::Request& one) {
        const auto& of_session = numbers[one.session];
        one.seq = of_session.at(one.seq);
        std::visit(
            [&](auto& body) {
                if constexpr (requires { body.operation; }) {
                    const auto named = of_session.find(body.operation);
                    body.operation = named == of_session.end() ? Seq{} : named->second;
                }
            },
            one.body);
    });
    return script;
}

// Removes `count` entries from position `at` on; the log indexes in later commands move along.
Script without_entries(const Script& script, std::size_t at, std::size_t count) {
    Script less;
    for (std::size_t i = 0; i < script.size(); ++i) {
        if (i >= at && i < at + count) continue;
        less.push_back(script[i]);
        for (auto& command : less.back()) {
            if (auto* expire = std::get_if<core::Expire>(&command)) {
                expire->renewed_at = shifted(expire->renewed_at, at, count);
            } else if (auto* acknowledge = std::get_if<core::Acknowledge>(&command)) {
                acknowledge->received = shifted(acknowledge->received, at, count);
            }
        }
    }
    return less;
}

// Ids are given in order: if an opening is removed, the ids above it move down.
Script without_session(const Script& script, std::size_t entry, SessionId gone) {
    auto less = without_entries(script, entry, 1);
    const auto move = [&](SessionId& session) {
        if (session > gone) session = session.previous();
    };
    for (auto& batch : less) {
        for (auto& command : batch) {
            std::visit(core::Overloaded{
                           [](core::OpenSession&) {}, [](core::Sweep&) {}, [](core::EndClosure&) {},
                           [](core::Clock&) {}, [](core::RaiseCeiling&) {},
                           [&](core::Renew& renew) {
                               for (auto& one : renew.renewals)
                                   move(one.session);
                           },
                           [&](core::Request& request) {
                               move(request.session);
                               if (auto* evicts = std::get_if<core::EvictSession>(&request.body))
                                   move(evicts->session);
                           },
                           [&](auto& other) { move(other.session); }},
                       command);
        }
    }
    return less;
}

// Takes the smaller script if it fails as well.
bool replace(Script& script, Script less, const Fails& fails) {
    auto closed = closed_up(less);
    const bool closed_fails = fails(closed);
    if (!closed_fails && !fails(less)) return false;
    script = closed_fails ? std::move(closed) : std::move(less);
    return true;
}

bool drop_entries(Script& script, const Fails& fails) {
    bool dropped = false;
    for (auto length = script.size() / 2 + 1; length > 0; length /= 2) {
        for (std::size_t at = 0; at < script.size();) {
            auto less = without_entries(script, at, std::min(length, script.size() - at));
            if (replace(script, std::move(less), fails)) {
                dropped = true;
            } else {
                at += length;
            }
        }
    }
    return dropped;
}

bool drop_commands(Script& script, const Fails& fails) {
    bool dropped = false;
    for (std::size_t i = 0; i < script.size(); ++i) {
        for (std::size_t j = 0; script[i].size() > 1 && j < script[i].size();) {
            auto less = script;
            less[i].erase(less[i].begin() + static_cast<std::ptrdiff_t>(j));
            if (replace(script, std::move(less), fails)) {
                dropped = true;
            } else {
                ++j;
            }
        }
    }
    return dropped;
}

bool drop_sessions(Script& script, const Fails& fails) {
    bool dropped = false;
    std::uint64_t opened = 0;
    for (std::size_t i = 0; i < script.size();) {
        const bool opens =
            script[i].size() == 1 && std::holds_alternative<core::OpenSession>(script[i][0]);
        bool gone = false;
        if (opens) ++opened;
        for (auto id = opened; opens && id > 0 && !gone; --id) {  // some openings were refused
            auto less = without_session(script, i, SessionId{id});
            gone = replace(script, std::move(less), fails);
        }
        dropped = dropped || gone;
        if (gone) {
            --opened;
        } else {
            ++i;
        }
    }
    return dropped;
}

}  // namespace

Script minimised(Script script, const Fails& fails) {
    bool again = true;
    while (again) {
        again = drop_entries(script, fails);
        again = drop_commands(script, fails) || again;
        again = drop_sessions(script, fails) || again;
    }
    return script;
}

}  // namespace mortise::spec
