#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <system_error>
#include <utility>
#include <vector>

#include <mortise.h>

#include "embed/capi/acquired.hpp"
#include "embed/capi/calls.hpp"
#include "embed/capi/error.hpp"
#include "embed/capi/handles.hpp"
#include "embed/capi/options.hpp"
#include "embed/capi/structs.hpp"
#include <mortise/detail/start.hpp>
#include <mortise/enums.hpp>
#include <mortise/errc.hpp>
#include <mortise/hold.hpp>

using namespace mortise::capi;

namespace mortise::capi {
namespace {

static_assert(MORTISE_HOLD_HELD == static_cast<int>(HoldState::held));
static_assert(MORTISE_HOLD_AT_RISK == static_cast<int>(HoldState::at_risk));
static_assert(MORTISE_HOLD_SUSPENDED == static_cast<int>(HoldState::suspended));
static_assert(MORTISE_HOLD_LOST == static_cast<int>(HoldState::lost));
static_assert(MORTISE_HOLD_RELEASED == static_cast<int>(HoldState::released));
static_assert(MORTISE_LOSS_NONE == static_cast<int>(LossReason::none));
static_assert(MORTISE_LOSS_EXPIRED == static_cast<int>(LossReason::expired));
static_assert(MORTISE_LOSS_BROKEN == static_cast<int>(LossReason::broken));
static_assert(MORTISE_LOSS_NODE_STOPPED == static_cast<int>(LossReason::node_stopped));
static_assert(MORTISE_LOSS_FORKED == static_cast<int>(LossReason::forked));
static_assert(MORTISE_PREDECESSOR_NONE == static_cast<int>(Predecessor::none));
static_assert(MORTISE_PREDECESSOR_CLEAN == static_cast<int>(Predecessor::clean));
static_assert(MORTISE_PREDECESSOR_EXPIRED == static_cast<int>(Predecessor::expired));
static_assert(MORTISE_PREDECESSOR_BROKEN == static_cast<int>(Predecessor::broken));

constexpr std::size_t oldest_previous = 40;
static_assert(sizeof(mortise_previous) >= oldest_previous);

// Converts the hold with `convert`, which receives it and where its error goes.
template <class Convert>
void convert_with(mortise_hold* hold, const Convert& convert) {
    const auto& held = of_one_name(hold);
    if (held.watch->is_of_parent()) fail_if(held, Errc::forked);
    std::error_code ec;
    {
        const std::lock_guard lock{held.converting->mutex};
        require(!held.converting->upgrades, "the hold is being upgraded");
        convert(hold->hold, ec);
    }
    fail_if(held, ec);
}

// Ends the upgrade before the callback learns of it.
class Upgraded final : public detail::Finish {
public:
    Upgraded(std::shared_ptr<Converting> converting, std::unique_ptr<detail::Finish> next)
        : converting_{std::move(converting)}, next_{std::move(next)} {
        // A thread has it for as long as its upgrade waits.
        const std::unique_lock lock{converting_->mutex, std::try_to_lock};
        require(lock.owns_lock() && !converting_->upgrades, "the hold is being converted");
        is_begun_ = converting_->upgrades = true;
    }
    ~Upgraded() override { end(); }

    void operator()(std::error_code ec, Hold hold) override {
        end();
        (*next_)(ec, std::move(hold));
    }

private:
    void end() noexcept {
        const std::lock_guard lock{converting_->mutex};
        if (std::exchange(is_begun_, false)) converting_->upgrades = false;
    }

    const std::shared_ptr<Converting> converting_;
    const std::unique_ptr<detail::Finish> next_;
    bool is_begun_ = false;
};

struct UpgradeOrder {
    const mortise_hold* hold;
    detail::Deadline deadline;
    std::stop_token cancel;
    ErrorDetail* detail = nullptr;
};

void start_upgrade(const std::shared_ptr<detail::NodeRuntime>& /*of the hold*/, UpgradeOrder order,
                   std::unique_ptr<detail::Finish> end) {
    const auto& held = *order.hold;
    auto finish = std::make_unique<Upgraded>(held.converting, std::move(end));
    detail::start_upgrade(held.hold, order.deadline, order.cancel, order.detail, std::move(finish));
}

}  // namespace

mortise_hold* handle_of(std::optional<Hold> hold) {
    if (!hold) return nullptr;
    auto name = hold->name();
    auto previous = hold->previous();
    auto watch = std::make_shared<LostWatch>();
    std::vector<std::unique_ptr<mortise_hold>> parts;
    for (auto& part : detail::parts_of(*hold))
        parts.push_back(std::unique_ptr<mortise_hold>{handle_of(std::move(part))});
    return new mortise_hold{std::move(*hold), std::move(name), std::move(previous),
                            std::move(watch), std::move(parts)};
}

}  // namespace mortise::capi

int mortise_hold_release(mortise_hold* hold, mortise_error** error) {
    return guarded(error, [&] {
        give_up(existing(hold, "hold is NULL"), [](mortise::Hold& held) { return held.release(); });
    });
}

void mortise_hold_unlock(mortise_hold* hold) {
    if (hold == nullptr) return;
    hold->watch->end();
    if (!hold->is_released.exchange(true)) hold->hold.unlock();
}

void mortise_hold_free(mortise_hold* hold) {
    mortise_hold_unlock(hold);
    delete hold;
}

const char* mortise_hold_name(const mortise_hold* hold, size_t* length) {
    if (length != nullptr) *length = hold != nullptr ? hold->name.size() : 0;
    return hold != nullptr ? hold->name.c_str() : "";
}

mortise_mode mortise_hold_mode(const mortise_hold* hold) {
    return hold != nullptr ? mode_of(hold->hold.mode()) : MORTISE_MODE_EXCLUSIVE;
}

int64_t mortise_hold_token(const mortise_hold* hold) {
    return hold != nullptr ? hold->hold.token().raw() : 0;
}

int mortise_hold_valid(const mortise_hold* hold) {
    return hold != nullptr && hold->hold.valid() ? 1 : 0;
}

int64_t mortise_hold_remaining_ns(const mortise_hold* hold) {
    return hold != nullptr ? hold->hold.remaining().to_nanoseconds().count() : 0;
}

int mortise_hold_state(const mortise_hold* hold) {
    return hold != nullptr ? static_cast<int>(hold->hold.state()) : MORTISE_HOLD_RELEASED;
}

mortise_loss_reason mortise_hold_why_lost(const mortise_hold* hold) {
    return hold != nullptr ? static_cast<int>(hold->hold.why_lost()) : MORTISE_LOSS_NONE;
}

int mortise_hold_check(const mortise_hold* hold, mortise_error** error) {
    return guarded(error, [&] {
        const auto& held = existing(hold, "hold is NULL");
        fail_if(held, held.hold.failure());
    });
}

int mortise_hold_confirm(const mortise_hold* hold, int64_t wait_max_ns, mortise_error** error) {
    return guarded(error, [&] {
        const auto wait = time_of(wait_max_ns, "wait_max_ns is negative");
        const auto& held = existing(hold, "hold is NULL");
        std::error_code ec;
        held.hold.confirm(std::chrono::steady_clock::now() + wait, ec);
        fail_if(held, ec);
    });
}

void mortise_hold_checkpoint(const mortise_hold* hold) {
    if (hold != nullptr) hold->hold.checkpoint();
}

int mortise_hold_on_lost(mortise_hold* hold, mortise_lost_callback lost, void* context,
                         void (*destroy)(void* context), mortise_error** error) {
    CallbackContext owned{context, destroy};
    return guarded(error, [&] {
        require(lost != nullptr, "lost is NULL");
        const auto watch = existing(hold, "hold is NULL").watch;  // the callback may free the hold
        watch->begin(hold->hold.lost(), lost, std::move(owned));
    });
}

int mortise_hold_value(const mortise_hold* hold, char** bytes, size_t* length,
                       mortise_error** error) {
    return give_bytes(bytes, length, error, [&] {
        const auto& held = of_one_name(hold);
        std::error_code ec;
        auto value = held.hold.value(ec);
        fail_if(held, ec);
        return value;
    });
}

int mortise_hold_set_value(const mortise_hold* hold, const char* bytes, size_t length,
                           mortise_error** error) {
    return guarded(error, [&] {
        const auto& held = of_one_name(hold);
        std::error_code ec;
        held.hold.set_value(text(bytes, length, "bytes is NULL"), ec);
        fail_if(held, ec);
    });
}

int mortise_hold_consistent(const mortise_hold* hold, mortise_error** error) {
    return guarded(error, [&] {
        const auto& held = of_one_name(hold);
        std::error_code ec;
        held.hold.consistent(ec);
        fail_if(held, ec);
    });
}

int mortise_hold_previous(const mortise_hold* hold, mortise_previous* previous,
                          mortise_error** error) {
    return guarded(error, [&] {
        require(previous != nullptr, "previous is NULL");
        const auto& before = of_one_name(hold).previous;
        mortise_previous known{};
        known.label = before.label.c_str();
        known.label_length = before.label.size();
        known.token = before.token.raw();
        known.how = static_cast<int>(before.how);
        write_struct(known, *previous, oldest_previous);
    });
}

int mortise_hold_downgrade(mortise_hold* hold, mortise_mode mode, mortise_error** error) {
    return guarded(error, [&] {
        const auto wanted = lock_mode(mode, "mode is no mode");
        convert_with(hold,
                     [&](mortise::Hold& held, std::error_code& ec) { held.downgrade(wanted, ec); });
    });
}

int mortise_hold_upgrade_for(mortise_hold* hold, int64_t wait_max_ns,
                             const mortise_wait_options* options, int* has_passed,
                             mortise_error** error) {
    return answered(has_passed, error, "has_passed is NULL", [&] {
        const auto until = deadline_of(wait_max_ns);
        const auto cancel = wait_options_of(options).cancel;
        bool is_upgraded = true;
        convert_with(hold, [&](mortise::Hold& held, std::error_code& ec) {
            held.upgrade(until, cancel, ec);
            is_upgraded = !ec;
            if (ec == mortise::Errc::timed_out) ec.clear();
        });
        return is_upgraded;
    });
}

int mortise_hold_upgrade_async(mortise_hold* hold, int64_t wait_max_ns,
                               const mortise_wait_options* options, mortise_waited_callback waited,
                               void* context, void (*destroy)(void* context),
                               mortise_error** error) {
    return begin_async(Then<WaitEnd>{waited, context, destroy}, error, start_upgrade, [&] {
        const auto& held = of_one_name(hold);
        if (held.watch->is_of_parent()) fail_if(held, mortise::Errc::forked);
        UpgradeOrder order{&held, deadline_of(wait_max_ns), wait_options_of(options).cancel};
        return Asked<UpgradeOrder>{{}, std::move(order)};
    });
}

size_t mortise_hold_parts(const mortise_hold* hold) {
    return hold != nullptr ? hold->parts.size() : 0;
}

const mortise_hold* mortise_hold_part(const mortise_hold* hold, size_t index) {
    return index < mortise_hold_parts(hold) ? hold->parts[index].get() : nullptr;
}
