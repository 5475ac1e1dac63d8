// The calls of a worker, recorded as lines of a history that judged.py reads: all holds are
// exclusive.
#pragma once

#include <optional>
#include <string>

#include "tests/support/history_words.hpp"
#include "tests/support/history_writer.hpp"
#include <mortise/mortise.hpp>

namespace mortise::tests {

struct RecordedHold {
    Hold hold;
    std::int64_t seen_valid = 0;  // or the time of the call, if it had ended before it was reported
};

class RecordedCalls {
public:
    // Both outlive this.
    RecordedCalls(Node& node, HistoryWriter& history) : node_{node}, history_{history} {}

    RecordedHold acquire(const std::string& name, const AcquireOptions& options,
                         std::error_code& ec) {
        const auto asked = begin("acquire", name);
        RecordedHold got{node_.acquire(name, options, ec)};
        end(asked, outcome_of(ec, false, static_cast<bool>(got.hold)), got);
        return got;
    }

    std::optional<RecordedHold> try_acquire(const std::string& name, LockInfo& busy) {
        const auto asked = begin("try", name);
        auto hold = node_.try_acquire(name, {.caching = Caching::off}, busy);
        RecordedHold got;
        if (hold) got.hold = std::move(*hold);
        end(asked, outcome_of({}, true, hold.has_value()), got);
        return hold ? std::optional{std::move(got)} : std::nullopt;
    }

    std::error_code release(Hold& hold) {
        const auto call = begin_release(hold);
        const auto ec = hold.release();
        history_.put(history_.end(call).add("outcome", outcome_of_release(ec)));
        return ec;
    }

    // The hold goes out of scope, so its release has no known outcome.
    void leave(const RecordedHold& held) {
        if (held.hold.valid()) {
            begin_release(held.hold);
        } else {
            lost(held.hold.name(), to_string(held.hold.token()), held.seen_valid,
                 held.hold.why_lost());
        }
    }

    void lost(const std::string& name, const std::string& token, std::int64_t seen_valid,
              LossReason why) {
        JsonLine line;
        line.add("call", history_.next_call()).add("operation", "lost").add("name", name);
        line.add("token", token).add("invoke", seen_valid).add("return", boot_nanoseconds());
        history_.put(line.add("why", to_string(why)));
    }

private:
    struct Asked {
        std::int64_t call = 0;
        std::int64_t at = 0;
    };

    Asked begin(std::string_view operation, const std::string& name) {
        const Asked asked{history_.next_call(), boot_nanoseconds()};
        history_.put(history_.begin(asked.call, operation, name).add("mode", "exclusive"));
        return asked;
    }

    void end(const Asked& asked, std::string_view outcome, RecordedHold& got) {
        auto line = history_.end(asked.call);
        line.add("outcome", outcome);
        if (got.hold) {
            line.add("token", to_string(got.hold.token()));
            add_valid_until(line, got.hold);
        }
        history_.put(line);
        const auto now = boot_nanoseconds();
        got.seen_valid = got.hold.valid() ? now : asked.at;
    }

    std::int64_t begin_release(const Hold& hold) {
        const auto call = history_.next_call();
        auto line = history_.begin(call, "release", hold.name());
        line.add("token", to_string(hold.token()));
        add_valid_until(line, hold);
        history_.put(line);
        return call;
    }

    Node& node_;
    HistoryWriter& history_;
};

}  // namespace mortise::tests
