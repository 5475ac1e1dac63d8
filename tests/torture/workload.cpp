#include "tests/torture/workload.hpp"

#include <functional>
#include <thread>

#include "tests/support/history_words.hpp"

namespace mortise::tests {

namespace {

using namespace std::chrono_literals;

constexpr auto look_every = 100ms;

}  // namespace

Workload::Workload(Surroundings& around, Habit habit, std::uint64_t seed)
    : around_{around}, habit_{habit}, random_{seed} {
    for (const auto& name : around.names)
        stores_.emplace(name, std::make_unique<SharedCounter>(around.store + "/" + name));
}

void Workload::run() {
    while (!around_.stop.stop_requested() && !node_stopped_) {
        if (chance(2)) disturb();
        const auto wish = draw_wish();
        // What is cached is taken again soon.
        for (auto times = is_cached(wish.name) ? between(1, 8) : 1; times > 0; --times) {
            if (auto hold = ask(wish)) use(*hold);
        }
        sleep(milliseconds(1, 30));
    }
}

Workload::Wish Workload::draw_wish() {
    Wish wish;
    wish.name = draw_name();
    if (chance(30)) wish.mode = LockMode::shared;
    const auto kind = between(1, 100);
    if (kind <= 30) {
        wish.is_try = true;
    } else if (kind <= 70) {
        wish.wait_max = chance(50) ? milliseconds(1, 100) : milliseconds(100, 3000);
    } else if (kind <= 80) {
        wish.cancel_after = milliseconds(1, 500);
    }
    draw_terms(wish);
    return wish;
}

void Workload::draw_terms(Wish& wish) {
    wish.yields = chance(20);
    if (wish.name == around_.names.back()) {
        wish.is_try = false;
        if (chance(50)) wish.min_hold = milliseconds(1, 1000);
        if (chance(50)) wish.lock_delay = milliseconds(1, 2000);
    }
    if (is_cached(wish.name)) {
        wish.is_try = false;
        wish.yields = false;
        return;
    }
    if (chance(15)) wish.max_hold = milliseconds(5, 1000);
}

// One name is cached by the nodes (S39). A node that is cut off keeps it until its session expires,
// and a try finds it busy then, which the judge does not understand: nobody tries it. Nor is it
// broken, since nobody is notified of the loss of an unused grant.
bool Workload::is_cached(const std::string& name) const {
    const auto& names = around_.names;
    return names.size() > 3 && name == names.at(names.size() - 2);
}

const std::string& Workload::draw_name() {
    const auto& names = around_.names;
    if (habit_ == Habit::long_holds) return names.at(0);
    if (chance(30)) return names.at(1);  // a name that all workers want
    const auto last = static_cast<std::int64_t>(names.size()) - 1;
    return names.at(static_cast<std::size_t>(between(1, last)));
}

std::optional<Hold> Workload::ask(const Wish& wish) {
    const auto call = around_.history.next_call();
    record_begin(call, wish);
    asked_at_ = boot_nanoseconds();
    asked_by_ = call;
    std::error_code ec;
    auto hold = call_node(wish, ec);
    record_end(call, wish, hold, ec);
    node_stopped_ = ec == Errc::node_stopped;
    return hold;
}

std::optional<Hold> Workload::call_node(const Wish& wish, std::error_code& ec) {
    std::stop_source cancel;
    const std::function<void()> stop = [&cancel] { cancel.request_stop(); };
    const std::stop_callback with_all{around_.stop.get_token(), stop};
    auto options = options_of(wish);
    options.cancel = cancel.get_token();
    if (wish.is_try) return around_.node.try_acquire(wish.name, options, ec);
    if (wish.wait_max && chance(50))
        return around_.node.acquire_for(wish.name, *wish.wait_max, options, ec);
    if (wish.wait_max) options.wait_max = *wish.wait_max;
    std::jthread canceller;
    if (wish.cancel_after) {
        canceller = std::jthread{[&cancel, after = *wish.cancel_after] {
            std::this_thread::sleep_for(after);
            cancel.request_stop();
        }};
    }
    auto hold = around_.node.acquire(wish.name, options, ec);
    if (!hold) return std::nullopt;
    return hold;
}

AcquireOptions Workload::options_of(const Wish& wish) {
    AcquireOptions options{.mode = wish.mode};
    options.caching = is_cached(wish.name) ? Caching::adaptive : Caching::off;
    if (wish.max_hold) options.max_hold = *wish.max_hold;
    if (wish.min_hold) options.min_hold = *wish.min_hold;
    if (wish.lock_delay) options.lock_delay = *wish.lock_delay;
    is_wanted_ = std::make_shared<std::atomic<bool>>(false);
    if (wish.yields) {
        options.on_contended = [wanted = is_wanted_](LockMode, std::size_t, std::string_view) {
            *wanted = true;
        };
    }
    return options;
}

// A broken holder is notified, and its notification is in the history.
void Workload::disturb() {
    std::error_code ec;
    const auto& name = draw_name();
    if (is_cached(name)) return;
    const auto info = around_.node.inspect(name, ec);
    if (ec || info.holders.empty()) return;
    const auto call = around_.history.next_call();
    const bool asks = chance(50) || name == around_.names.back();  // a break would reopen it
    auto line = around_.history.begin(call, asks ? "ask" : "break", name);
    around_.history.put(line.add("bound", around_.call_timeout.count()));
    if (asks) {
        around_.node.request_release(name, "torture", ec);
    } else {
        around_.node.break_lock(name, info.holders.front().token, "torture", ec);
    }
    around_.history.put(
        around_.history.end(call).add("outcome", ec ? ec.message() : std::string{"done"}));
}

void Workload::record_begin(std::int64_t call, const Wish& wish) {
    auto line = around_.history.begin(call, wish.is_try ? "try" : "acquire", wish.name);
    line.add("hold", call).add("mode", to_string(wish.mode));
    // The longest time of the call, if it is bounded.
    if (wish.is_try) line.add("bound", around_.call_timeout.count());
    if (wish.wait_max) line.add("bound", wish.wait_max->count());
    if (wish.cancel_after) line.add("bound", wish.cancel_after->count());
    if (wish.max_hold) line.add("max_hold", wish.max_hold->count());
    if (wish.min_hold) line.add("min_hold", wish.min_hold->count());
    if (wish.lock_delay) line.add("lock_delay", wish.lock_delay->count());
    around_.history.put(line);
}

void Workload::record_end(std::int64_t call, const Wish& wish, const std::optional<Hold>& hold,
                          const std::error_code& ec) {
    auto line = around_.history.end(call);
    line.add("outcome", outcome_of(ec, wish.is_try, hold.has_value()));
    if (ec) line.add("error", ec.message());
    if (hold) {
        line.add("token", to_string(hold->token()));
        add_valid_until(line, *hold);
    }
    around_.history.put(line);
}

void Workload::use(Hold& hold) {
    // A hold may have ended when its process learns of it: then it was not lost before the call,
    // and nothing else is known.
    const auto now = boot_nanoseconds();
    std::atomic<std::int64_t> seen_valid = hold.valid() ? now : asked_at_;
    const auto name = hold.name();
    const auto token = to_string(hold.token());
    const std::function<void()> on_lost = [this, &seen_valid, &name, &token, &hold] {
        JsonLine line;
        line.add("call", around_.history.next_call()).add("operation", "lost");
        line.add("name", name).add("token", token).add("hold", asked_by_);
        line.add("invoke", seen_valid.load()).add("return", boot_nanoseconds());
        line.add("why", to_string(hold.why_lost()));
        around_.history.put(line);
    };
    const std::stop_callback lost{hold.lost(), on_lost};

    const bool writes = hold.mode() == LockMode::exclusive && chance(50);
    const auto value = writes ? read_as(hold) : std::nullopt;
    if (hold.mode() == LockMode::exclusive && chance(20)) read_and_write_value(hold);
    keep(hold, draw_length(), seen_valid);
    if (writes) write(hold, value);
    release(hold);
}

Workload::Nanoseconds Workload::draw_length() {
    // The longest holds are kept only by renewals.
    if (habit_ == Habit::long_holds && !around_.calm) {
        return std::chrono::milliseconds{200} + around_.ttl * between(0, 100) / 90;
    }
    const auto kind = between(1, 100);
    if (kind <= 70) return milliseconds(0, 5);
    return kind <= 95 ? milliseconds(5, 50) : milliseconds(50, 500);
}

void Workload::keep(const Hold& hold, Nanoseconds length, std::atomic<std::int64_t>& seen_valid) {
    for (auto left = length; left > 0ns; left -= look_every) {
        sleep(std::min<Nanoseconds>(left, look_every));
        // A lost hold stays lost, so a hold that is valid now was valid until now.
        const auto now = boot_nanoseconds();
        if (!hold.valid() || *is_wanted_) return;
        seen_valid = now;
        JsonLine line;
        line.add("call", around_.history.next_call()).add("operation", "valid");
        line.add("name", hold.name()).add("token", to_string(hold.token()));
        line.add("hold", asked_by_);
        line.add("invoke", now).add("return", boot_nanoseconds());
        add_valid_until(line, hold);
        around_.history.put(line);
    }
}

std::optional<std::int64_t> Workload::read_as(const Hold& hold) {
    auto& store = store_of(hold.name());
    if (!store.enter(hold.token().raw())) return std::nullopt;
    return store.read();
}

void Workload::write(const Hold& hold, std::optional<std::int64_t> value) {
    if (!value || !hold) return;
    const auto call = around_.history.next_call();
    auto line = around_.history.begin(call, "write", hold.name());
    around_.history.put(line.add("token", to_string(hold.token())).add("value", *value + 1));
    const bool accepted = store_of(hold.name()).write(*value + 1, hold.token().raw(), true);
    line = around_.history.end(call);
    around_.history.put(line.add("outcome", accepted ? "accepted" : "refused"));
}

void Workload::read_and_write_value(const Hold& hold) {
    const auto token = to_string(hold.token());
    auto call = around_.history.next_call();
    around_.history.put(around_.history.begin(call, "read_value", hold.name()).add("token", token));
    std::error_code ec;
    const auto value = hold.value(ec);
    auto line = around_.history.end(call).add("outcome", ec ? "refused" : "accepted");
    around_.history.put(line.add("value", value.empty() ? "0" : value));
    if (ec) return;
    call = around_.history.next_call();
    around_.history.put(
        around_.history.begin(call, "write_value", hold.name()).add("token", token));
    hold.set_value(token, ec);
    const bool is_sure = !ec || ec == Errc::lock_lost;
    line = around_.history.end(call).add("error", ec ? ec.message() : std::string{});
    around_.history.put(line.add("outcome", !ec ? "accepted" : is_sure ? "refused" : "unknown"));
}

void Workload::release(Hold& hold) {
    const auto call = around_.history.next_call();
    auto line = around_.history.begin(call, "release", hold.name());
    line.add("token", to_string(hold.token())).add("hold", asked_by_);
    line.add("bound", around_.call_timeout.count());
    add_valid_until(line, hold);
    around_.history.put(line);
    std::string_view outcome = "unknown";
    if (chance(10)) {
        hold.unlock();  // does not wait, so its outcome is unknown
    } else {
        const auto ec = hold.release();
        outcome = outcome_of_release(ec);
        node_stopped_ = node_stopped_ || ec == Errc::node_stopped;
    }
    around_.history.put(around_.history.end(call).add("outcome", outcome));
}

void Workload::sleep(Nanoseconds length) {
    const auto until = std::chrono::steady_clock::now() + length;
    while (!around_.stop.stop_requested()) {
        const auto left = until - std::chrono::steady_clock::now();
        if (left <= 0ns) return;
        std::this_thread::sleep_for(std::min<Nanoseconds>(left, look_every));
    }
}

}  // namespace mortise::tests
