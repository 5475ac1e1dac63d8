// A lock machine behind a line protocol, for compare_model.py.
//
//   lock_events machine | spec
//
//   new POLICY                             forget everything
//   acquire SESSION NAME MODE wait|try LOCKER
//                                          the session is opened when it is new; locker 0 is none
//   all SESSION wait|try LOCKER NAME MODE...
//   any SESSION wait|try LOCKER NAME MODE...
//   release OPERATION                      an operation is the number of the line that asked for
//   cancel OPERATION                       it, counted from 1 behind `new`
//   upgrade OPERATION, try_upgrade OPERATION
//   downgrade OPERATION MODE
//   end SESSION
//
// Answers to each line: what came of it, then all names, then a line with a dot.
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>

#include "core/locks/lock_machine.hpp"
#include "tests/spec/lock_spec.hpp"
#include "tests/spec/words.hpp"

namespace mortise::spec {
namespace {

using core::LockMachine;
using core::OperationId;
using core::Seq;
using core::SessionId;

core::Outcomes apply(LockMachine& machine, core::LogIndex index, const core::Command& command) {
    core::Outcomes outcomes;
    machine.apply(index, {command}, outcomes);
    machine.check_invariants();
    return outcomes;
}

core::Outcomes apply(LockSpec& spec, core::LogIndex index, const core::Command& command) {
    return spec.apply(index, {command});
}

core::LockMode mode_of(const std::string& text) {
    for (const auto mode : core::all_lock_modes) {
        if (words(mode) == text) return mode;
    }
    return core::LockMode::exclusive;
}

template <class Machine>
class Server {
public:
    void serve() {
        for (std::string line; std::getline(std::cin, line);) {
            std::istringstream words_of_line{line};
            std::string verb;
            words_of_line >> verb;
            if (verb == "new") {
                *this = Server{};
                words_of_line >> verb;
                policy_ = verb == "fifo" ? core::QueuePolicy::fifo : core::QueuePolicy::phase_fair;
            } else {
                ++line_;
                on(verb, words_of_line);
            }
            tell_names();
            std::cout << "." << std::endl;
        }
    }

private:
    void on(const std::string& verb, std::istringstream& rest) {
        if (verb == "acquire") {
            std::string session;
            std::string name;
            std::string mode;
            std::string wait;
            core::LockerTag locker;
            rest >> session >> name >> mode >> wait >> locker.number;
            const core::Acquire acquire{name, mode_of(mode), wait == "wait", policy_, false, {},
                                        0,    locker};
            owners_[line_] = session_of(session);
            request(owners_[line_], acquire);
        } else if (verb == "all" || verb == "any") {
            several(verb, rest);
        } else if (verb == "restrict") {
            std::string session;
            rest >> session;
            for (std::string prefix; rest >> prefix;)
                allowed_[session].push_back(prefix);
        } else if (verb == "end") {
            std::string session;
            rest >> session;
            put(core::CloseSession{session_of(session)});
            sessions_.erase(session);
            while (machine_.needs_sweep())
                put(core::Sweep{});
        } else {
            std::uint64_t operation = 0;
            rest >> operation;
            if (verb == "release") request(owners_[operation], core::Release{Seq{operation}});
            if (verb == "cancel") request(owners_[operation], core::Cancel{Seq{operation}});
            owners_[line_] = owners_[operation];
            if (verb == "upgrade") request(owners_[line_], core::Upgrade{Seq{operation}, true});
            if (verb == "try_upgrade") {
                request(owners_[line_], core::Upgrade{Seq{operation}, false});
            }
            if (verb == "downgrade") {
                std::string mode;
                rest >> mode;
                request(owners_[line_], core::Downgrade{Seq{operation}, mode_of(mode)});
            }
        }
    }

    void several(const std::string& which, std::istringstream& rest) {
        core::AcquireSeveral acquire;
        using Which = core::AcquireSeveral::Which;
        acquire.which = which == "all" ? Which::all : Which::any;
        acquire.policy = policy_;
        std::string session;
        std::string wait;
        rest >> session >> wait >> acquire.locker.number;
        acquire.wait = wait == "wait";
        std::string mode;
        for (std::string name; rest >> name >> mode;)
            acquire.names.push_back({name, mode_of(mode)});
        owners_[line_] = session_of(session);
        request(owners_[line_], acquire);
    }

    SessionId session_of(const std::string& name) {
        if (!sessions_.contains(name)) {
            core::OpenSession open;
            open.nonce = ++nonces_;
            open.incarnation = core::Incarnation{nonces_};
            open.ttl_ms = 10'000;
            for (const auto& prefix : allowed_[name])
                open.access.rules.push_back({core::Right::acquire, prefix});
            put(open);
            sessions_[name] = opened_;
        }
        return sessions_[name];
    }

    void request(SessionId session, core::RequestBody body) {
        put(core::Request{session, Seq{line_}, {}, std::move(body)});
    }

    void put(const core::Command& command) {
        index_ = index_.next();
        for (const auto& outcome : apply(machine_, index_, command)) {
            if (const auto* opened = std::get_if<core::SessionOpened>(&outcome)) {
                opened_ = opened->session;
            } else if (const auto* queued = std::get_if<core::Queued>(&outcome)) {
                std::cout << "queued " << queued->operation.seq.raw() << "\n";
            } else if (const auto* answered = std::get_if<core::Answered>(&outcome)) {
                tell(*answered);
            }
        }
    }

    static void tell(const core::Answered& answered) {
        const auto seq = answered.operation.seq.raw();
        switch (answered.answer.kind) {
            case core::AnswerKind::granted:
                std::cout << "granted " << seq;
                if (answered.answer.token.is_set()) std::cout << " " << answered.answer.token.raw();
                for (const auto& one : answered.answer.names)
                    std::cout << " " << one.name << ":" << one.token.raw();
                std::cout << "\n";
                break;
            case core::AnswerKind::busy: std::cout << "busy " << seq << "\n"; break;
            case core::AnswerKind::released: std::cout << "released " << seq << "\n"; break;
            case core::AnswerKind::cancelled: std::cout << "cancelled " << seq << "\n"; break;
            case core::AnswerKind::not_held: std::cout << "not_held " << seq << "\n"; break;
            case core::AnswerKind::converted:
                std::cout << "converted " << seq << " " << answered.answer.token.raw() << "\n";
                break;
            case core::AnswerKind::deadlock: std::cout << "deadlock " << seq << "\n"; break;
            case core::AnswerKind::invalid_argument: std::cout << "invalid " << seq << "\n"; break;
            case core::AnswerKind::permission_denied: std::cout << "denied " << seq << "\n"; break;
            default: std::cout << "unexpected " << seq << "\n"; break;
        }
    }

    void tell_names() {
        for (const auto& view : machine_.list("", "", core::records_max)) {
            std::cout << "name " << view.name;
            for (const auto& holder : view.holders) {
                std::cout << " " << holder.operation.seq.raw() << ":" << words(holder.mode) << ":"
                          << holder.token.raw();
            }
            std::cout << " |";
            for (const auto& waiter : view.waiters)
                std::cout << " " << waiter.operation.seq.raw();
            std::cout << "\n";
        }
    }

    Machine machine_;
    core::QueuePolicy policy_ = core::QueuePolicy::phase_fair;
    core::LogIndex index_;
    std::uint64_t line_ = 0;
    std::uint64_t nonces_ = 0;
    SessionId opened_;
    std::map<std::string, SessionId> sessions_;
    std::map<std::uint64_t, SessionId> owners_;
    std::map<std::string, std::vector<std::string>> allowed_;
};

}  // namespace
}  // namespace mortise::spec

int main(int count, char** arguments) {
    std::ios::sync_with_stdio(false);
    const std::string_view which = count == 2 ? arguments[1] : "";
    if (which == "machine") {
        mortise::spec::Server<mortise::core::LockMachine>{}.serve();
    } else if (which == "spec") {
        mortise::spec::Server<mortise::spec::LockSpec>{}.serve();
    } else {
        std::cerr << "usage: lock_events machine|spec\n";
        return 2;
    }
    return 0;
}
