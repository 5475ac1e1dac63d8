// A lock machine with three sessions, and short forms of the requests to it and of its outcomes.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/locks/machine/lock_machine.hpp"
#include "tests/spec/words.hpp"

namespace mortise::core {

class LockMachineTest : public testing::Test {
protected:
    LockMachineTest() {
        for (std::uint64_t i = 1; i <= 3; ++i)
            put(opening(i));  // sessions 1, 2 and 3
    }

    // Without the checks of put(), which examine the whole state.
    Outcomes apply(const std::vector<Command>& batch) {
        index_ = index_.next();
        Outcomes outcomes;
        machine_.apply(index_, batch, outcomes);
        return outcomes;
    }

    // Applies one entry and returns its outcomes as text, grants last, since the rules do not
    // determine their place among the outcomes.
    std::string put(const std::vector<Command>& batch) {
        expect_no_gap(batch);
        return put_as_it_is(batch);
    }
    std::string put(Command command) { return put(std::vector<Command>{std::move(command)}); }
    // The same, but a request may come ahead of a missing one.
    std::string put_as_it_is(const std::vector<Command>& batch) {
        const auto outcomes = apply(batch);
        machine_.check_invariants();
        std::string said;
        std::string granted;
        for (const auto& outcome : outcomes) {
            const auto* answered = std::get_if<Answered>(&outcome);
            const bool grant = answered != nullptr && answered->answer.kind == AnswerKind::granted;
            auto& text = grant ? granted : said;
            text += (text.empty() ? "" : "; ") + spec::words(outcome);
        }
        if (said.empty()) return granted;
        return granted.empty() ? said : said + "; " + granted;
    }
    std::string put_ahead(Command command) {
        return put_as_it_is(std::vector<Command>{std::move(command)});
    }

    static OpenSession opening(std::uint64_t who, std::uint64_t epoch = 1) {
        OpenSession open;
        open.nonce = 10 * who + epoch;
        open.node = NodeId{who};
        open.generation.incarnation = Incarnation{100 + who};
        open.generation.boot_epoch = BootEpoch{epoch};
        open.ttl_ms = 10'000;
        open.rho_ppm = 10'000;
        return open;
    }

    static Request request(std::uint64_t session, std::uint64_t seq, RequestBody body) {
        return {SessionId{session}, Seq{seq}, std::move(body)};
    }
    static Request acquire(std::uint64_t session, std::uint64_t seq, LockMode mode,
                           const std::string& name = "a") {
        return request(session, seq, Acquire{{{name, mode}}, true, {}, false, {}});
    }
    static Request fifo_acquire(std::uint64_t session, std::uint64_t seq, LockMode mode) {
        return request(session, seq, Acquire{{{"a", mode}}, true, QueuePolicy::fifo, false, {}});
    }
    static Request try_acquire(std::uint64_t session, std::uint64_t seq, LockMode mode) {
        return request(session, seq, Acquire{{{"a", mode}}, false, {}, false, {}});
    }
    static Request cached(std::uint64_t session, std::uint64_t seq, std::uint32_t tokens,
                          LockMode mode = LockMode::exclusive) {
        Acquire asked{{{"a", mode}}, true, {}, false, {}};
        asked.cached_tokens = tokens;
        return request(session, seq, std::move(asked));
    }
    static Acquire some_permits(std::uint32_t permits, std::uint32_t limit = 3,
                                const std::string& name = "a") {
        Acquire asked{{{name, LockMode::exclusive}}, true, {}, false, {}};
        asked.permits = permits;
        asked.limit = limit;
        return asked;
    }
    static Request permits(std::uint64_t session, std::uint64_t seq, std::uint32_t permits,
                           std::uint32_t limit = 3, const std::string& name = "a") {
        return request(session, seq, some_permits(permits, limit, name));
    }
    static Request release(std::uint64_t session, std::uint64_t seq, std::uint64_t operation) {
        return request(session, seq, Release{Seq{operation}});
    }
    static Request cancel(std::uint64_t session, std::uint64_t seq, std::uint64_t operation) {
        return request(session, seq, Cancel{Seq{operation}});
    }
    // The request has the next number of its session.
    Command close(std::uint64_t session) const {
        return request(session, next_of(session), CloseSession{});
    }
    // The number of the next request of the session.
    std::uint64_t next_of(std::uint64_t session) const {
        const auto* found = machine_.sessions().find(SessionId{session});
        return found == nullptr ? 1 : found->applied.next().raw();
    }
    // An expiry for the newest renewal.
    Command expiry(std::uint64_t session) const {
        const auto* found = machine_.sessions().find(SessionId{session});
        return Expire{SessionId{session}, found == nullptr ? index_ : found->renewed_at};
    }

    // "1:S:7 2:S:7 | 3:X": holders as session:mode:token, then waiters. Of a semaphore: a hold with
    // its slots "1:X:7[0 1]", and a waiter with its permits "3:X*2".
    [[nodiscard]] std::string shown(const std::string& name = "a") const {
        std::string text;
        const auto view = machine_.inspect(name);
        for (const auto& holder : view.holders) {
            text += std::to_string(holder.operation.session.raw()) + ":" +
                    spec::words(holder.mode) + ":" + std::to_string(holder.token.raw());
            std::string slots;
            for (const auto slot : holder.slots)
                slots += (slots.empty() ? "" : " ") + std::to_string(slot);
            text += slots.empty() ? " " : "[" + slots + "] ";
        }
        text += "|";
        for (const auto& waiter : view.waiters) {
            text += " " + std::to_string(waiter.operation.session.raw()) + ":" +
                    spec::words(waiter.mode);
            if (waiter.permits != 0) text += "*" + std::to_string(waiter.permits);
        }
        return text;
    }

    LockMachine machine_;
    LogIndex index_;

private:
    // Fails if a request has no effect, because it is ahead of a missing one: a test would hardly
    // notice that.
    void expect_no_gap(const std::vector<Command>& batch) const {
        std::map<SessionId, Seq> newest;
        for (const auto& command : batch) {
            const auto* asked = std::get_if<Request>(&command);
            const auto* session =
                asked == nullptr ? nullptr : machine_.sessions().find(asked->session);
            if (session == nullptr) continue;
            auto& known = newest.try_emplace(session->id, session->applied).first->second;
            EXPECT_LE(asked->seq, known.next()) << spec::words(command);
            known = std::max(known, asked->seq);
        }
    }
};

}  // namespace mortise::core
