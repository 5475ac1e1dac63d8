// The bytes of names and requests of each kind, as the versions before this one wrote them.
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "core/codec/command_codec.hpp"
#include "tests/unit/core/locks/machine_fixture.hpp"

namespace mortise::core {
namespace {

std::string hex(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const char byte : bytes) {
        text += digits[static_cast<unsigned char>(byte) >> 4U];
        text += digits[static_cast<unsigned char>(byte) & 15U];
    }
    return text;
}

struct KindBytes : LockMachineTest {
    // What stands in the log after the head of the batch and its session and number.
    static std::string of_request(RequestBody body) {
        BatchBuilder batch;
        batch.add(request(3, 5, std::move(body)));
        return hex(batch.take().view()).substr(10);
    }
    std::string of_row(std::string_view name) const {
        for (const auto& row : machine_.all_rows()) {
            if (row.key == "L" + std::string{name}) return hex(*row.value);
        }
        return {};
    }
    void put_body(std::uint64_t session, RequestBody body) {
        put(request(session, next_of(session), std::move(body)));
    }
};

TEST_F(KindBytes, OfRequestsStayTheSame) {  // P12
    EXPECT_EQ(of_request(Resize{"n", 65'536, 7}), "17016e80800407");
    EXPECT_EQ(of_request(Resize{"n", 0, 0}), "17016e0000");
    EXPECT_EQ(of_request(CountDown{"n", 0x7fff'ffff, 300}), "19016effffffff07ac02");
    EXPECT_EQ(of_request(AwaitLatch{"n", 2, "who"}), "1a016e020377686f");
    EXPECT_EQ(of_request(Arrive{"n", 1'024, true, "w"}), "1b016e8008010177");
    EXPECT_EQ(of_request(Arrive{"n", 1, false, {}}), "1b016e010000");
    EXPECT_EQ(of_request(Quit{Seq{2}, "n"}), "1c03016e");
    EXPECT_EQ(of_request(Remove{"n"}), "18016e");
}

TEST_F(KindBytes, OfSemaphoresStayTheSame) {  // P12
    auto asked = some_permits(2, 3, "pool");
    asked.label = "p";
    put_body(1, asked);
    put_body(2, asked);
    put_body(1, Resize{"pool", 300, 0});
    EXPECT_EQ(of_row("pool"),
              "010800000000000205ac020202010121050104017002000102012105020601700202030000");
    put_body(1, Resize{"idle", 5, 1});
    EXPECT_EQ(of_row("idle"), "0108000000000000050502000000");
}

TEST_F(KindBytes, OfLatchesStayTheSame) {  // P12
    put_body(1, CountDown{"ready", 1'000, 1});
    put_body(2, AwaitLatch{"ready", 5, "waits"});
    EXPECT_EQ(of_row("ready"), "011000000000000005e7070001050002010105000005776169747300");
    put_body(1, CountDown{"open", 2, 2});
    EXPECT_EQ(of_row("open"), "01100000000000000500000000");
}

TEST_F(KindBytes, OfBarriersStayTheSame) {  // P12
    put_body(1, Arrive{"step", 5, false, "a"});
    put_body(1, Arrive{"step", 5, true, {}});
    put_body(2, Arrive{"step", 5, false, {}});
    EXPECT_EQ(
        of_row("step"),
        "012000000000000005050000020102020102010100000204000101010500000161060002010005000000");
    put_body(3, Arrive{"broken", 2, false, {}});
    put_body(3, Quit{Seq{1}, "broken"});
    EXPECT_EQ(of_row("broken"), "01200000000000000502000100000000");
}

}  // namespace
}  // namespace mortise::core
