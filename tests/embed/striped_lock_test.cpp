// StripedLock: many keys over few names.
#include <set>
#include <string>
#include <vector>

#include "tests/embed/one_node.hpp"

namespace mortise {
namespace {

class Striped : public OneNode {
protected:
    StripedLock orders_{node_, "orders", 8};
};

TEST_F(Striped, AKeyAlwaysHasTheSameName) {
    // Programs of other versions use these names.
    StripedLock many{node_, "orders", 1'000};
    EXPECT_EQ(many.name_of(""), "orders/330");
    EXPECT_EQ(many.name_of("4711"), "orders/987");
    EXPECT_EQ(many.name_of(std::string_view{"\0key", 4}), "orders/486");
}

TEST_F(Striped, KeysAreSpreadOverAllStripes) {
    std::set<std::string> names;
    for (int key = 0; key < 200; ++key)
        names.insert(orders_.name_of(std::to_string(key)));
    EXPECT_EQ(names.size(), 8U);
}

TEST_F(Striped, AKeyIsLockedByTheNameOfItsStripe) {
    const auto hold = orders_.acquire("4711");
    EXPECT_EQ(hold.name(), orders_.name_of("4711"));
    EXPECT_FALSE(orders_.try_acquire("4711"));
    EXPECT_FALSE(StripedLock(node_, "orders", 8).try_acquire("4711"));
    EXPECT_FALSE(orders_.acquire_for("4711", std::chrono::milliseconds{1}));
    EXPECT_TRUE(StripedLock(node_, "others", 8).try_acquire("4711"));
    std::error_code ec;
    EXPECT_FALSE(orders_.try_acquire("4711", ec));
    EXPECT_FALSE(orders_.acquire_for("4711", std::chrono::milliseconds{1}, ec));
    EXPECT_FALSE(ec);
    AcquireOptions brief;
    brief.wait_max = std::chrono::milliseconds{1};
    EXPECT_FALSE(orders_.acquire("4711", brief, ec));
    EXPECT_EQ(ec, Errc::timed_out);
}

// Another program decides on the number of stripes, and is stopped meanwhile.
TEST_F(Striped, TheFirstCallWaitsNoLongerThanItMay) {
    using namespace std::chrono_literals;
    const auto table = node_.acquire("orders");
    std::error_code ec;
    const auto began = std::chrono::steady_clock::now();
    EXPECT_FALSE(orders_.acquire_for("4711", 1ms));
    EXPECT_FALSE(orders_.acquire_for("4711", 1ms, ec));
    EXPECT_FALSE(ec);
    EXPECT_FALSE(orders_.try_acquire("4711", ec));
    EXPECT_FALSE(ec);
    EXPECT_FALSE(orders_.acquire("4711", {.wait_max = 1ms}, ec));
    EXPECT_EQ(ec, Errc::timed_out);
    EXPECT_TRUE(orders_.acquire_all({"4711"}, {.wait_max = 1ms}, ec).empty());
    EXPECT_EQ(ec, Errc::timed_out);
    EXPECT_EQ(thrown_by([&] { (void)orders_.acquire("4711", {.wait_max = 1ms}); }),
              Errc::timed_out);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_FALSE(orders_.acquire("4711", {.cancel = stop.get_token()}, ec));
    EXPECT_EQ(ec, Errc::cancelled);
    EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
}

TEST_F(Striped, SeveralKeysAreTakenTogether) {
    std::vector<std::string> texts;
    for (int key = 0; key < 20; ++key)
        texts.push_back(std::to_string(key));
    const std::vector<std::string_view> keys{texts.begin(), texts.end()};
    {
        const auto all = orders_.acquire_all(keys);
        EXPECT_LE(all.size(), 8U);
        for (const auto key : keys)
            EXPECT_NE(all.find(orders_.name_of(key)), nullptr) << key;
        EXPECT_FALSE(orders_.try_acquire("7"));
    }
    AcquireOptions shared;
    shared.mode = LockMode::shared;
    const auto reader = orders_.acquire_all({"1", "1", "2"}, shared);
    EXPECT_EQ(reader.begin()->mode(), LockMode::shared);
    EXPECT_TRUE(orders_.try_acquire("1", shared));
    EXPECT_FALSE(orders_.try_acquire("1"));
}

TEST_F(Striped, APairOfBracesTooManyMakesNoOtherKey) {
    const auto holds = orders_.acquire_all({{"1", "2"}});
    EXPECT_NE(holds.find(orders_.name_of("1")), nullptr);
    EXPECT_NE(holds.find(orders_.name_of("2")), nullptr);
    EXPECT_LE(holds.size(), 2U);
}

TEST_F(Striped, AnotherNumberOfStripesIsRefused) {
    EXPECT_TRUE(orders_.acquire("4711"));
    StripedLock others{node_, "orders", 16};
    std::error_code ec;
    EXPECT_FALSE(others.acquire("4711", ec));
    EXPECT_EQ(ec, Errc::kind_mismatch);
    EXPECT_FALSE(others.acquire_all({"4711"}, ec));
    EXPECT_EQ(ec, Errc::kind_mismatch);
    EXPECT_EQ(thrown_by([&] { (void)others.try_acquire("4711"); }), Errc::kind_mismatch);
    EXPECT_TRUE(orders_.acquire("4711", ec));
    EXPECT_FALSE(ec);
}

TEST_F(Striped, RefusesWhatMakesNoSense) {
    const auto made = [&](std::string_view name, std::uint32_t stripes) {
        return thrown_by([&] { const StripedLock lock{node_, name, stripes}; });
    };
    EXPECT_EQ(made("", 8), Errc::invalid_argument);
    EXPECT_EQ(made("x", 0), Errc::invalid_argument);
    EXPECT_EQ(made("x", 1'000'001), Errc::invalid_argument);
    EXPECT_EQ(made(std::string(501, 'x'), 8), Errc::invalid_argument);
    EXPECT_FALSE(made(std::string(500, 'x'), 1'000'000));
    const StripedLock longest{node_, std::string(500, 'x'), 1'000'000};
    EXPECT_LE(longest.name_of("").size(), 512U);
}

}  // namespace
}  // namespace mortise
