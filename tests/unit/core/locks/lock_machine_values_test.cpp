// The value of a name (S36, S37).
#include "core/locks/limits.hpp"
#include "tests/unit/core/locks/machine_fixture.hpp"

namespace mortise::core {
namespace {

using enum LockMode;

class LockMachineValues : public LockMachineTest {
protected:
    static Request set(std::uint64_t session, std::uint64_t seq, std::uint64_t hold,
                       const std::string& bytes, const std::string& name = "a") {
        return request(session, seq, SetValue{Seq{hold}, name, bytes});
    }
    static Request consistent(std::uint64_t session, std::uint64_t seq, std::uint64_t hold) {
        return request(session, seq, MarkConsistent{Seq{hold}, "a"});
    }
    // The version and the value, as "2=text", with " dirty" if it is.
    [[nodiscard]] std::string value(const std::string& name = "a") const {
        const auto view = machine_.inspect(name);
        if (!view.value) return "none";
        return std::to_string(view.value->version) + "=" + view.value->bytes +
               (view.value->dirty ? " dirty" : "");
    }
};

TEST_F(LockMachineValues, TheExclusiveHolderWritesAndAnybodyReads) {  // S36
    put(acquire(1, 1, exclusive));
    EXPECT_EQ(value(), "none");
    EXPECT_EQ(put(set(1, 2, 1, "one")), "1.2 stored");
    EXPECT_EQ(value(), "1=one");
    EXPECT_EQ(put(set(1, 3, 1, "two")), "1.3 stored");
    EXPECT_EQ(value(), "2=two");
}

TEST_F(LockMachineValues, ARepeatWritesNothing) {  // S17
    put(acquire(1, 1, exclusive));
    put(set(1, 2, 1, "one"));
    put(set(1, 3, 1, "two"));
    EXPECT_EQ(put(set(1, 2, 1, "one")), "1.2 stored");
    EXPECT_EQ(value(), "2=two");
}

TEST_F(LockMachineValues, OnlyAnExclusiveHolderWrites) {  // S36
    std::uint64_t seq = 0;
    for (const auto mode : all_lock_modes) {
        const auto hold = ++seq;
        put(acquire(1, hold, mode));
        const auto said = put(set(1, ++seq, hold, "mine"));
        EXPECT_EQ(said.ends_with("stored"), mode == exclusive) << said;
        EXPECT_EQ(said.ends_with("invalid_argument"), mode != exclusive) << said;
        put(set(1, ++seq, hold, ""));
        put(release(1, ++seq, hold));
    }
    const auto hold = ++seq;
    put(acquire(1, hold, exclusive));
    EXPECT_TRUE(put(set(1, ++seq, hold, "mine", "b")).ends_with(" invalid_argument"));
    EXPECT_EQ(put(set(2, 1, hold, "mine")), "2.1 not_held");
    EXPECT_EQ(value("b"), "none");
}

TEST_F(LockMachineValues, AFormerHolderWritesNothing) {  // S19, S36
    put(acquire(1, 1, exclusive));
    put(set(1, 2, 1, "old"));
    put(release(1, 3, 1));
    put(acquire(2, 1, exclusive));
    EXPECT_EQ(put(set(1, 4, 1, "late")), "1.4 not_held");
    EXPECT_EQ(value(), "1=old");
}

TEST_F(LockMachineValues, ANameWithAValueStays) {  // S37
    put(acquire(1, 1, exclusive));
    put(set(1, 2, 1, "kept"));
    put(release(1, 3, 1));
    EXPECT_EQ(value(), "1=kept");
    ASSERT_EQ(machine_.list("", "", 10).size(), 1U);
    EXPECT_EQ(machine_.list("", "", 10).front().value->version, 1U);
    EXPECT_EQ(machine_.list("", "", 10).front().value->bytes, "");
    // The next holder is told of the previous one, however long ago that was.
    EXPECT_EQ(put(acquire(2, 1, shared)), "2.1 granted token=2 previous=clean/1/");
    put(release(2, 2, 1));
    put(acquire(3, 1, exclusive));
    EXPECT_EQ(put(set(3, 2, 1, "")), "3.2 stored");  // and without it, it goes
    put(release(3, 3, 1));
    EXPECT_TRUE(machine_.table().records().empty());
    EXPECT_TRUE(machine_.table().values().all().empty());
}

TEST_F(LockMachineValues, IsDirtyAfterItsWriterWasLost) {  // S36
    put(acquire(1, 1, exclusive));
    put(set(1, 2, 1, "half"));
    put(expiry(1));
    put(Sweep{});
    EXPECT_EQ(value(), "1=half dirty");
    EXPECT_EQ(put(acquire(2, 1, exclusive)), "2.1 granted token=2 previous=expired/1/");
    EXPECT_EQ(put(set(2, 2, 1, "half mended")), "2.2 stored");
    EXPECT_EQ(value(), "2=half mended dirty");  // nobody has said that it is whole
    EXPECT_EQ(put(consistent(2, 3, 1)), "2.3 stored");
    EXPECT_EQ(value(), "2=half mended");
}

// The mark was about an earlier loss, and came from a hold that has ended since.
TEST_F(LockMachineValues, ALateMarkDoesNotCleanALaterLoss) {  // S17, S36
    put(acquire(1, 1, exclusive));
    put(set(1, 2, 1, "half"));
    const auto lose = [](std::uint64_t seq, std::uint64_t hold) {
        return request(1, seq, Release{Seq{hold}, true});
    };
    put(lose(3, 1));
    put(acquire(1, 4, exclusive));
    EXPECT_EQ(put(consistent(1, 5, 4)), "1.5 stored");
    EXPECT_EQ(value(), "1=half");
    put(lose(6, 4));
    EXPECT_EQ(value(), "1=half dirty");
    put(acquire(1, 7, exclusive));
    EXPECT_EQ(put(consistent(1, 5, 4)), "1.5 stored");    // the same answer, without an effect
    EXPECT_EQ(put(consistent(1, 8, 4)), "1.8 not_held");  // a new mark by the former hold
    EXPECT_EQ(value(), "1=half dirty");
}

TEST_F(LockMachineValues, StaysCleanIfNoExclusiveHolderWasLost) {  // S36
    put(acquire(1, 1, exclusive));
    put(set(1, 2, 1, "whole"));
    put(close(1));
    put(Sweep{});
    EXPECT_EQ(value(), "1=whole");
    put(acquire(2, 1, shared));
    put(expiry(2));
    put(Sweep{});
    EXPECT_EQ(value(), "1=whole");
}

TEST_F(LockMachineValues, IsDirtyForARequestBeforeTheSweepToo) {  // S11, S36
    put(acquire(1, 1, exclusive));
    put(set(1, 2, 1, "half"));
    put(expiry(1));
    EXPECT_EQ(put(acquire(2, 1, exclusive)), "2.1 granted token=2 previous=expired/1/");
    EXPECT_EQ(value(), "1=half dirty");
}

TEST_F(LockMachineValues, AreBoundedTogether) {  // P11
    put(acquire(1, 1, exclusive, "large"));
    put(acquire(1, 2, exclusive));
    EXPECT_EQ(put(set(1, 3, 1, std::string(values_bytes_max, 'v'), "large")), "1.3 stored");
    EXPECT_EQ(put(set(1, 4, 2, "v")), "1.4 resource_exhausted");
    EXPECT_EQ(value(), "none");
    EXPECT_EQ(put(set(1, 5, 1, "less", "large")), "1.5 stored");
    EXPECT_EQ(put(set(1, 6, 2, "v")), "1.6 stored");
}

}  // namespace
}  // namespace mortise::core
