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
//   permits SESSION NAME COUNT LIMIT wait|try
//   resize SESSION NAME LIMIT VERSION
//   remove SESSION NAME
//   end SESSION
//
// Answers to each line: what came of it, then all names, then a line with a dot.
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "core/locks/machine/lock_machine.hpp"
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
            const core::Acquire acquire{
                {{name, mode_of(mode)}}, wait == "wait", policy_, false, {}, 0, locker};
            request(session_of(session), acquire);
        } else if (verb == "all" || verb == "any") {
            several(verb, rest);
        } else if (verb == "permits" || verb == "resize" || verb == "remove") {
            semaphore(verb, rest);
        } else if (verb == "restrict") {
            std::string session;
            rest >> session;
            for (std::string prefix; rest >> prefix;)
                allowed_[session].push_back(prefix);
        } else if (verb == "end") {
            std::string session;
            rest >> session;
            close(session_of(session));
            sessions_.erase(session);
            while (machine_.needs_sweep())
                put(core::Sweep{});
        } else {
            std::uint64_t operation = 0;
            rest >> operation;
            const auto [session, seq] = operations_[operation];
            if (verb == "release") request(session, core::Release{seq});
            if (verb == "cancel") request(session, core::Cancel{seq});
            if (verb == "upgrade") request(session, core::Upgrade{seq, true});
            if (verb == "try_upgrade") request(session, core::Upgrade{seq, false});
            if (verb == "downgrade") {
                std::string mode;
                rest >> mode;
                request(session, core::Downgrade{seq, mode_of(mode)});
            }
        }
    }

    void several(const std::string& which, std::istringstream& rest) {
        core::Acquire acquire;
        using Which = core::Acquire::Which;
        acquire.which = which == "all" ? Which::all : Which::any;
        acquire.policy = policy_;
        std::string session;
        std::string wait;
        rest >> session >> wait >> acquire.locker.number;
        acquire.wait = wait == "wait";
        std::string mode;
        for (std::string name; rest >> name >> mode;)
            acquire.names.push_back({name, mode_of(mode)});
        request(session_of(session), acquire);
    }

    void semaphore(const std::string& verb, std::istringstream& rest) {
        std::string session;
        core::Resize resize;
        core::Acquire acquire;
        rest >> session >> resize.name;
        if (verb == "remove") return request(session_of(session), core::Remove{resize.name});
        if (verb == "resize") {
            rest >> resize.limit >> resize.expected_version;
            return request(session_of(session), resize);
        }
        std::string wait;
        rest >> acquire.permits >> acquire.limit >> wait;
        acquire.names.push_back({resize.name});
        acquire.wait = wait == "wait";
        request(session_of(session), acquire);
    }

    SessionId session_of(const std::string& name) {
        if (!sessions_.contains(name)) {
            core::OpenSession open;
            open.nonce = ++nonces_;
            open.generation.incarnation = core::Incarnation{nonces_};
            open.ttl_ms = 10'000;
            for (const auto& prefix : allowed_[name])
                open.access.rules.push_back({core::Right::acquire, prefix});
            put(open);
            sessions_[name] = opened_;
        }
        return sessions_[name];
    }

    // The model has no sequence numbers: a request is reported by its line. A request ahead of its
    // turn, and a repetition after it, change nothing.
    void request(SessionId session, core::RequestBody body) {
        auto& newest = newest_[session];
        newest = newest.next();
        operations_[line_] = {session, newest};
        lines_[operations_[line_]] = line_;
        const core::Request asked{session, newest, std::move(body)};
        auto ahead = asked;
        ahead.seq = newest.next();
        expect_silence(ahead);
        put(asked);
        put_again(asked);
    }

    void close(SessionId session) {
        put(core::Request{session, newest_[session].next(), core::CloseSession{}});
    }

    void expect_silence(const core::Command& command) {
        index_ = index_.next();
        if (!apply(machine_, index_, command).empty()) std::cout << "unexpected " << line_ << "\n";
    }

    // Repeats the same answer, and reports nothing else.
    void put_again(const core::Request& asked) {
        index_ = index_.next();
        const auto told = apply(machine_, index_, asked);
        const OperationId operation{asked.session, asked.seq};
        const auto* answered = told.size() == 1 ? std::get_if<core::Answered>(&told[0]) : nullptr;
        const auto* queued = told.size() == 1 ? std::get_if<core::Queued>(&told[0]) : nullptr;
        const bool same = (answered != nullptr && answered->operation == operation) ||
                          (queued != nullptr && queued->operation == operation);
        const bool is_live = asked.session.is_set() && asked.session.raw() <= opened_.raw() &&
                             !ended_.contains(asked.session);
        if (same != is_live) std::cout << "unexpected " << line_ << "\n";
    }

    std::uint64_t line_of(OperationId operation) const {
        const auto found = lines_.find(operation);
        return found == lines_.end() ? 0 : found->second;
    }

    void put(const core::Command& command) {
        index_ = index_.next();
        for (const auto& outcome : apply(machine_, index_, command)) {
            if (const auto* opened = std::get_if<core::SessionOpened>(&outcome)) {
                opened_ = opened->session;
            } else if (const auto* ended = std::get_if<core::SessionEnded>(&outcome)) {
                ended_.insert(ended->session);
            } else if (const auto* queued = std::get_if<core::Queued>(&outcome)) {
                std::cout << "queued " << line_of(queued->operation) << "\n";
            } else if (const auto* answered = std::get_if<core::Answered>(&outcome)) {
                tell(*answered);
            }
        }
    }

    void tell(const core::Answered& answered) const {
        const auto seq = line_of(answered.operation);
        switch (answered.answer.kind) {
            case core::AnswerKind::granted:
                std::cout << "granted " << seq;
                if (answered.answer.token.is_set()) std::cout << " " << answered.answer.token.raw();
                for (const auto& one : answered.answer.names)
                    std::cout << " " << one.name << in_words(one.slots) << ":" << one.token.raw();
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
            case core::AnswerKind::kind_mismatch: std::cout << "mismatch " << seq << "\n"; break;
            case core::AnswerKind::stored: std::cout << "stored " << seq << "\n"; break;
            case core::AnswerKind::permission_denied: std::cout << "denied " << seq << "\n"; break;
            default: std::cout << "unexpected " << seq << "\n"; break;
        }
    }

    // "=0,2"
    static std::string in_words(const core::Slots& slots) {
        std::string text;
        for (const auto slot : slots)
            text += (text.empty() ? "=" : ",") + std::to_string(slot);
        return text;
    }

    void tell_names() {
        for (const auto& view : machine_.list("", "", core::records_max)) {
            std::cout << "name " << view.name;
            for (const auto& holder : view.holders) {
                std::cout << " " << line_of(holder.operation) << ":" << words(holder.mode)
                          << in_words(holder.slots) << ":" << holder.token.raw();
            }
            std::cout << " |";
            for (const auto& waiter : view.waiters)
                std::cout << " " << line_of(waiter.operation);
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
    std::set<SessionId> ended_;
    std::map<SessionId, Seq> newest_;                  // requests
    std::map<std::uint64_t, OperationId> operations_;  // by the line that requested it
    std::map<OperationId, std::uint64_t> lines_;
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
