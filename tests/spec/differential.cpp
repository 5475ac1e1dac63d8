// Compares the lock machine with its specification on random histories, both watched by History.
//
//   lock_differential [--seed N] [--runs N]
//
// After a difference it prints the seed, what differed, and the smallest history found that shows
// it, and exits with 1.
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "core/observe/activity.hpp"
#include "tests/spec/history.hpp"
#include "tests/spec/lock_spec.hpp"
#include "tests/spec/minimise.hpp"
#include "tests/spec/replay.hpp"
#include "tests/spec/script.hpp"
#include "tests/spec/words.hpp"

namespace mortise::spec {
namespace {

using core::LockMachine;
using core::LogIndex;
using core::Outcomes;

// Runs both, entry by entry.
class Pair {
public:
    // Empty if they agree.
    std::string run(const Script& script) {
        for (const auto& entry : script) {
            if (auto wrong = step(entry); !wrong.empty()) return wrong;
        }
        return drain();
    }

private:
    std::string step(const Entry& entry) {
        index_ = index_.next();
        for (const auto& command : entry)
            remember(command);

        const auto seen = apply(machine_, index_, entry);
        const auto wanted = entry.begins_era ? spec_.begin_era(index_) : spec_.apply(index_, entry);
        if (!same(seen, wanted)) {
            return differs("outcomes", words(wanted), words(seen));
        }
        machine_.check_invariants();
        if (spec_.newest_token() != machine_.table().newest_token()) {
            return differs("newest token", std::to_string(spec_.newest_token().raw()),
                           std::to_string(machine_.table().newest_token().raw()));
        }
        if (auto wrong = compare_eras(); !wrong.empty()) return wrong;
        if (auto wrong = replay(); !wrong.empty()) return wrong;
        if (auto wrong = follow(); !wrong.empty()) return wrong;
        const auto listing = machine_.list("", "", core::records_max);
        if (auto wrong = compare_views(listing); !wrong.empty()) return wrong;
        if (auto wrong = compare_sessions(); !wrong.empty()) return wrong;

        const bool is_swept = !machine_.needs_sweep();
        if (is_swept == spec_.needs_sweep()) {
            return differs("needs_sweep", is_swept ? "true" : "false", is_swept ? "false" : "true");
        }
        if (entry.begins_era) history_.begin_era();
        history_.step(index_, entry, seen, listing, is_swept);
        return history_.violation();
    }

    std::string compare_eras() const {
        const auto& eras = machine_.eras();
        const auto closure = eras.closing ? eras.closing->id : core::ClosureId{};
        const bool same = eras.begun == spec_.eras() && closure == spec_.era_closure() &&
                          eras.token_ceiling == spec_.token_ceiling() &&
                          machine_.table().closures().newest() == spec_.newest_closure();
        return same ? "" : "eras differ at index " + std::to_string(index_.raw());
    }

    // The changes of each entry make the new state from the one before (S46).
    std::string replay() {
        core::Position at{index_, 0};
        for (const auto& change : machine_.name_changes()) {
            ++at.ordinal;
            if (auto wrong = replay_.take(at, change); !wrong.empty()) return "S46: " + wrong;
        }
        const auto differing = replay_.differs_from(machine_, {});
        return differing.empty() ? "" : "S46: the changes leave another state of" + differing;
    }

    // The holders and waiters that are counted with each change are those that are there.
    std::string follow() {
        const core::Instant now{static_cast<std::int64_t>(index_.raw())};
        const auto& table = machine_.table();
        activity_.applied(index_, now, machine_.name_changes(), machine_.changed_queues());
        const core::Activity anew{prefixes_, table, index_, now};
        const auto counted = said_of(activity_.view(table, now));
        const auto there = said_of(anew.view(table, now));
        return counted == there ? "" : differs("activity", there, counted);
    }

    static std::string said_of(const core::ActivityView& view) {
        auto said = std::to_string(view.contention.waiters);
        for (const auto& prefix : view.contention.prefixes)
            said += " " + prefix.prefix + ":" + std::to_string(prefix.holders) + "/" +
                    std::to_string(prefix.waiters) + "/" + std::to_string(prefix.contended);
        for (const auto& hot : view.hottest)
            said += " " + hot.name + ":" + std::to_string(hot.waiters);
        return said;
    }

    // Ends all holds, so that every waiter must be granted.
    std::string drain() {
        for (int round = 0; round < 2'000; ++round) {
            const auto listing = machine_.list("", "", core::records_max);
            const bool rests = std::ranges::all_of(listing, is_at_rest);
            if (rests && !machine_.needs_sweep()) {
                if (machine_.table().records().size() != listing.size()) {
                    return "S37: records are left";
                }
                return {};
            }
            Entry entry{core::Sweep{}};
            // Ends all quorum timers.
            for (const auto& [name, closures] : machine_.table().closures().all()) {
                for (const auto& closure : closures)
                    entry.push_back(core::EndClosure{closure.id});
            }
            std::map<core::SessionId, core::Seq> newest;
            for (const auto& view : listing) {
                // The oldest holder first, one at a time. Who wants more permits than there are, or
                // waits for a latch, gives up.
                const bool is_held = !view.holders.empty();
                const bool gives_up = !view.is_lock() && !view.waiters.empty();
                if (!is_held && (!gives_up || view.is_closed)) continue;
                const auto [session, operation] =
                    is_held ? view.holders.front().operation : view.waiters.front().operation;
                if (!newest.contains(session)) newest[session] = spec_.applied(session);
                auto& seq = newest[session];
                seq = seq.next();
                core::RequestBody body = core::Release{operation};
                if (!is_held) body = core::Cancel{operation};
                entry.push_back(core::Request{session, seq, std::move(body)});
            }
            if (auto wrong = step(entry); !wrong.empty()) return "drain: " + wrong;
        }
        return "P9: somebody waits for ever";
    }

    // Nothing is left of the name but its value, its limit, or its count.
    static bool is_at_rest(const core::LockView& view) {
        const auto* limit = view.as<core::Semaphore>();
        const bool stays = !view.is_lock() && (limit == nullptr || limit->version > 1);
        return (view.value || stays) && view.holders.empty() && view.waiters.empty() &&
               !view.is_closed;
    }

    std::string compare_views(const std::vector<core::LockView>& listing) {
        const auto all = spec_.list("", "", core::records_max);
        for (std::size_t i = 0; i < std::max(listing.size(), all.size()); ++i) {
            if (i < listing.size() && i < all.size() && listing[i] == all[i]) continue;
            return differs("listing", i < all.size() ? words(all[i]) : "nothing more",
                           i < listing.size() ? words(listing[i]) : "nothing more");
        }
        // Compares some of the smaller queries each time, because all of them would take long.
        const auto turn = static_cast<std::size_t>(index_.raw());
        const auto mode = core::all_lock_modes[turn % core::lock_modes];
        std::size_t asked = 0;
        for (const auto& name : names_) {
            if (++asked > (listing.size() > 100 ? 1U : 5U)) break;
            const auto wanted = spec_.inspect(name);
            const auto seen = machine_.inspect(name);
            if (seen != wanted) return differs("inspect", words(wanted), words(seen));
            if (auto wrong = compare_trial(name, mode); !wrong.empty()) return wrong;
            const auto prefix = std::string_view{name}.substr(0, 1 + turn % 2);
            if (machine_.list(prefix, name, 1 + turn % 3) !=
                spec_.list(prefix, name, 1 + turn % 3)) {
                return "a page of the listing differs behind " + name;
            }
        }
        return {};
    }

    // If ended sessions have left anything, the machine may answer yes without certainty.
    std::string compare_trial(const std::string& name, core::LockMode mode) const {
        const auto priority = static_cast<core::Priority>(index_.raw() % 3);
        const bool seen = machine_.would_grant(name, mode, priority);
        const bool wanted = spec_.would_grant(name, mode, priority);
        if (seen == wanted || (seen && spec_.needs_sweep())) return compare_permits(name);
        return differs("would_grant " + name + " " + words(mode), wanted ? "yes" : "no",
                       seen ? "yes" : "no");
    }

    std::string compare_permits(const std::string& name) const {
        if (index_.raw() % 4 != 0) return {};
        core::Acquire request;
        request.names.push_back({name});
        request.priority = static_cast<core::Priority>(index_.raw() % 3);
        request.permits = 1 + static_cast<std::uint32_t>(index_.raw() / 4 % 3);
        request.limit = 2;
        const bool seen = machine_.views().would_grant_permits(request);
        const bool wanted = spec_.would_grant_permits(request);
        if (seen == wanted || (seen && spec_.needs_sweep())) return {};
        return differs("would_grant_permits " + name, wanted ? "yes" : "no", seen ? "yes" : "no");
    }

    std::string compare_sessions() {
        const auto live = spec_.live_sessions();
        if (live.size() != machine_.sessions().all().size()) {
            return differs("live sessions", std::to_string(live.size()),
                           std::to_string(machine_.sessions().all().size()));
        }
        for (const auto id : live) {
            const auto* session = machine_.sessions().find(id);
            if (session == nullptr || session->renewed_at != spec_.renewed_at(id) ||
                session->renewal_number != spec_.renewal_number(id) ||
                session->applied != spec_.applied(id) ||
                machine_.views().node_of(id) != spec_.node_of(id)) {
                return "session " + std::to_string(id.raw()) + " differs";
            }
        }
        for (const auto id : sessions_) {
            if (machine_.views().node_of(id) != spec_.node_of(id)) {
                return "node of session " + std::to_string(id.raw()) + " differs";
            }
        }
        return {};
    }

    void remember(const core::Command& command) {
        const auto* request = std::get_if<core::Request>(&command);
        if (request == nullptr) return;
        sessions_.insert(request->session);
        if (const auto* acquire = std::get_if<core::Acquire>(&request->body)) {
            for (const auto& one : acquire->names)
                names_.insert(one.name);
        }
        if (const auto* wait = std::get_if<core::AwaitLatch>(&request->body))
            names_.insert(wait->name);
        if (const auto* arrival = std::get_if<core::Arrive>(&request->body))
            names_.insert(arrival->name);
    }

    std::string differs(const std::string& what, const std::string& wanted,
                        const std::string& seen) const {
        return what + " differ\n  specified: " + wanted + "\n  seen:      " + seen +
               "\n  at index " + std::to_string(index_.raw());
    }

    LockMachine machine_;
    LockSpec spec_;
    History history_;
    const std::vector<std::string> prefixes_{"a"};
    core::Activity activity_{prefixes_, machine_.table(), {}, {}};
    Replay replay_;
    LogIndex index_;
    std::set<std::string> names_;
    std::set<core::SessionId> sessions_;
};

std::string run(const Script& script) {
    try {
        return Pair{}.run(script);
    } catch (const std::exception& broken) {
        return broken.what();
    }
}

// The kind of the difference without its position: a smaller history must show the same.
std::string kind_of(std::string wrong) {
    if (wrong.starts_with("drain: ")) wrong.erase(0, 7);
    return wrong.substr(0, wrong.find_first_of(" \n"));
}

// A sequence number identifies one request, as History requires.
bool is_sound(const Script& script) {
    std::map<core::OperationId, core::Request> requests;
    for (const auto& entry : script) {
        for (const auto& command : entry) {
            const auto* request = std::get_if<core::Request>(&command);
            if (request == nullptr) continue;
            const core::OperationId id{request->session, request->seq};
            if (requests.emplace(id, *request).first->second != *request) return false;
        }
    }
    return true;
}

int main_of(std::uint64_t seed, std::uint64_t runs) {
    std::size_t commands = 0;
    for (const auto end = seed + runs; seed < end; ++seed) {
        auto script = make_script(seed);
        for (const auto& entry : script)
            commands += entry.size();
        const auto kind = kind_of(run(script));
        if (kind.empty()) continue;
        script = minimised(std::move(script), [&](const Script& less) {
            return is_sound(less) && kind_of(run(less)) == kind;
        });
        std::cout << "seed " << seed << ": " << run(script) << "\n" << words(script);
        return 1;
    }
    std::cout << runs << " histories, " << commands << " commands: no difference\n";
    return 0;
}

}  // namespace
}  // namespace mortise::spec

int main(int count, char** arguments) {
    std::uint64_t seed = 1;
    std::uint64_t runs = 1'000;
    for (int i = 1; i + 1 < count; i += 2) {
        const std::string_view option = arguments[i];
        const auto value = std::strtoull(arguments[i + 1], nullptr, 10);
        if (option == "--seed") {
            seed = value;
        } else if (option == "--runs") {
            runs = value;
        } else {
            std::cerr << "usage: lock_differential [--seed N] [--runs N]\n";
            return 2;
        }
    }
    return mortise::spec::main_of(seed, runs);
}
