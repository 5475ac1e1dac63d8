#include "tests/process/kept_holds.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include "tests/process/said.hpp"

namespace mortise::tests {

using namespace std::chrono_literals;

void say_outcome(const std::error_code& ec, const std::string& done, const std::string& name) {
    say(ec ? "error " + name + " " + ec.message() : done + " " + name);
}

void KeptHolds::keep(RecordedHold got) {
    const std::scoped_lock lock{mutex_};  // a thread that reads the line may release it
    const auto hold = std::make_shared<Hold>(std::move(got.hold));
    const auto name = hold->name();
    const auto token = to_string(hold->token());
    say("held " + name + " " + token + " " + std::string{to_string(hold->previous().how)} + " " +
        boot_time());
    Kept kept;
    kept.hold = hold;
    std::function<void()> lost = [this, name, token, hold = hold.get(),
                                  seen_valid = got.seen_valid] {
        calls_.lost(name, token, seen_valid, hold->why_lost());
        say("lost " + name + " " + token + " " + boot_time() + " " +
            std::string{to_string(hold->why_lost())});
    };
    kept.on_lost =
        std::make_unique<std::stop_callback<std::function<void()>>>(hold->lost(), std::move(lost));
    holds_[name] = std::move(kept);
}

void KeptHolds::release(const std::string& name) {
    Kept kept;
    {
        const std::scoped_lock lock{mutex_};
        kept = std::move(holds_.extract(name).mapped());
    }
    say_outcome(calls_.release(*kept.hold), "released", name);
}

std::shared_ptr<Hold> KeptHolds::hold_of(const std::string& name) {
    const std::scoped_lock lock{mutex_};
    return of(name).hold;
}

void KeptHolds::is_valid(const std::string& name) {
    say("valid " + name + (hold_of(name)->valid() ? " yes" : " no"));
}

void KeptHolds::confirm(const std::string& name) {
    std::thread{[name, hold = hold_of(name)] {
        std::error_code ec;
        hold->confirm(ec);
        say_outcome(ec, "confirmed", name);
    }}.detach();
}

void KeptHolds::write(const std::string& name, const std::string& bytes) {
    std::error_code ec;
    hold_of(name)->set_value(bytes, ec);
    say_outcome(ec, "wrote", name);
}

void KeptHolds::vouch(const std::string& name) {
    std::error_code ec;
    hold_of(name)->consistent(ec);
    say_outcome(ec, "vouched", name);
}

void KeptHolds::work(const std::string& name) {
    const std::scoped_lock lock{mutex_};
    const auto& kept = of(name);
    std::thread{[hold = kept.hold, rests = kept.rests.get_token()] {
        while (hold->valid() && !rests.stop_requested()) {
            hold->checkpoint();
            std::this_thread::sleep_for(50ms);
        }
    }}.detach();
}

void KeptHolds::rest(const std::string& name) {
    const std::scoped_lock lock{mutex_};
    of(name).rests.request_stop();
}

}  // namespace mortise::tests
