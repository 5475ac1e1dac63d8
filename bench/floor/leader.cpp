#include "bench/floor/leader.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <poll.h>

#include "bench/measure/usage.hpp"

namespace mortise::bench {

Leader::Leader(const std::filesystem::path& directory)
    : followers_{Follower{listener_, directory / "follower-1"},
                 Follower{listener_, directory / "follower-2"}},
      log_{directory / "leader"},
      thread_{[this] { run(); }} {}

Leader::~Leader() {
    {
        const std::scoped_lock lock{mutex_};
        ends_ = true;
    }
    not_empty_.notify_one();
    thread_.join();
}

void Leader::commit(const Command& command) {
    std::binary_semaphore committed{0};
    put(command, &committed);
    committed.acquire();
    const std::scoped_lock lock{mutex_};
    if (failure_) std::rethrow_exception(failure_);
}

void Leader::submit(const Command& command) {
    put(command, nullptr);
}

void Leader::put(const Command& command, std::binary_semaphore* waiting) {
    bool was_empty = false;
    {
        const std::scoped_lock lock{mutex_};
        if (failure_) std::rethrow_exception(failure_);
        was_empty = next_.bytes.empty();
        next_.bytes.insert(next_.bytes.end(), command.bytes.begin(), command.bytes.end());
        if (waiting != nullptr) next_.waiting.push_back(waiting);
    }
    if (was_empty) not_empty_.notify_one();
}

nlohmann::json Leader::counters() const {
    auto usage = own_usage();
    for (const auto& follower : followers_) {
        const auto theirs = usage_of(follower.process());
        usage.cpu_ns += theirs.cpu_ns;
        usage.wakeups += theirs.wakeups;
    }
    const auto entries = entries_.load();
    const auto answers = answers_.load();  // a follower syncs once for each of them
    return {{"cpu_ns", usage.cpu_ns},     {"wakeups", usage.wakeups},
            {"entries", entries},         {"commands", commands_.load()},
            {"syncs", entries + answers}, {"messages", 2 * entries + answers}};
}

void Leader::run() noexcept {
    Batch batch;
    try {
        while (take(batch)) {
            replicate(batch);
            for (auto* waiting : batch.waiting)
                waiting->release();
        }
        await_all_followers();
    } catch (...) {
        const std::scoped_lock lock{mutex_};
        failure_ = std::current_exception();
        for (const auto* left : {&batch, &next_})
            for (auto* waiting : left->waiting)
                waiting->release();
    }
}

bool Leader::take(Batch& batch) {
    batch.bytes.clear();
    batch.waiting.clear();
    std::unique_lock lock{mutex_};
    not_empty_.wait(lock, [this] { return ends_ || !next_.bytes.empty(); });
    std::swap(batch, next_);
    return !batch.bytes.empty();
}

void Leader::replicate(const Batch& batch) {
    for (auto& follower : followers_)
        follower.send(batch.bytes);
    sent_ += batch.bytes.size();
    log_.append_durably(batch.bytes);
    await_one_follower();
    ++entries_;
    commands_ += batch.bytes.size() / sizeof(Command);
}

void Leader::await_one_follower() {
    const auto is_committed = [this] {
        return std::ranges::any_of(followers_,
                                   [this](const Follower& it) { return it.durable() >= sent_; });
    };
    while (!is_committed()) {
        pollfd ready[2] = {{followers_[0].descriptor(), POLLIN, 0},
                           {followers_[1].descriptor(), POLLIN, 0}};
        if (::poll(ready, 2, -1) < 0 && errno != EINTR)
            throw std::system_error{errno, std::system_category(), "poll"};
        for (std::size_t i = 0; i < followers_.size(); ++i)
            if (ready[i].revents != 0) followers_[i].take_answer();
    }
    answers_ = followers_[0].answers() + followers_[1].answers();
}

void Leader::await_all_followers() {
    for (auto& follower : followers_)
        while (follower.durable() < sent_)
            follower.take_answer();
}

}  // namespace mortise::bench
