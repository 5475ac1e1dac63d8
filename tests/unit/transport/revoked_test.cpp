// The file of revoked certificates.
#include "transport/tls/revoked.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/transport/tls_support.hpp"
#include "transport/tls/pem.hpp"

namespace mortise::transport {
namespace {

using namespace test;
using testing::EndsWith;
using testing::HasSubstr;

class RevokedSerialsTest : public testing::Test {
protected:
    core::Result<RevokedSerials> read(const std::string& text) {
        std::ofstream{authority_.revoked_file()} << text;
        return RevokedSerials::read(authority_.revoked_file());
    }
    [[nodiscard]] bool is_read_as(const std::string& text, const X509& certificate) {
        const auto revoked = read(text);
        return revoked && revoked->has(certificate);
    }

    Authority authority_{"orders"};
};

TEST_F(RevokedSerialsTest, AreReadAsToolsPrintThem) {
    const auto certificates = certificates_from(authority_.own().certificate);
    const auto& certificate = *certificates->front();
    const auto serial = serial_of(certificate);
    std::string lower = serial;
    std::ranges::transform(lower, lower.begin(), [](char c) { return std::tolower(c); });
    const auto pairs = lower.substr(0, 2) + ":" + lower.substr(2);
    for (const auto& text : {serial, lower, pairs, "serial=" + serial, "\t" + serial + " # node 2",
                             "00" + serial, "# stolen\n\n1234\n" + serial + "\n5678"})
        EXPECT_TRUE(is_read_as(text, certificate)) << text;
    EXPECT_FALSE(is_read_as(serial + "00", certificate));
    EXPECT_FALSE(is_read_as("", certificate));
}

TEST_F(RevokedSerialsTest, AreNothingElse) {
    for (const std::string text : {"12\nnode-2.pem\n", "12\n0x34\n", "12\n-3\n", "12\n34 56\n",
                                   "12\n:\n", "12\nserial= 34\n"}) {
        const auto revoked = read(text);
        ASSERT_FALSE(revoked) << text;
        EXPECT_THAT(revoked.error().what, HasSubstr(":2: is no serial number")) << text;
    }
    EXPECT_FALSE(read("12\n" + std::string(65, '3')));
    EXPECT_FALSE(RevokedSerials::read(authority_.directory() / "missing"));
}

}  // namespace
}  // namespace mortise::transport
