// The resource's side of fencing (S14), and why it is needed.
#include <atomic>
#include <barrier>
#include <cstdlib>
#include <filesystem>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/support/child.hpp"
#include <mortise/mortise.hpp>

namespace mortise {
namespace {

FencingToken token(std::int64_t raw) {
    return FencingToken::from_raw(raw);
}

class Gate : public ::testing::Test {
protected:
    Gate() {
        auto name = (std::filesystem::temp_directory_path() / "mortise-gate-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error{"no temporary directory"};
        parent_ = name;
    }
    ~Gate() override { std::filesystem::remove_all(parent_); }

    [[nodiscard]] std::filesystem::path path() const { return parent_ / "gate"; }
    FenceGate open() const { return FenceGate::open(path()); }

    std::filesystem::path parent_;
};

template <class Call>
std::error_code error_of(Call call) {
    try {
        call();
    } catch (const std::system_error& error) {
        return error.code();
    }
    return {};
}

TEST_F(Gate, RefusesATokenThatIsOlderThanTheNewest) {  // P1
    auto gate = open();
    int effects = 0;
    const auto effect = [&] { ++effects; };
    EXPECT_TRUE(gate.admit("account/7", token(5), effect));
    EXPECT_FALSE(gate.admit("account/7", token(4), effect));
    EXPECT_TRUE(gate.admit("account/7", token(5), effect));
    EXPECT_TRUE(gate.admit("account/7", token(6), effect));
    EXPECT_FALSE(gate.admit("account/7", token(5), effect));
    EXPECT_EQ(effects, 3);
    EXPECT_FALSE(gate.check("account/7", token(5)));
    EXPECT_TRUE(gate.check("account/7", token(6)));
    EXPECT_TRUE(gate.check("account/7", token(7)));
    EXPECT_FALSE(gate.check("account/7", token(6)));
}

TEST_F(Gate, RefusesWhatIsNoToken) {
    auto gate = open();
    EXPECT_FALSE(gate.check("x", FencingToken{}));
    EXPECT_FALSE(gate.check("x", token(-1)));
    EXPECT_FALSE(gate.admit("x", token(0), [] { FAIL(); }));
}

TEST_F(Gate, KeepsTheMarksOfResourcesAndSlotsApart) {
    auto gate = open();
    EXPECT_TRUE(gate.check("a", token(9)));
    EXPECT_TRUE(gate.check("b", token(1)));
    EXPECT_TRUE(gate.check("a", 0, token(1)));
    EXPECT_TRUE(gate.check("a", 1, token(8)));
    EXPECT_TRUE(gate.admit("a", 0, token(2), [] {}));
    EXPECT_FALSE(gate.check("a", 0, token(1)));
    EXPECT_FALSE(gate.check("a", token(8)));
    // A resource whose name looks like a slot of another one.
    EXPECT_TRUE(gate.check(std::string{"\1\0\0\0a", 5}, token(1)));
}

TEST_F(Gate, RemembersAcrossLives) {
    {
        auto gate = open();
        EXPECT_TRUE(gate.check("x", token(5)));
        EXPECT_TRUE(gate.check("x", 3, token(7)));
    }
    auto gate = open();
    EXPECT_FALSE(gate.check("x", token(4)));
    EXPECT_FALSE(gate.check("x", 3, token(6)));
    EXPECT_TRUE(gate.check("x", token(5)));
}

// The mark that another process finds if it takes over during the effect.
TEST_F(Gate, HasTheMarkOnDiskBeforeTheEffectBegins) {
    auto gate = open();
    const auto copy = parent_ / "copy";
    EXPECT_TRUE(gate.admit("x", token(5), [&] {
        std::filesystem::copy(path(), copy, std::filesystem::copy_options::recursive);
    }));
    EXPECT_FALSE(FenceGate::open(copy).check("x", token(4)));
}

TEST_F(Gate, LetsTheEffectThrowAndKeepsTheMark) {
    auto gate = open();
    EXPECT_THROW(gate.admit("x", token(5), [] { throw std::runtime_error{"no"}; }),
                 std::runtime_error);
    EXPECT_FALSE(gate.check("x", token(4)));
    EXPECT_TRUE(gate.admit("x", token(5), [] {}));
}

// The negative control: a holder is paused between a bare check and its write, the next holder
// writes meanwhile, and its update is lost.
TEST_F(Gate, ABareCheckLosesAnUpdate) {  // P1
    auto gate = open();
    std::string row = "nothing";
    std::latch has_checked{1};
    std::latch goes_on{1};
    std::jthread paused{[&] {
        ASSERT_TRUE(gate.check("row", token(1)));
        has_checked.count_down();
        goes_on.wait();
        row = "of token 1";
    }};
    has_checked.wait();
    ASSERT_TRUE(gate.check("row", token(2)));
    row = "of token 2";
    goes_on.count_down();
    paused.join();
    EXPECT_EQ(row, "of token 1");
}

// The same pause in the same place: a writer that comes meanwhile waits, and writes last.
TEST_F(Gate, AnEffectThatIsAdmittedLosesNone) {
    auto gate = open();
    std::string row = "nothing";
    std::latch is_admitted{1};
    std::latch goes_on{1};
    std::jthread paused{[&] {
        EXPECT_TRUE(gate.admit("row", token(1), [&] {
            is_admitted.count_down();
            goes_on.wait();
            row = "of token 1";
        }));
    }};
    is_admitted.wait();
    std::jthread next{[&] {
        EXPECT_TRUE(gate.admit("row", token(2), [&] {
            EXPECT_EQ(row, "of token 1");
            row = "of token 2";
        }));
    }};
    // Another resource is not affected.
    EXPECT_TRUE(gate.check("another", token(1)));
    goes_on.count_down();
    paused.join();
    next.join();
    EXPECT_EQ(row, "of token 2");
    EXPECT_FALSE(gate.admit("row", token(1), [&] { row = "of token 1"; }));
}

TEST_F(Gate, AdmitsOneAtATime) {
    auto gate = open();
    constexpr int threads = 4;
    constexpr int rounds = 200;
    int counter = 0;  // not atomic: only the gate protects it
    {
        std::vector<std::jthread> running;
        for (int i = 0; i < threads; ++i) {
            running.emplace_back([&] {
                for (int round = 0; round < rounds; ++round)
                    EXPECT_TRUE(gate.admit("counter", token(1), [&] { ++counter; }));
            });
        }
    }
    EXPECT_EQ(counter, threads * rounds);
}

TEST_F(Gate, IsNotForTheEffectOfItsOwnResource) {
    auto gate = open();
    EXPECT_TRUE(gate.admit("x", token(1), [&] {
        EXPECT_TRUE(gate.check("y", token(1)));
        EXPECT_EQ(error_of([&] { (void)gate.check("x", token(1)); }), Errc::deadlock);
    }));
    EXPECT_TRUE(gate.check("x", token(1)));
}

// Two effects that each want the other's resource, of one gate or of two.
TEST_F(Gate, ACycleOfEffectsIsADeadlock) {  // P10
    auto gate = open();
    auto second = FenceGate::open(parent_ / "second");
    for (auto* other : {&gate, &second}) {
        std::barrier<> both_have{2};
        std::atomic<int> deadlocks = 0;
        std::atomic<int> admitted = 0;
        const auto nest = [&](FenceGate& outer, const char* mine, FenceGate& inner,
                              const char* theirs) {
            EXPECT_TRUE(outer.admit(mine, token(1), [&] {
                both_have.arrive_and_wait();
                const auto error = error_of([&] {
                    if (inner.check(theirs, token(1))) ++admitted;
                });
                if (error == Errc::deadlock) ++deadlocks;
            }));
        };
        {
            const std::jthread one{[&] { nest(gate, "x", *other, "y"); }};
            const std::jthread two{[&] { nest(*other, "y", gate, "x"); }};
        }
        EXPECT_EQ(deadlocks, 1);
        EXPECT_EQ(admitted, 1);
    }
}

TEST_F(Gate, SaysWhatIsWrong) {
    auto gate = open();
    EXPECT_EQ(error_of([&] { (void)open(); }), DirectoryErrc::locked);
    EXPECT_EQ(error_of([&] { (void)FenceGate::open(parent_ / "gate" / "witness" / "such"); }),
              DirectoryErrc::io);
    EXPECT_EQ(error_of([&] { (void)gate.check("", token(1)); }), Errc::invalid_argument);
    EXPECT_EQ(error_of([&] { (void)gate.check(std::string(4097, 'x'), token(1)); }),
              Errc::invalid_argument);
    EXPECT_TRUE(gate.check(std::string(4096, 'x'), token(1)));
    const auto moved = std::move(gate);
    EXPECT_EQ(error_of([&] { (void)gate.check("x", token(1)); }), Errc::invalid_argument);
}

TEST_F(Gate, IsDeadInTheChildOfAFork) {
    auto gate = open();
    EXPECT_TRUE(gate.check("x", token(1)));
    EXPECT_EQ(tests::exit_of_child([&] {
                  bool well = error_of([&] { (void)gate.check("x", token(1)); }) == Errc::forked;
                  { const auto ended = std::move(gate); }
                  return well ? 0 : 1;
              }),
              0);
    EXPECT_TRUE(gate.check("x", token(2)));
}

// The purpose of tokens.
TEST_F(Gate, RefusesTheFormerHolderOfALock) {  // P1
    Node node{Config::in_memory()};
    auto gate = open();
    auto first = node.acquire("x");
    const auto paused = first.token();
    EXPECT_TRUE(gate.check("x", paused));
    EXPECT_FALSE(first.release());
    auto second = node.acquire("x");
    EXPECT_TRUE(gate.admit("x", second.token(), [] {}));
    EXPECT_FALSE(gate.admit("x", paused, [] { FAIL(); }));
}

}  // namespace
}  // namespace mortise
