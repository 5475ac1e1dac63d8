// What TlsCredentials trusts by itself: it judges standing connections, for which no handshake
// takes place.
#include "transport/tls/tls_credentials.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/conf.h>

#include "tests/unit/transport/tls_support.hpp"
#include "transport/tls/revoked.hpp"
#include "transport/tls/tls_peer.hpp"

namespace mortise::transport {
namespace {

using namespace test;
using testing::HasSubstr;

class TlsCredentialsTest : public testing::Test {
protected:
    // Why they are not trusted, for a server or for a client.
    std::string problem(const Papers& papers, bool is_of_server) {
        PeerCertificate peer;
        auto chain = certificates_from(papers->certificate);
        peer.certificate = std::move(chain->front());
        const auto trusted = credentials_->verify(peer, is_of_server);
        return trusted ? "" : trusted.error().what;
    }
    Papers by_hand(CertificateByHand draft) {
        draft.names = names_of({"orders", core::NodeId{2}, {}, voter});
        return sign_by_hand(authority_.own(), draft);
    }

    Authority authority_{"orders"};
    Authority::Credentials credentials_ = authority_.node(1);
};

TEST_F(TlsCredentialsTest, TrustWhatTheirAuthoritySigned) {
    Authority other{"orders"};
    for (const bool is_of_server : {false, true}) {
        EXPECT_EQ(problem(authority_.papers_of_node(2), is_of_server), "");
        EXPECT_THAT(problem(other.papers_of_node(2), is_of_server),
                    HasSubstr("not signed by an authority in tls.ca"));
    }
}

TEST_F(TlsCredentialsTest, TrustWhatIsValidNow) {
    for (const bool is_of_server : {false, true}) {
        EXPECT_THAT(problem(by_hand({.validity = until_yesterday()}), is_of_server),
                    HasSubstr("has expired"));
        EXPECT_THAT(problem(by_hand({.validity = from_tomorrow()}), is_of_server),
                    HasSubstr("is not valid yet"));
    }
}

TEST_F(TlsCredentialsTest, TrustNothingThatIsRevoked) {
    const auto stolen = authority_.papers_of_node(2);
    const auto other = authority_.papers_of_node(3);
    EXPECT_EQ(problem(stolen, false), "");
    const auto certificates = certificates_from(stolen->certificate);
    authority_.revoke(serial_of(*certificates->front()));
    credentials_ = authority_.node(1);
    for (const bool is_of_server : {false, true}) {
        EXPECT_THAT(problem(stolen, is_of_server), HasSubstr("is revoked (tls.revoked)"));
        EXPECT_EQ(problem(other, is_of_server), "");
    }
    EXPECT_EQ(authority_.load(stolen), nullptr);
    EXPECT_THAT(authority_.problem(), HasSubstr("is revoked"));
}

// An authority of those in tls.ca, with everything that it has signed.
TEST_F(TlsCredentialsTest, TrustNothingThatARevokedAuthoritySigned) {
    const auto signed_by_it = authority_.papers_of_node(2);
    const auto own = certificates_from(authority_.own().certificate);
    Authority other{"orders"};
    other.revoke(serial_of(*own->front()));
    credentials_ = other.node(1, {&authority_, &other});
    EXPECT_THAT(problem(signed_by_it, false), HasSubstr("is revoked"));
    EXPECT_EQ(problem(other.papers_of_node(3), false), "");
}

TEST_F(TlsCredentialsTest, TrustEachForItsPurpose) {
    const auto alice = authority_.papers_of_user("alice", core::AccessRole::client);
    EXPECT_EQ(problem(alice, false), "");
    EXPECT_THAT(problem(alice, true), HasSubstr("purpose"));
    const auto server = by_hand({.purposes = "serverAuth"});
    EXPECT_EQ(problem(server, true), "");
    EXPECT_THAT(problem(server, false), HasSubstr("purpose"));
}

TEST_F(TlsCredentialsTest, TrustNoWeakKey) {
    for (const bool is_of_server : {false, true})
        EXPECT_THAT(problem(by_hand({.has_weak_key = true}), is_of_server), HasSubstr("too weak"));
}

TEST_F(TlsCredentialsTest, AreOfTheirOwnAuthority) {
    Authority other{"orders"};
    EXPECT_EQ(authority_.node(1, {&other}), nullptr);
    EXPECT_THAT(authority_.problem(), HasSubstr("not signed by an authority in tls.ca"));
    EXPECT_NE(authority_.node(1, {&other, &authority_}), nullptr);
}

// It starts with an expired one, so that it can report that.
TEST_F(TlsCredentialsTest, MayHaveExpiredAndMustHaveBegun) {
    EXPECT_NE(authority_.load(by_hand({.validity = until_yesterday()})), nullptr);
    EXPECT_EQ(authority_.load(by_hand({.validity = from_tomorrow()})), nullptr);
    EXPECT_THAT(authority_.problem(), HasSubstr("is not valid yet"));
}

// Other authorities often issue a certificate for one direction, and then the node is never
// connected.
TEST_F(TlsCredentialsTest, AreGoodInBothDirections) {
    const auto why = [&](const CertificateByHand& draft) {
        return authority_.load(by_hand(draft)) == nullptr ? authority_.problem() : "";
    };
    EXPECT_EQ(why({}), "");
    EXPECT_EQ(why({.usages = "digitalSignature,keyEncipherment"}), "");
    const std::string needed =
        "connections: a node needs extendedKeyUsage = serverAuth, clientAuth and keyUsage = "
        "digitalSignature";
    EXPECT_THAT(why({.purposes = "serverAuth"}), HasSubstr("for opening " + needed));
    EXPECT_THAT(why({.purposes = "clientAuth"}), HasSubstr("for accepting " + needed));
    for (const auto* usages : {"keyEncipherment", "keyAgreement", "nonRepudiation"})
        EXPECT_THAT(why({.usages = usages}), HasSubstr(needed)) << usages;
}

TEST_F(TlsCredentialsTest, OfAUserAreGoodForOpeningConnections) {
    const auto why = [&](CertificateByHand draft) {
        draft.names = names_of({"orders", {}, "alice", {{core::AccessRole::client}, {}}});
        const auto papers = sign_by_hand(authority_.own(), draft);
        return authority_.load(papers) == nullptr ? authority_.problem() : "";
    };
    EXPECT_EQ(why({.purposes = "clientAuth"}), "");
    EXPECT_THAT(why({.purposes = "serverAuth"}),
                HasSubstr("a user needs extendedKeyUsage = clientAuth"));
}

// As a site's openssl.cnf may set it.
class Policy {
public:
    Policy(std::filesystem::path directory, const std::string& line)
        : file_{std::move(directory) / "openssl.cnf"} {
        load(line);
    }
    ~Policy() { load("MinProtocol = TLSv1.2"); }
    Policy(const Policy&) = delete;
    Policy& operator=(const Policy&) = delete;

private:
    void load(const std::string& line) const {
        std::ofstream{file_} << "openssl_conf = all\n[all]\nssl_conf = ssl\n[ssl]\n"
                             << "system_default = policy\n[policy]\n"
                             << line << '\n';
        EXPECT_EQ(CONF_modules_load_file(file_.c_str(), nullptr, 0), 1);
    }
    std::filesystem::path file_;
};

TEST_F(TlsCredentialsTest, FitThePolicyOfTheMachine) {
    const auto papers = authority_.papers_of_node(1);
    for (const auto* line : {"MaxProtocol = TLSv1.2", "SignatureAlgorithms = ed448",
                             "CipherString = DEFAULT@SECLEVEL=5"}) {
        const Policy policy{authority_.directory(), line};
        EXPECT_EQ(authority_.load(papers), nullptr) << line;
        EXPECT_THAT(authority_.problem(), HasSubstr(".pem: ")) << line;
    }
    EXPECT_NE(authority_.load(papers), nullptr);
}

TEST_F(TlsCredentialsTest, HaveAuthoritiesInTheirFile) {
    const auto papers = authority_.papers_of_node(1);
    const auto at = [&](const char* name) { return authority_.directory() / name; };
    ASSERT_TRUE(write_key_pair({at("own.pem"), at("own.key")}, *papers));
    std::ofstream{at("all.pem")} << authority_.own().certificate << papers->certificate;
    const auto loaded = TlsCredentials::load({at("own.pem"), at("own.key"), at("all.pem")});
    ASSERT_FALSE(loaded);
    EXPECT_THAT(loaded.error().what, HasSubstr("is not an authority's"));
}

}  // namespace
}  // namespace mortise::transport
