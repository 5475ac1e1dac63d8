// Which files a node, or a client, takes for its own.
#include "embed/host/tls_watch.hpp"

#include <gmock/gmock.h>

#include <mortise/certificates.hpp>
#include <mortise/testkit/temp_directory.hpp>

namespace mortise::detail {
namespace {

using ::testing::HasSubstr;

class OwnCredentials : public ::testing::Test {
protected:
    OwnCredentials() { create_authority({"orders", at("ca.pem"), at("ca.key")}); }

    [[nodiscard]] std::filesystem::path at(const std::string& name) const {
        return directory_.path() / name;
    }
    // Issued for node 1, or for alice.
    [[nodiscard]] transport::TlsFiles files(bool are_of_node) const {
        CertificateOptions options;
        options.authority_certificate = at("ca.pem");
        options.authority_key = at("ca.key");
        if (are_of_node) options.node = 1;
        if (!are_of_node) options.user = "alice";
        if (!are_of_node) options.roles = {AccessRole::client};
        options.certificate = at("own.pem");
        options.key = at("own.key");
        issue_certificate(options);
        return {options.certificate, options.key, at("ca.pem")};
    }
    static std::string problem(const transport::TlsFiles& files, const std::string& cluster,
                               NodeId node) {
        const auto loaded = load_credentials(files, cluster, node);
        return loaded ? "" : loaded.error().what;
    }

    testkit::TempDirectory directory_{"mortise-own-credentials"};
};

TEST_F(OwnCredentials, AreOfTheConfiguredNode) {
    const auto own = files(true);
    EXPECT_EQ(problem(own, "orders", 1), "");
    EXPECT_THAT(problem(own, "orders", 2),
                HasSubstr("that of node 1 of cluster orders, not of node 2 of cluster orders"));
}

TEST_F(OwnCredentials, AreOfTheConfiguredCluster) {
    const auto own = files(true);
    EXPECT_THAT(problem(own, "billing", 1),
                HasSubstr("that of node 1 of cluster orders, not of node 1 of cluster billing"));
}

// A client may have the certificate of anybody.
TEST_F(OwnCredentials, OfAClientAreOfItsCluster) {
    const auto own = files(false);
    EXPECT_EQ(problem(own, "orders", 0), "");
    EXPECT_THAT(problem(own, "billing", 0), HasSubstr("user alice of cluster orders"));
    EXPECT_THAT(problem(own, "orders", 1), HasSubstr("not of node 1 of cluster orders"));
}

}  // namespace
}  // namespace mortise::detail
