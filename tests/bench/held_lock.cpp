// Shows what a held lock takes in memory, by owner: the replicated state, which every member has;
// and what the node of the holder has besides, in its core and in its embedding. The names have 24
// bytes, as in target T7 of docs/performance.md. It fails if one of the figures is above its limit.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/agent/held_locks.hpp"
#include "core/locks/machine/lock_machine.hpp"
#include "embed/holds/hold_table.hpp"
#include "embed/values/clocks.hpp"
#include "tests/bench/live_memory.hpp"

namespace mortise::bench {
namespace {

constexpr std::uint64_t locks = 20'000;
constexpr core::SessionId session{1};

std::string name_of(std::uint64_t number) {
    auto digits = std::to_string(number * 7'919 % locks);
    return "warehouse/shelf/" + std::string(8 - digits.size(), '0') + digits;
}

// Everything that one owner keeps of the locks.
class Owner {
public:
    virtual ~Owner() = default;
    virtual void hold(std::uint64_t number) = 0;
    virtual void settle() {}
};

class Replica final : public Owner {
public:
    Replica() {
        core::OpenSession opening;
        opening.nonce = 1;
        apply({opening});
    }
    void hold(std::uint64_t number) override {
        core::Acquire acquire;
        acquire.names.push_back({name_of(number)});
        batch_.emplace_back(core::Request{session, core::Seq{number}, std::move(acquire)});
        if (batch_.size() == 64) settle();
    }
    void settle() override {
        apply(std::exchange(batch_, {}));
        apply({core::Acknowledge{session, index_}});
        (void)machine_.take_changed_rows();
    }

private:
    void apply(const std::vector<core::Command>& batch) {
        core::Outcomes outcomes;
        index_ = index_.next();
        machine_.apply(index_, batch, outcomes);
    }

    core::LockMachine machine_;
    core::LogIndex index_;
    std::vector<core::Command> batch_;
};

class Agent final : public Owner {
public:
    void hold(std::uint64_t number) override {
        holds_.add(core::Seq{number}, {{name_of(number)}, core::LockMode::exclusive});
    }

private:
    core::HeldLocks holds_;
};

class Embedding final : public Owner {
public:
    Embedding() {
        using namespace std::chrono_literals;
        (void)table_.lease_changed({session, detail::boot_now() + 1h});
        program_.reserve(locks);
    }
    void hold(std::uint64_t number) override {
        core::Acquired granted;
        granted.hold = {session, core::Seq{number}};
        granted.parts.push_back(
            {name_of(number), core::LockMode::exclusive, core::FencingToken{number}, {}});
        program_.push_back(table_.add(std::move(granted), {}));
    }

private:
    detail::Notifier notifier_{"test"};
    detail::EventHub events_{notifier_};
    detail::LeaseThread leases_{[](const std::shared_ptr<detail::Lease>&) {},
                                [](const std::shared_ptr<detail::Lease>&) {}};
    const std::shared_ptr<detail::CallGate> gate_ = std::make_shared<detail::CallGate>(
        [] {}, std::chrono::seconds{1}, std::make_shared<detail::Notifier>("test"));
    detail::HoldTable table_{
        {gate_, events_, leases_, notifier_, std::make_shared<detail::GrantCache>(gate_)}, {}};
    std::vector<Hold> program_;
};

// Bytes for each lock; prints the blocks that most of them are in.
double measure(std::string_view who, Owner& owner) {
    const auto before = live_blocks();
    for (std::uint64_t number = 1; number <= locks; ++number)
        owner.hold(number);
    owner.settle();
    double all = 0;
    std::string blocks;
    for (const auto& [size, count] : live_blocks()) {
        const auto known = before.find(size);
        const auto more = count - (known == before.end() ? 0 : known->second);
        const auto share = static_cast<double>(more) / locks;
        all += share * static_cast<double>(size);
        if (share * static_cast<double>(size) < 1) continue;
        if (!blocks.empty()) blocks += ", ";
        const auto tenths = static_cast<std::int64_t>(share * 100 + 0.5);
        blocks += std::to_string(tenths / 100) + "." + std::to_string(tenths / 10 % 10) +
                  std::to_string(tenths % 10) + " x " + std::to_string(size);
    }
    std::printf("%-10.*s %6.0f bytes: %s\n", static_cast<int>(who.size()), who.data(), all,
                blocks.c_str());
    return all;
}

template <class Kind>
bool is_above(std::string_view who, double limit) {
    const auto owner = std::make_unique<Kind>();
    const auto bytes = measure(who, *owner);
    if (bytes <= limit) return false;
    std::printf("%.*s: more than %.0f bytes\n", static_cast<int>(who.size()), who.data(), limit);
    return true;
}

}  // namespace
}  // namespace mortise::bench

int main() {
    using namespace mortise::bench;
    try {
        std::printf("memory of a held lock with a name of 24 bytes\n");
        bool fails = is_above<Replica>("replica", 155);
        fails = is_above<Agent>("agent", 64) || fails;
        fails = is_above<Embedding>("embedding", 215) || fails;
        return fails ? EXIT_FAILURE : EXIT_SUCCESS;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return EXIT_FAILURE;
    }
}
