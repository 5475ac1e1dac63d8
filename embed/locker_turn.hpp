// One acquire on behalf of a locker, from its question to its answer.
#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "embed/locker_state.hpp"
#include <mortise/detail/start.hpp>
#include <mortise/errc.hpp>

namespace mortise::detail {

[[nodiscard]] inline LockerState::Turn begin_turn(LockerState& locker, const CallGate& gate,
                                                  const AcquireOrder& order) {
    if (locker.gate().get() != &gate) return {{}, Errc::invalid_argument};
    return locker.begin(order.name, order.options.mode);
}

// For a thread that waits: tells the locker what came of it, whatever way the call goes.
class LockerTurn {
public:
    LockerTurn(std::shared_ptr<LockerState> locker, const std::string& name)
        : locker_{std::move(locker)}, name_{name} {}
    ~LockerTurn() {
        if (locker_) std::ignore = locker_->ended(name_, {});
    }
    LockerTurn(const LockerTurn&) = delete;
    LockerTurn& operator=(const LockerTurn&) = delete;

    [[nodiscard]] Hold ended(Hold granted) {
        return std::exchange(locker_, nullptr)->ended(name_, std::move(granted));
    }

private:
    std::shared_ptr<LockerState> locker_;
    const std::string& name_;
};

// The same for a handler.
class LockerFinish final : public Finish {
public:
    LockerFinish(std::shared_ptr<LockerState> locker, std::string name,
                 std::unique_ptr<Finish> next)
        : locker_{std::move(locker)}, name_{std::move(name)}, next_{std::move(next)} {}

    void operator()(std::error_code ec, Hold hold) override {
        (*next_)(ec, locker_->ended(name_, std::move(hold)));
    }

private:
    const std::shared_ptr<LockerState> locker_;
    const std::string name_;
    const std::unique_ptr<Finish> next_;
};

}  // namespace mortise::detail
