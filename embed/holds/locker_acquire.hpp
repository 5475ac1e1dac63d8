// One acquire of a locker, from its request to its answer.
#pragma once

#include <memory>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "embed/holds/locker_state.hpp"
#include <mortise/detail/start.hpp>
#include <mortise/errc.hpp>

namespace mortise::detail {

[[nodiscard]] inline LockerState::Nesting begin_acquire(LockerState& locker, const CallGate& gate,
                                                        const AcquireOrder& order) {
    if (locker.gate().get() != &gate) return {{}, Errc::invalid_argument};
    return locker.begin(order.name, order.options.mode);
}

// Passes the result to the locker for a thread that waits, however the call ends.
class LockerAcquire {
public:
    LockerAcquire(std::shared_ptr<LockerState> locker, const std::string& name)
        : locker_{std::move(locker)}, name_{name} {}
    ~LockerAcquire() {
        if (locker_) std::ignore = locker_->ended(name_, {});
    }
    LockerAcquire(const LockerAcquire&) = delete;
    LockerAcquire& operator=(const LockerAcquire&) = delete;

    [[nodiscard]] Hold ended(Hold granted) {
        return std::exchange(locker_, nullptr)->ended(name_, std::move(granted));
    }

private:
    std::shared_ptr<LockerState> locker_;
    const std::string& name_;
};

// Likewise for a handler.
class LockerFinish final : public Finish {
public:
    LockerFinish(std::string name, std::unique_ptr<Finish> next)
        : name_{std::move(name)}, next_{std::move(next)} {}

    // The cluster is being asked for that locker: from now on this object reports the end, whether
    // it is called or not.
    void begin(std::shared_ptr<LockerState> locker) { acquire_.emplace(std::move(locker), name_); }

    void operator()(std::error_code ec, Hold hold) override {
        Hold shared;
        try {
            shared = acquire_ ? acquire_->ended(std::move(hold)) : std::move(hold);
        } catch (const std::bad_alloc&) {
            ec = Errc::resource_exhausted;
        }
        (*next_)(ec, std::move(shared));
    }

private:
    const std::string name_;
    std::unique_ptr<Finish> next_;
    std::optional<LockerAcquire> acquire_;
};

// Likewise for a handler of several names.
class JoiningFinish final : public Finish {
public:
    JoiningFinish(std::shared_ptr<LockerState> locker, std::unique_ptr<Finish> next)
        : locker_{std::move(locker)}, next_{std::move(next)} {}

    void operator()(std::error_code ec, Hold hold) override {
        try {
            if (hold) locker_->add(hold);
        } catch (const std::bad_alloc&) {
            ec = Errc::resource_exhausted;
            hold = {};
        }
        (*next_)(ec, std::move(hold));
    }

private:
    const std::shared_ptr<LockerState> locker_;
    const std::unique_ptr<Finish> next_;
};

}  // namespace mortise::detail
