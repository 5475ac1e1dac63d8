// A process that forks: its children hold nothing, wait for nothing and do not affect it (S25).
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <set>
#include <source_location>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <asio/use_future.hpp>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/embed/one_node.hpp"
#include "tests/support/child.hpp"
#include <mortise/async.hpp>
#include <mortise/mortise.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;

// For a child, whose failed assertions would not be reported: remembers the first line that failed.
class Checks {
public:
    void that(bool holds, std::source_location here = std::source_location::current()) {
        if (!holds && line_ == 0) line_ = static_cast<int>(here.line());
    }
    [[nodiscard]] int line() const { return line_; }

private:
    int line_ = 0;
};

// The first line that failed in the child; 0 if none did, and -1 if it did not end by itself.
int in_child(const std::function<void(Checks&)>& body) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    const auto child = tests::begin_child([&] {
        Checks checks;
        body(checks);
        const int line = checks.line();
        return write(ends[1], &line, sizeof line) == sizeof line ? 0 : 1;
    });
    close(ends[1]);
    int line = -1;
    if (read(ends[0], &line, sizeof line) != sizeof line) line = -1;
    close(ends[0]);
    return tests::end_of(child) == 0 ? line : -1;
}

// Whether the call throws that error.
template <class Call>
bool is_forked(Call call) {
    try {
        call();
    } catch (const LockError& error) {
        return error.code() == Errc::forked;
    }
    return false;
}

class Fork : public OneNode {
protected:
    std::error_code ec_;
};

TEST_F(Fork, TheChildHoldsNothing) {
    auto hold = node_.acquire("x");
    EXPECT_EQ(in_child([&](Checks& check) {
                  check.that(!hold.valid());
                  check.that(hold.state() == HoldState::lost);
                  check.that(hold.why_lost() == LossReason::forked);
                  check.that(hold.failure() == Errc::forked);
                  check.that(hold.remaining() == Duration::zero());
                  check.that(hold.release() == Errc::forked);
                  hold.unlock();
                  check.that(hold.why_lost() == LossReason::forked);
              }),
              0);
    EXPECT_TRUE(hold.valid());
    EXPECT_TRUE(node_.inspect("x").is_held());
}

TEST_F(Fork, TheChildIsServedNoCachedGrant) {
    for (int times = 0; times < 2; ++times)
        EXPECT_FALSE(node_.acquire("x").release());
    auto used = node_.acquire("y");
    EXPECT_FALSE(used.release());
    used = node_.acquire("y");
    EXPECT_EQ(in_child([&](Checks& check) {
                  check.that(!node_.acquire("x", ec_) && ec_ == Errc::forked);
                  check.that(!used.valid());
                  check.that(used.release() == Errc::forked);
              }),
              0);
    EXPECT_TRUE(used.valid());
    auto again = node_.acquire("x");
    EXPECT_TRUE(again.valid());
    EXPECT_EQ(node_.metrics().served_from_cache, 1U);
}

TEST_F(Fork, EveryCallOfTheChildSaysSo) {
    Mutex mutex{node_, "m"};
    mutex.lock();
    EXPECT_EQ(in_child([&](Checks& check) {
                  check.that(!node_.acquire("y", ec_) && ec_ == Errc::forked);
                  check.that(!node_.try_acquire("y", ec_) && ec_ == Errc::forked);
                  check.that(!node_.acquire_for("y", 1h, ec_) && ec_ == Errc::forked);
                  check.that(node_.list("", ec_).empty() && ec_ == Errc::forked);
                  check.that(!node_.inspect("y", ec_).is_held() && ec_ == Errc::forked);
                  const auto now = std::chrono::steady_clock::now();
                  check.that(!node_.wait_ready(now + 1h, ec_) && ec_ == Errc::forked);
                  check.that(node_.status().stopped && node_.id() == 1);
                  check.that(node_.metrics().acquires == 0);
                  check.that(!node_.on_event([](const NodeEvent&) {}));
                  check.that(is_forked([&] { mutex.lock(); }));
                  check.that(is_forked([&] { std::ignore = mutex.try_lock(); }));
                  check.that(!mutex.owned_by_this_thread());
                  mutex.unlock();
                  node_.close();
              }),
              0);
    EXPECT_TRUE(mutex.owned_by_this_thread());
    mutex.unlock();
}

TEST_F(Fork, EveryCallAboutALockSaysSo) {
    auto hold = node_.acquire("x");
    EXPECT_EQ(in_child([&](Checks& check) {
                  const auto said = [&] { return std::exchange(ec_, {}) == Errc::forked; };
                  hold.downgrade(LockMode::shared, ec_);
                  check.that(said() && hold.mode() == LockMode::exclusive);
                  hold.upgrade(ec_);
                  check.that(said());
                  check.that(!hold.try_upgrade(ec_) && said());
                  hold.confirm(ec_);
                  check.that(said());
                  hold.set_value("of the child", ec_);
                  check.that(said());
                  check.that(hold.value(ec_).empty() && said());
                  hold.consistent(ec_);
                  check.that(said());
                  hold.checkpoint();
                  node_.break_lock("x", hold.token(), "", ec_);
                  check.that(said());
                  node_.request_release("x", "", ec_);
                  check.that(said());
                  check.that(is_forked([&] { Locker{node_}; }));
              }),
              0);
    EXPECT_TRUE(hold.valid());
    EXPECT_EQ(hold.value(), "");
}

TEST_F(Fork, EveryCallAboutSeveralNamesSaysSo) {
    auto holds = node_.acquire_all({"a", "b"});
    EXPECT_EQ(in_child([&](Checks& check) {
                  check.that(!node_.acquire_all({"c", "d"}, ec_) && ec_ == Errc::forked);
                  check.that(!node_.acquire_any({"c", "d"}, ec_) && ec_ == Errc::forked);
                  check.that(!node_.try_acquire_any({"c", "d"}, ec_) && ec_ == Errc::forked);
                  check.that(!holds.valid() && holds.why_lost() == LossReason::forked);
                  check.that(holds.find("b")->failure() == Errc::forked);
                  check.that(holds.release() == Errc::forked);
                  { const auto gone = std::move(holds); }
              }),
              0);
    EXPECT_TRUE(holds.valid());
    EXPECT_TRUE(node_.inspect("b").is_held());
}

TEST_F(Fork, MutexesOfEveryKindSaySo) {
    SharedMutex shared{node_, "s"};
    RecursiveMutex recursive{node_, "r"};
    shared.lock_shared();
    recursive.lock();
    EXPECT_EQ(in_child([&](Checks& check) {
                  check.that(is_forked([&] { shared.lock(); }));
                  check.that(is_forked([&] { shared.lock_shared(); }));
                  check.that(is_forked([&] { std::ignore = shared.try_lock_shared(); }));
                  check.that(is_forked([&] { recursive.lock(); }));
                  check.that(is_forked([&] { std::ignore = recursive.try_lock(); }));
                  check.that(!shared.owned_by_this_thread() && !recursive.owned_by_this_thread());
                  shared.unlock_shared();
                  recursive.unlock();
              }),
              0);
    EXPECT_TRUE(shared.hold().valid() && recursive.hold().valid());
    shared.unlock_shared();
    recursive.unlock();
}

// The child waits for nothing, and does not take the place of the parent's waiter.
TEST_F(Fork, AWaitGoesOnInTheParent) {
    auto hold = node_.acquire("x");
    auto next = std::async(std::launch::async, [this] { return node_.acquire("x"); });
    ASSERT_TRUE(wait_for_waiters("x", 1));
    EXPECT_EQ(in_child([&](Checks& check) {
                  check.that(!node_.acquire("x", ec_) && ec_ == Errc::forked);
                  check.that(hold.release() == Errc::forked);
              }),
              0);
    EXPECT_EQ(node_.inspect("x").waiters.size(), 1U);
    EXPECT_FALSE(hold.release());
    EXPECT_TRUE(next.get().valid());
}

TEST_F(Fork, DestructorsOfTheChildDoNothing) {
    auto hold = node_.acquire("x");
    auto events = node_.on_event([](const NodeEvent&) {});
    Mutex mutex{node_, "m"};
    mutex.lock();
    EXPECT_EQ(in_child([&](Checks&) {
                  { const auto gone = std::move(hold); }
                  events.end();
                  std::destroy_at(&mutex);
                  { const auto gone = std::move(node_); }
              }),
              0);
    EXPECT_TRUE(hold.valid());
    EXPECT_TRUE(mutex.hold().valid());
    EXPECT_TRUE(node_.acquire("y").valid());
}

// Whatever the parent's threads were doing, and whichever locks they had.
TEST_F(Fork, TheChildWaitsForNobody) {  // P10
    std::atomic<bool> enough = false;
    std::vector<std::thread> busy;
    for (int i = 0; i < 2; ++i) {
        busy.emplace_back([&, name = std::to_string(i)] {
            Mutex mutex{node_, name};
            while (!enough) {
                const std::scoped_lock lock{mutex};
                std::ignore = node_.status();
                const auto events = node_.on_event([](const NodeEvent&) {});
            }
        });
    }
    auto hold = node_.acquire("x");
    Mutex mutex{node_, "m"};
    for (int round = 0; round < 50; ++round) {
        EXPECT_EQ(in_child([&](Checks& check) {
                      check.that(!node_.acquire("y", ec_) && ec_ == Errc::forked);
                      check.that(node_.status().stopped);
                      mutex.unlock();
                      { const auto gone = std::move(hold); }
                      { const auto gone = std::move(node_); }
                  }),
                  0);
    }
    enough = true;
    for (auto& thread : busy)
        thread.join();
}

// These start threads in a child, which ThreadSanitizer does not allow.
#ifndef __SANITIZE_THREAD__

TEST_F(Fork, AnAsynchronousCallOfTheChildIsAnswered) {
    auto hold = node_.acquire("x");
    const AcquireOptions options{.locker = Locker{node_}};
    EXPECT_EQ(in_child([&](Checks& check) {
                  auto acquired = async_acquire(node_, "y", options, asio::use_future);
                  auto released = async_release(std::move(hold), asio::use_future);
                  for (const bool release : {false, true}) {
                      try {
                          if (release) released.get();
                          if (!release) std::ignore = acquired.get();
                          check.that(false);
                      } catch (const std::system_error& error) {
                          check.that(error.code() == Errc::forked);
                      }
                  }
              }),
              0);
}

TEST_F(Fork, TheChildMayHaveANodeOfItsOwn) {
    EXPECT_EQ(in_child([](Checks& check) {
                  Node own{Config::in_memory()};
                  check.that(own.wait_ready(std::chrono::steady_clock::now() + patience));
                  Mutex mutex{own, "m"};
                  mutex.lock();
                  check.that(mutex.hold().valid());
                  mutex.unlock();
                  check.that(own.acquire("x").valid());
              }),
              0);
}

#endif

// A child that does nothing as long as this object exists.
class IdleChild {
public:
    IdleChild() : pid_{fork()} {
        while (pid_ == 0)
            pause();
    }
    ~IdleChild() {
        kill(pid_, SIGKILL);
        tests::end_of(pid_);
    }
    IdleChild(const IdleChild&) = delete;
    IdleChild& operator=(const IdleChild&) = delete;

private:
    const pid_t pid_;
};

// A node with a directory and a port.
class ForkOnDisk : public ::testing::Test {
protected:
    ForkOnDisk() {
        auto name = (std::filesystem::temp_directory_path() / "mortise-fork-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error{"no temporary directory"};
        directory_ = name;
    }
    ~ForkOnDisk() override { std::filesystem::remove_all(directory_); }

    [[nodiscard]] Config config(const std::string& listen = "127.0.0.1:0") const {
        auto config = Config::single_node(directory_ / "node");
        config.listen = listen;
        return config;
    }
    static bool is_ready(Node& node) {
        return node.wait_ready(std::chrono::steady_clock::now() + patience);
    }

    std::filesystem::path directory_;
};

// The child has copies of all descriptors, and nothing of its parent's stays in use because of
// that.
TEST_F(ForkOnDisk, TheParentMayOpenAgainWhileAChildLives) {
    auto node = std::make_unique<Node>(config());
    ASSERT_TRUE(is_ready(*node));
    const auto address = node->status().address;
    auto gate = std::make_unique<FenceGate>(FenceGate::open(directory_ / "gate"));
    const IdleChild child;
    node.reset();
    gate.reset();
    Node again{config(address)};
    EXPECT_TRUE(is_ready(again));
    EXPECT_TRUE(FenceGate::open(directory_ / "gate").check("x", FencingToken::from_raw(1)));
}

std::set<int> open_descriptors() {
    std::set<int> open;
    for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/fd"})
        open.insert(std::stoi(entry.path().filename().string()));
    return open;
}

TEST(Exec, InheritsNoDescriptor) {
    const auto before = open_descriptors();
    auto directory = std::filesystem::temp_directory_path() / ("exec" + std::to_string(getpid()));
    {
        auto config = Config::single_node(directory);
        config.listen = "127.0.0.1:0";
        Node node{config};
        ASSERT_TRUE(node.wait_ready(std::chrono::steady_clock::now() + patience));
        std::size_t opened = 0;
        for (const int descriptor : open_descriptors()) {
            const int flags = fcntl(descriptor, F_GETFD);
            // the descriptor of the iteration
            if (before.contains(descriptor) || flags < 0) continue;
            ++opened;
            EXPECT_TRUE((flags & FD_CLOEXEC) != 0)
                << std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor));
        }
        EXPECT_GT(opened, 5U);
    }
    std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace mortise
