// A history made by hand, one call per line.
#pragma once

#include <string>
#include <utility>

#include "tests/check/call.hpp"

namespace mortise::check::test {

inline constexpr auto exclusive = core::LockMode::exclusive;
inline constexpr auto shared = core::LockMode::shared;

struct Story {
    Calls calls;

    Call& add(std::string process, Operation operation, Time invoked, std::optional<Time> returned,
              Outcome outcome) {
        Call call;
        call.process = std::move(process);
        call.operation = operation;
        call.name = "x";
        call.invoked = invoked;
        call.returned = returned;
        call.outcome = outcome;
        call.line = calls.size() + 1;
        return calls.emplace_back(std::move(call));
    }
    Call& granted(std::string process, Time invoked, Time returned, std::uint64_t token,
                  core::LockMode mode = exclusive) {
        auto& call =
            add(std::move(process), Operation::acquire, invoked, returned, Outcome::granted);
        call.token = token;
        call.mode = mode;
        return call;
    }
    Call& asked(std::string process, Time invoked, std::optional<Time> returned, Outcome outcome,
                core::LockMode mode = exclusive) {
        auto& call =
            add(std::move(process), Operation::acquire, invoked, returned, std::move(outcome));
        call.mode = mode;
        return call;
    }
    Call& busy(std::string process, Time invoked, Time returned, core::LockMode mode = exclusive) {
        auto& call =
            add(std::move(process), Operation::try_acquire, invoked, returned, Outcome::busy);
        call.mode = mode;
        return call;
    }
    Call& released(std::string process, Time invoked, std::optional<Time> returned,
                   std::uint64_t token, Outcome outcome = Outcome::released) {
        auto& call = add(std::move(process), Operation::release, invoked, returned, outcome);
        call.token = token;
        return call;
    }
    Call& lost(std::string process, Time last_valid, Time learned, std::uint64_t token) {
        auto& call = add(std::move(process), Operation::lost, last_valid, learned, Outcome::none);
        call.token = token;
        return call;
    }
    Call& valid(std::string process, Time invoked, Time returned, std::uint64_t token) {
        auto& call = add(std::move(process), Operation::valid, invoked, returned, Outcome::none);
        call.token = token;
        return call;
    }
    void died(std::string process, Time at) {
        add(std::move(process), Operation::died, at, at, Outcome::none).name.clear();
    }
};

}  // namespace mortise::check::test
