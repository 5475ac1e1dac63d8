#include "transport/rpc/kj_on_asio.hpp"

#include <asio/post.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kj/debug.h>
#include <malloc.h>

#include "tests/unit/transport/network_support.hpp"
#include "transport/rpc/asio_stream.hpp"

namespace mortise::transport {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;

struct Guest {
    explicit Guest(asio::io_context& io)
        : loop{io, [this](LogLevel, std::string text) { lines.push_back(std::move(text)); },
               [this] { ++settled; }} {}

    std::vector<std::string> lines;
    int settled = 0;
    KjLoop loop;
};

TEST(KjLoop, RunsWhatBecameReadyBeforeItSettles) {
    asio::io_context io;
    Guest guest{io};
    std::vector<int> order;
    kj::Promise<void> promise = nullptr;
    guest.loop.run([&] {
        promise = kj::evalLater([&] { order.push_back(2); }).eagerlyEvaluate(nullptr);
        order.push_back(1);
    });
    EXPECT_THAT(order, ElementsAre(1, 2));
    EXPECT_EQ(guest.settled, 1);
    guest.loop.run([&] { promise = nullptr; });
}

TEST(KjLoop, LogsInsteadOfThrowingAndInsteadOfWritingToStderr) {
    asio::io_context io;
    Guest guest{io};
    testing::internal::CaptureStderr();
    guest.loop.run([] { KJ_FAIL_REQUIRE("thrown"); });
    guest.loop.run([] { KJ_LOG(ERROR, "logged"); });
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    EXPECT_THAT(guest.lines, ElementsAre(HasSubstr("thrown"), HasSubstr("logged")));
}

TEST(KjLoop, SharesItsThreadWithAnother) {
    asio::io_context io;
    Guest one{io};
    Guest other{io};
    bool done = false;
    kj::Promise<void> promise = nullptr;
    kj::Own<kj::PromiseFulfiller<void>> fulfiller;
    one.loop.run([&] {
        auto pair = kj::newPromiseAndFulfiller<void>();
        fulfiller = kj::mv(pair.fulfiller);
        promise = pair.promise.then([&] { done = true; }).eagerlyEvaluate(nullptr);
    });
    other.loop.run([] {});
    fulfiller->fulfill();  // from outside: this wakes its loop
    EXPECT_TRUE(run_until(io, [&] { return done; }));
    one.loop.run([&] { promise = nullptr; });
}

kj::Promise<void> count_for_ever(std::uint64_t& count) {
    ++count;
    return kj::evalLater([&count] { return count_for_ever(count); });
}

TEST(KjLoop, LetsOthersHaveTheirTurn) {
    asio::io_context io;
    Guest guest{io};
    std::uint64_t count = 0;
    kj::Promise<void> busy = nullptr;
    guest.loop.run([&] { busy = count_for_ever(count).eagerlyEvaluate(nullptr); });
    bool had_a_turn = false;
    asio::post(io, [&] { had_a_turn = true; });
    EXPECT_TRUE(run_until(io, [&] { return had_a_turn; }));
    EXPECT_GT(count, 0U);
    guest.loop.run([&] { busy = nullptr; });
}

TEST(KjLoop, MayGoWhileItIsAwaited) {
    asio::io_context io;
    auto guest = std::make_unique<Guest>(io);
    guest->loop.wake();
    guest.reset();
    EXPECT_EQ(io.poll(), 1U);
}

class AsioStreamTest : public testing::Test {
protected:
    using Socket = asio::ip::tcp::socket;
    using Stream = kj::Own<SocketStream>;

    AsioStreamTest() {
        asio::ip::tcp::acceptor acceptor{io_, {asio::ip::make_address("127.0.0.1"), 0}};
        Socket one{io_};
        one.connect(acceptor.local_endpoint());
        descriptor_ = one.native_handle();
        ours_ = kj::heap<AsioStream<Socket>>(guest_.loop, std::move(one));
        theirs_ = kj::heap<AsioStream<Socket>>(guest_.loop, acceptor.accept());
        ours_->set_reader([this] { ++woken_; });
        theirs_->set_reader([this] { take(); });
    }
    ~AsioStreamTest() noexcept override = default;
    void TearDown() override {
        guest_.loop.run([&] {
            tasks_.clear();
            ours_ = nullptr;
            theirs_ = nullptr;
        });
    }

    void run(kj::FunctionParam<kj::Promise<void>()> start) {
        guest_.loop.run([&] { tasks_.push_back(start().eagerlyEvaluate(nullptr)); });
    }
    void write(const std::string& bytes) {
        run([&] { return ours_->write(bytes.data(), bytes.size()); });
    }
    void write_with_next(const std::string& bytes) {
        guest_.loop.run(
            [&] { ours_->write_with_next(kj::arrayPtr(bytes.data(), bytes.size()).asBytes()); });
    }
    void read(std::size_t min, std::size_t max) {
        buffer_.assign(max, '-');
        wanted_ = min;
        taken_ = 0;
        got_.reset();
        guest_.loop.run([&] { take(); });
    }
    void take() {
        taken_ += theirs_->take(buffer_.data() + taken_, buffer_.size() - taken_);
        if (taken_ < wanted_ && !theirs_->has_ended()) return theirs_->receive();
        const bool failed = taken_ < wanted_ && theirs_->failure() != nullptr;
        got_ = failed ? -1 : static_cast<int>(taken_);
    }
    bool wait() {
        return run_until(io_, [&] { return got_.has_value(); });
    }
    bool wait_a_moment() {
        return run_until(
            io_, [&] { return got_.has_value(); }, std::chrono::milliseconds{50});
    }

    asio::io_context io_;
    Guest guest_{io_};
    Stream ours_;
    Stream theirs_;
    std::vector<kj::Promise<void>> tasks_;
    std::string buffer_;
    std::size_t wanted_ = 0;
    std::size_t taken_ = 0;
    std::optional<int> got_;  // the result of read(), or -1 if it failed
    int woken_ = 0;           // how often the reader of this side was called
    int descriptor_ = -1;     // of this side
};

TEST_F(AsioStreamTest, WhatCanWaitIsSentWithTheNextWrite) {
    write_with_next("first ");
    read(1, 100);
    EXPECT_FALSE(wait_a_moment());
    write("second");
    ASSERT_TRUE(wait());
    EXPECT_EQ(buffer_.substr(0, 12), "first second");
}

TEST_F(AsioStreamTest, WhatCanWaitIsSentWhenItsOwnerSaysSo) {  // P7
    write_with_next("alone");
    read(5, 100);
    EXPECT_FALSE(wait_a_moment());
    guest_.loop.run([&] { ours_->send_gathered(); });
    ASSERT_TRUE(wait());
    EXPECT_EQ(got_, 5);
    guest_.loop.run([&] { ours_->send_gathered(); });  // nothing is left
    EXPECT_EQ(ours_->unsent_bytes(), 0U);
}

TEST_F(AsioStreamTest, WhatCanWaitIsSentWhenMuchOfItHasGathered) {  // P7
    read(600, 1'000);
    for (int i = 0; i < 8; ++i)
        write_with_next(std::string(100, 'x'));
    ASSERT_TRUE(wait());
    EXPECT_GE(got_, 600);
}

TEST_F(AsioStreamTest, CountsWhatItHasSent) {
    const auto before = ours_->sent_bytes();
    write("in one go");
    read(9, 100);
    ASSERT_TRUE(wait());
    EXPECT_TRUE(run_until(io_, [&] { return ours_->unsent_bytes() == 0; }));
    EXPECT_EQ(ours_->sent_bytes(), before + 9);
    const std::string much(std::size_t{8} << 20U, 'x');  // in several pieces
    write(much);
    read(much.size(), much.size());
    ASSERT_TRUE(wait());
    EXPECT_TRUE(run_until(io_, [&] { return ours_->unsent_bytes() == 0; }));
    EXPECT_EQ(ours_->sent_bytes(), before + 9 + much.size());
}

// P11: what was needed for one large answer is not kept for each connection.
TEST_F(AsioStreamTest, FreesALargeBufferWhenItIsSent) {
    constexpr std::size_t large = std::size_t{4} << 20U;
    const auto in_use = [] {
        const auto info = ::mallinfo2();
        return info.uordblks + info.hblkhd;
    };
    const auto before = in_use();
    {
        const std::string bytes(large, 'x');
        write(bytes);
    }
    read(large, large);
    ASSERT_TRUE(wait());
    std::string{}.swap(buffer_);
    EXPECT_TRUE(run_until(io_, [&] { return in_use() < before + large / 4; }));
}

TEST_F(AsioStreamTest, ReadsAtLeastWhatIsAskedFor) {
    read(5, 100);
    write("abc");
    run_for(io_, 20ms);
    EXPECT_FALSE(got_);
    write("defg");
    ASSERT_TRUE(wait());
    EXPECT_EQ(buffer_.substr(0, static_cast<std::size_t>(*got_)), "abcdefg");
}

TEST_F(AsioStreamTest, KeepsWhatIsNotAskedForYet) {
    write("abcdefg");
    read(1, 3);
    ASSERT_TRUE(wait());
    EXPECT_EQ(buffer_, "abc");
    read(4, 4);
    ASSERT_TRUE(wait());
    EXPECT_EQ(buffer_, "defg");
}

TEST_F(AsioStreamTest, CarriesMuchAndInPieces) {
    std::string much(3'000'000, '\0');
    for (std::size_t i = 0; i < much.size(); ++i)
        much[i] = static_cast<char>(i * 7 % 251);
    const auto half = much.size() / 2;
    const std::array<kj::ArrayPtr<const kj::byte>, 2> pieces{
        kj::arrayPtr(much.data(), half).asBytes(),
        kj::arrayPtr(much.data() + half, much.size() - half).asBytes()};
    run([&] { return ours_->write(kj::arrayPtr(pieces.data(), pieces.size())); });
    read(much.size(), much.size());
    ASSERT_TRUE(wait());
    EXPECT_EQ(buffer_, much);
}

TEST_F(AsioStreamTest, TellsOfTheEnd) {
    write("abc");
    guest_.loop.run([&] { ours_->shut_down_writing(); });
    read(10, 10);
    ASSERT_TRUE(wait());
    EXPECT_EQ(*got_, 3);
    read(1, 10);
    ASSERT_TRUE(wait());
    EXPECT_EQ(*got_, 0);
}

TEST_F(AsioStreamTest, ACloseBreaksTheReadThatWaits) {
    read(1, 10);
    guest_.loop.run([&] { theirs_->close(); });
    ASSERT_TRUE(wait());
    EXPECT_EQ(*got_, -1);
    read(1, 10);
    ASSERT_TRUE(wait());
    EXPECT_EQ(*got_, -1);
}

// As in the child of a fork that continues to run.
TEST_F(AsioStreamTest, ACloseIsSeenWhileSomebodyHasACopyOfTheDescriptor) {
    const int copy = ::dup(descriptor_);
    guest_.loop.run([&] { ours_->close(); });
    read(1, 1);
    ASSERT_TRUE(wait());
    EXPECT_LE(*got_, 0);
    ::close(copy);
}

TEST_F(AsioStreamTest, WakesItsReaderWhenLittleIsUnsent) {
    const std::string much(std::size_t{8} << 20U, 'x');
    guest_.loop.run([&] {
        ours_->send(kj::arrayPtr(much.data(), much.size()).asBytes());
        ours_->wake_at(1'000);
    });
    run_for(io_, 20ms);
    EXPECT_EQ(woken_, 0);
    read(much.size(), much.size());
    ASSERT_TRUE(wait());
    EXPECT_TRUE(run_until(io_, [&] { return woken_ == 1; }));
    EXPECT_LE(ours_->unsent_bytes(), 1'000U);
    EXPECT_EQ(buffer_, much);
}

TEST_F(AsioStreamTest, WakesItsReaderWhenNothingCanBeSentAnyMore) {
    const std::string much(std::size_t{8} << 20U, 'x');
    guest_.loop.run([&] {
        ours_->send(kj::arrayPtr(much.data(), much.size()).asBytes());
        ours_->wake_at(1'000);
    });
    run_for(io_, 20ms);
    guest_.loop.run([&] { theirs_->close(); });
    EXPECT_TRUE(run_until(io_, [&] { return woken_ == 1; }));
    EXPECT_NE(ours_->failure(), nullptr);
}

}  // namespace
}  // namespace mortise::transport
