// A client node whose authorities change.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include <gmock/gmock.h>

#include <mortise/mortise.hpp>
#include <mortise/testkit/temp_directory.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// The member trusts both authorities; its certificate is of the old one until it gets another.
class TlsClient : public ::testing::Test {
protected:
    TlsClient() {
        create_authority({"orders", at("old.pem"), at("old.key")});
        create_authority({"orders", at("new.pem"), at("new.key")});
        std::ofstream{at("both.pem")} << std::ifstream{at("old.pem")}.rdbuf()
                                      << std::ifstream{at("new.pem")}.rdbuf();
        std::filesystem::copy_file(at("both.pem"), at("user-ca.pem"));
        issue("old", 1, "node");
        issue("new", 0, "user");
    }
    [[nodiscard]] std::filesystem::path at(const std::string& name) const {
        return directory_.path() / name;
    }
    // For the node; or for a user, if there is none.
    void issue(const std::string& authority, NodeId node, const std::string& stem) const {
        CertificateOptions options;
        options.authority_certificate = at(authority + ".pem");
        options.authority_key = at(authority + ".key");
        options.node = node;
        if (node == 0) options.user = "bob";
        if (node == 0) options.roles = {AccessRole::client};
        options.certificate = at("next.pem");
        options.key = at("next.key");
        issue_certificate(options);
        std::filesystem::rename(at("next.pem"), at(stem + ".pem"));
        std::filesystem::rename(at("next.key"), at(stem + ".key"));
    }
    [[nodiscard]] Config member() const {
        auto config = Config::single_node(at("data"));
        config.cluster = "orders";
        config.listen = "127.0.0.1:0";
        config.tls = {at("node.pem"), at("node.key"), at("both.pem")};
        return config;
    }
    [[nodiscard]] Config client(const std::string& address) const {
        Config config;
        config.cluster = "orders";
        config.role = Role::client;
        config.peers = {{1, address}};
        config.tls = {at("user.pem"), at("user.key"), at("user-ca.pem")};
        return config;
    }
    static bool comes_true(const std::function<bool()>& condition) {
        const auto give_up = std::chrono::steady_clock::now() + 30s;
        while (!condition()) {
            if (std::chrono::steady_clock::now() > give_up) return false;
            std::this_thread::sleep_for(5ms);
        }
        return true;
    }

    testkit::TempDirectory directory_{"mortise-tls-client"};
};

TEST_F(TlsClient, LeavesAMemberThatItDoesNotTrustAnyMoreAndKeepsItsSession) {
    Node server{member()};
    ASSERT_TRUE(server.wait_ready(std::chrono::steady_clock::now() + 30s));
    Node node{client(server.status().address)};
    ASSERT_TRUE(node.wait_ready(std::chrono::steady_clock::now() + 30s));
    Hold hold = node.acquire("x");
    const auto session = node.status().session;

    std::filesystem::copy_file(at("new.pem"), at("user-ca.pem"),
                               std::filesystem::copy_options::overwrite_existing);
    node.reload_tls();
    EXPECT_TRUE(comes_true([&] { return !node.status().ready; }));
    EXPECT_THAT(node.status().why_not_ready, HasSubstr("not signed by an authority"));

    issue("new", 1, "node");
    server.reload_tls();
    EXPECT_TRUE(comes_true([&] { return node.status().ready; }));
    EXPECT_TRUE(hold.valid());
    EXPECT_EQ(node.status().session, session);
    EXPECT_FALSE(hold.release());
}

// The list grows while the client's connection stands. The member notices by itself.
TEST_F(TlsClient, ARevokedClientIsPutOutAndNotLetInAgain) {
    std::ofstream{at("revoked")} << "# nobody yet\n";
    auto settings = member();
    settings.tls.revoked = at("revoked");
    Node server{settings};
    ASSERT_TRUE(server.wait_ready(std::chrono::steady_clock::now() + 30s));
    std::filesystem::copy_file(at("both.pem"), at("user-ca.pem"),
                               std::filesystem::copy_options::overwrite_existing);
    Node node{client(server.status().address)};
    ASSERT_TRUE(node.wait_ready(std::chrono::steady_clock::now() + 30s));
    const auto stolen = read_certificates(at("user.pem")).front().serial;
    std::ofstream{at("revoked"), std::ios::app} << stolen << " # bob's laptop\n";
    EXPECT_TRUE(comes_true([&] { return !node.status().ready; }));
    EXPECT_THROW((void)Remote({server.status().address}, 10s, client("").tls).list(""),
                 std::system_error);
    issue("new", 0, "user");
    node.reload_tls();
    EXPECT_TRUE(comes_true([&] { return node.status().ready; }));
}

}  // namespace
}  // namespace mortise
