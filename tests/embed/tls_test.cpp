// TLS as a program uses it: configuration, rotation, warnings, and who is informed.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include <mortise/mortise.hpp>
#include <mortise/testkit.hpp>
#include <mortise/testkit/temp_directory.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using testkit::LocalCluster;
using testkit::Wire;

constexpr auto patience = 30s;

template <class Condition>
bool comes_true(Condition condition) {
    const auto give_up = std::chrono::steady_clock::now() + patience;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > give_up) return false;
        std::this_thread::sleep_for(5ms);
    }
    return true;
}

// A node with certificates in a directory.
class TlsNode : public ::testing::Test {
protected:
    TlsNode() { create_authority({"orders", at("ca.pem"), at("ca.key")}); }

    [[nodiscard]] std::filesystem::path at(const std::string& name) const {
        return directory_.path() / name;
    }
    CertificateOptions node_options(NodeId node, const std::string& stem) const {
        CertificateOptions options;
        options.authority_certificate = at("ca.pem");
        options.authority_key = at("ca.key");
        options.node = node;
        options.certificate = at(stem + ".pem");
        options.key = at(stem + ".key");
        return options;
    }
    [[nodiscard]] Config config(const std::string& stem) {
        auto config = Config::single_node(at("data"));
        config.cluster = "orders";
        config.listen = "0.0.0.0:0";
        config.tls = {at(stem + ".pem"), at(stem + ".key"), at("ca.pem")};
        config.log.sink = [this](LogLevel, std::string_view line) {
            const std::scoped_lock lock{mutex_};
            log_ += std::string{line} + "\n";
        };
        return config;
    }
    [[nodiscard]] static std::string problem_of(const Config& config) {
        try {
            Node node{config};
        } catch (const std::system_error& error) {
            return error.what();
        }
        return {};
    }
    [[nodiscard]] std::string log() {
        const std::scoped_lock lock{mutex_};
        return log_;
    }
    void replace(const std::string& stem, const std::string& by) const {
        for (const char* ending : {".pem", ".key"})
            std::filesystem::rename(at(by + ending), at(stem + ending));
    }

    testkit::TempDirectory directory_{"mortise-tls"};
    std::mutex mutex_;
    std::string log_;
};

TEST_F(TlsNode, ListensBeyondLoopbackAndIsNotCalledInsecure) {
    issue_certificate(node_options(1, "node"));
    Node node{config("node")};
    const auto status = node.status();
    EXPECT_FALSE(status.insecure);
    EXPECT_THAT(status.address, HasSubstr("0.0.0.0:"));
    const auto left = node.metrics().certificate_left;
    EXPECT_GT(left, Duration{24h * 89});
    EXPECT_LE(left, Duration{24h * 90});
}

TEST_F(TlsNode, WithoutTlsSaysSoWhereverSomebodyLooks) {
    auto plain = config("none");
    plain.tls = {};
    plain.tls.insecure = true;
    Node node{plain};
    EXPECT_TRUE(node.status().insecure);
    EXPECT_TRUE(comes_true([&] { return log().find("without TLS") != std::string::npos; }));
    plain.data_dir = at("other");
    plain.listen = "127.0.0.1:0";  // only this machine reaches it
    Node local{plain};
    EXPECT_FALSE(local.status().insecure);
}

TEST_F(TlsNode, SaysInOneLineWhatIsWrongWithItsFiles) {
    EXPECT_THAT(problem_of(config("none")), HasSubstr("none.pem: No such file or directory"));
    issue_certificate(node_options(2, "two"));
    EXPECT_THAT(problem_of(config("two")),
                HasSubstr("that of node 2 of cluster orders, not of node 1 of cluster orders"));
    issue_certificate(node_options(1, "node"));
    issue_certificate(node_options(1, "other"));
    auto mixed = config("node");
    mixed.tls.key = at("other.key");
    EXPECT_THAT(problem_of(mixed), HasSubstr("other.key is not that of the certificate"));
    auto foreign = config("node");
    create_authority({"orders", at("ca2.pem"), at("ca2.key")});
    foreign.tls.ca = at("ca2.pem");
    EXPECT_THAT(problem_of(foreign), HasSubstr("node.pem"));
    foreign.tls.ca = at("node.pem");
    EXPECT_THAT(problem_of(foreign), HasSubstr("not an authority"));
    std::filesystem::permissions(at("node.key"), std::filesystem::perms{0644});
    EXPECT_THAT(problem_of(config("node")), HasSubstr("chmod 600"));
}

TEST_F(TlsNode, WarnsBeforeItsCertificateExpires) {
    auto options = node_options(1, "node");
    options.valid_for = 24h * 6;
    issue_certificate(options);
    Node node{config("node")};
    EXPECT_TRUE(comes_true([&] {
        return log().find("this node's certificate expires within 7 days") != std::string::npos;
    })) << log();
}

TEST_F(TlsNode, AnExpiredCertificateIsAnErrorAndAnEventAndStopsNothing) {
    auto options = node_options(1, "node");
    options.not_before =
        std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now() - 48h);
    options.valid_for = 24h;
    issue_certificate(options);
    Node node{config("node")};
    ASSERT_TRUE(node.wait_ready(std::chrono::steady_clock::now() + patience));
    EXPECT_TRUE(comes_true([&] { return log().find("has expired") != std::string::npos; }));
    EXPECT_EQ(node.metrics().certificate_left, Duration::zero());
    // Renewed while the node runs.
    std::atomic<int> events{0};
    const auto subscription = node.on_event([&](const NodeEvent& event) {
        if (event.kind == NodeEvent::Kind::certificate_expires) ++events;
    });
    auto soon = node_options(1, "soon");
    soon.valid_for = 12h;
    issue_certificate(soon);
    replace("node", "soon");
    node.reload_tls();
    EXPECT_GT(node.metrics().certificate_left, Duration{11h});
    EXPECT_TRUE(comes_true([&] { return events > 0; }));
}

// Authorities that never expire have such a date.
TEST_F(TlsNode, ACertificateBeyondTheYear2262IsNotExpired) {
    constexpr Duration years = std::chrono::years{250};
    std::filesystem::remove(at("ca.pem"));
    std::filesystem::remove(at("ca.key"));
    AuthorityOptions authority{"orders", at("ca.pem"), at("ca.key")};
    authority.valid_for = years;
    create_authority(authority);
    issue_certificate(node_options(1, "node"));
    auto far = node_options(1, "far");
    far.valid_for = years;
    issue_certificate(far);
    Node node{config("node")};
    EXPECT_GT(node.metrics().certificate_left, Duration{24h * 89});
    replace("node", "far");
    node.reload_tls();
    const auto left = node.metrics().certificate_left;
    EXPECT_GT(left, Duration{std::chrono::years{200}});
    EXPECT_TRUE(left.is_set());
    EXPECT_EQ(log().find("expire"), std::string::npos) << log();
}

TEST_F(TlsNode, WhatCannotBeUsedIsNotTaken) {
    issue_certificate(node_options(1, "node"));
    Node node{config("node")};
    std::ofstream{at("node.pem")} << "nonsense";
    EXPECT_THROW(node.reload_tls(), std::system_error);
    EXPECT_GT(node.metrics().certificate_left, Duration{24h});
    issue_certificate(node_options(2, "two"));
    replace("node", "two");
    EXPECT_THROW(node.reload_tls(), std::system_error);
}

TEST_F(TlsNode, AFileThatIsMendedIsTakenByItself) {
    issue_certificate(node_options(1, "node"));
    Node node{config("node")};
    auto shorter = node_options(1, "next");
    shorter.valid_for = 48h;
    issue_certificate(shorter);
    std::filesystem::permissions(at("next.key"), std::filesystem::perms{0644});
    replace("node", "next");
    EXPECT_TRUE(comes_true([&] { return log().find("chmod 600") != std::string::npos; }));
    EXPECT_GT(node.metrics().certificate_left, Duration{24h * 80});
    std::filesystem::permissions(at("node.key"), std::filesystem::perms{0600});
    EXPECT_TRUE(comes_true([&] { return node.metrics().certificate_left < Duration{49h}; }));
}

// What is no list is reported, and the former one stays.
TEST_F(TlsNode, AListOfRevokedOnesThatCannotBeReadIsNotTaken) {
    issue_certificate(node_options(1, "node"));
    std::ofstream{at("revoked")} << "1234\n";
    auto settings = config("node");
    settings.tls.revoked = at("revoked");
    settings.log.level = LogLevel::info;
    Node node{settings};
    std::ofstream{at("revoked"), std::ios::app} << "alice.pem\n";
    EXPECT_TRUE(comes_true([&] {
        return log().find("revoked:2: is no serial number") != std::string::npos;
    })) << log();
    EXPECT_THAT(log(), HasSubstr("keeps its former list of revoked certificates: "));
    EXPECT_THROW(node.reload_tls(), std::system_error);
    std::ofstream{at("revoked")} << "1234\n5678\n";
    node.reload_tls();
    EXPECT_THAT(log(), HasSubstr("uses its new list of revoked certificates"));
    EXPECT_THAT(log(), Not(HasSubstr("new certificates")));
}

TEST_F(TlsNode, WithoutTlsThereIsNothingToReload) {
    Node node{Config::in_memory()};
    EXPECT_THROW(node.reload_tls(), std::system_error);
}

// --- a cluster ---------------------------------------------------------------------------------

class TlsCluster : public ::testing::Test {
protected:
    [[nodiscard]] std::filesystem::path at(const std::string& name) const {
        return cluster_.directory() / name;
    }
    // Another authority, and its certificates for all nodes; `authorities` are the trusted ones.
    void put_in_place(const std::string& authority, const std::string& authorities) {
        for (NodeId id = 1; id <= cluster_.size(); ++id) {
            CertificateOptions options;
            options.authority_certificate = at(authority + ".pem");
            options.authority_key = at(authority + ".key");
            options.node = id;
            options.certificate = at("new.pem");
            options.key = at("new.key");
            issue_certificate(options);
            const auto stem = "node-" + std::to_string(id);
            std::filesystem::rename(at("new.pem"), at(stem + ".pem"));
            std::filesystem::rename(at("new.key"), at(stem + ".key"));
        }
        believe(authorities);
    }
    void believe(const std::string& authorities) {
        std::filesystem::copy_file(at(authorities), at("ca.next"),
                                   std::filesystem::copy_options::overwrite_existing);
        std::filesystem::rename(at("ca.next"), at("ca.pem"));
        for (std::size_t i = 0; i < cluster_.size(); ++i)
            cluster_.node(i).reload_tls();
    }
    [[nodiscard]] std::string address(std::size_t node) {
        return cluster_.node(node).status().address;
    }
    // Why the node does not serve who has these files; empty if it does.
    [[nodiscard]] std::string problem_at(std::size_t node, const TlsConfig& files) {
        Remote remote{{address(node)}, patience, files};
        return remote.status().front().problem;
    }

    LocalCluster cluster_{3, testkit::quick_timing(), Wire::tls};
};

TEST_F(TlsCluster, GrantsLocks) {
    Hold hold = cluster_.node(0).acquire("x");
    EXPECT_FALSE(cluster_.node(1).try_acquire("x"));
    EXPECT_FALSE(hold.release());
    EXPECT_TRUE(cluster_.node(2).try_acquire("x"));
}

TEST_F(TlsCluster, ChangesItsAuthorityWithoutAPause) {
    create_authority({"mortise", at("next.pem"), at("next.key")});
    std::ofstream{at("both.pem")} << std::ifstream{at("ca.pem")}.rdbuf()
                                  << std::ifstream{at("next.pem")}.rdbuf();
    Hold hold = cluster_.node(0).acquire("held throughout");
    believe("both.pem");
    put_in_place("next", "both.pem");
    EXPECT_TRUE(cluster_.node(1).acquire_for("x", patience));
    believe("next.pem");
    EXPECT_TRUE(cluster_.node(2).acquire_for("y", patience));
    EXPECT_TRUE(hold.valid());
    // A node that has only a certificate of the former authority is refused, as a restart shows.
    cluster_.restart(2);
    EXPECT_TRUE(cluster_.wait_ready(patience));
}

TEST_F(TlsCluster, ServesRemotesWithACertificateAlone) {
    const auto admin = cluster_.issue_user("alice", {AccessRole::admin});
    Remote remote{{address(0)}, patience, admin};
    EXPECT_EQ(remote.status().front().error, std::error_code{});
    EXPECT_TRUE(remote.status().front().status.ready);
    Remote nobody{{address(0)}, 5s};
    EXPECT_NE(nobody.status().front().error, std::error_code{});
    EXPECT_THAT(nobody.status().front().problem, HasSubstr("TLS"));
}

TEST_F(TlsCluster, ARemovedMemberIsRefused) {
    const auto leader = cluster_.leader().value_or(0);
    const auto removed = (leader + 1) % 3;
    cluster_.node(leader).remove_member(removed + 1);
    auto& node = cluster_.node(leader);
    EXPECT_TRUE(comes_true([&] {
        std::size_t connected = 0;
        for (const auto& member : node.status().members)
            connected += member.connected ? 1 : 0;
        return node.status().members.size() == 2 && connected == 2;
    }));
    EXPECT_TRUE(node.acquire_for("x", patience));
    const auto before = node.metrics().connections_refused;
    cluster_.restart(removed);  // its certificate is still valid
    EXPECT_TRUE(comes_true([&] { return node.metrics().connections_refused > before; }));
    EXPECT_EQ(node.status().members.size(), 2U);
}

// It does not know that it was removed, so it says where it is, and is called.
TEST_F(TlsCluster, TheCertificateOfARemovedMemberServesNoClient) {
    const auto leader = cluster_.leader().value_or(0);
    const auto removed = (leader + 1) % 3;
    const auto stem = "node-" + std::to_string(removed + 1);
    const TlsConfig its{at(stem + ".pem"), at(stem + ".key"), at("ca.pem")};
    EXPECT_EQ(problem_at(leader, its), "");
    cluster_.kill(removed);
    cluster_.node(leader).remove_member(removed + 1);
    EXPECT_THAT(problem_at(leader, its), HasSubstr("not a member"));
    const auto before = cluster_.node(leader).metrics().connections_refused;
    cluster_.restart(removed);
    EXPECT_TRUE(
        comes_true([&] { return cluster_.node(leader).metrics().connections_refused > before; }));
    std::this_thread::sleep_for(500ms);  // until it was called
    for (std::size_t i = 0; i < cluster_.size(); ++i) {
        if (i != removed) {
            EXPECT_THAT(problem_at(i, its), HasSubstr("not a member"));
        }
    }
}

}  // namespace
}  // namespace mortise
