#include "transport/tls/certificates.hpp"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <openssl/pem.h>

#include "tests/unit/transport/chain_samples.hpp"
#include "transport/tls/pem.hpp"

namespace mortise::transport {
namespace {

using namespace std::chrono_literals;
using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::chrono::sys_seconds now{std::chrono::sys_days{std::chrono::year{2026} / 3 / 1}};
constexpr auto days = [](int count) { return std::chrono::seconds{std::chrono::days{count}}; };

Issued authority_of(const std::string& cluster,
                    Validity validity = Validity::from(now, days(365))) {
    auto made = make_authority({cluster, validity});
    EXPECT_TRUE(made) << made.error().what;
    return *std::move(made);
}

core::Identity node(std::uint64_t id) {
    core::Identity identity;
    identity.node = core::NodeId{id};
    identity.access.roles = {core::AccessRole::voter};
    return identity;
}

core::Identity alice() {
    core::Identity identity;
    identity.user = "alice@example.org";
    identity.access.roles = {core::AccessRole::observer, core::AccessRole::admin};
    identity.access.rules = {{core::Right::observe, ""}, {core::Right::break_lock, "a b/\xff%"}};
    return identity;
}

CertificateRequest request_of(core::Identity identity) {
    return {std::move(identity), {}, Validity::from(now, days(90))};
}

std::string problem_of(const Issued& authority, const CertificateRequest& request) {
    const auto issued = issue_certificate(authority, request, now);
    return issued ? "" : issued.error().what;
}

Issued issue(const Issued& authority, const CertificateRequest& request) {
    auto issued = issue_certificate(authority, request, now);
    EXPECT_TRUE(issued) << issued.error().what;
    return *std::move(issued);
}

CertificateDescription described(const Issued& issued, std::string_view authorities = {}) {
    const auto all = describe_certificates(issued.certificate, authorities);
    EXPECT_TRUE(all) << all.error().what;
    EXPECT_EQ(all->size(), 1U);
    return all->front();
}

// X509_V_OK, or OpenSSL's error.
int verdict(std::string_view authorities, const Issued& issued, int purpose,
            std::chrono::sys_seconds at = now) {
    const std::unique_ptr<X509_STORE, decltype(&X509_STORE_free)> store{X509_STORE_new(),
                                                                        X509_STORE_free};
    const auto trusted = certificates_from(authorities);
    for (const auto& authority : *trusted)
        X509_STORE_add_cert(store.get(), authority.get());
    const auto certificates = certificates_from(issued.certificate);
    const openssl::StoreContext context{X509_STORE_CTX_new()};
    X509_STORE_CTX_init(context.get(), store.get(), certificates->front().get(), nullptr);
    X509_STORE_CTX_set_purpose(context.get(), purpose);
    X509_STORE_CTX_set_flags(context.get(), X509_V_FLAG_X509_STRICT);
    X509_STORE_CTX_set_time(context.get(), 0, at.time_since_epoch().count());
    X509_verify_cert(context.get());
    return X509_STORE_CTX_get_error(context.get());
}

TEST(Certificates, ANodeIsAServerAndAClientForOpenssl) {
    const auto authority = authority_of("orders");
    const auto one = issue(authority, request_of(node(1)));
    EXPECT_EQ(verdict(authority.certificate, one, X509_PURPOSE_SSL_SERVER), X509_V_OK);
    EXPECT_EQ(verdict(authority.certificate, one, X509_PURPOSE_SSL_CLIENT), X509_V_OK);
}

TEST(Certificates, AUserIsAClientAndNoServer) {
    const auto authority = authority_of("orders");
    const auto user = issue(authority, request_of(alice()));
    EXPECT_EQ(verdict(authority.certificate, user, X509_PURPOSE_SSL_CLIENT), X509_V_OK);
    EXPECT_EQ(verdict(authority.certificate, user, X509_PURPOSE_SSL_SERVER),
              X509_V_ERR_INVALID_PURPOSE);
}

TEST(Certificates, ANodeCannotSign) {
    const auto authority = authority_of("orders");
    const auto one = issue(authority, request_of(node(1)));
    EXPECT_THAT(problem_of(one, request_of(node(2))), HasSubstr("is not that of an authority"));
}

TEST(Certificates, AnotherAuthorityOfTheSameNameIsNotTrusted) {
    const auto authority = authority_of("orders");
    const auto other = authority_of("orders");
    const auto one = issue(other, request_of(node(1)));
    EXPECT_NE(verdict(authority.certificate, one, X509_PURPOSE_SSL_SERVER), X509_V_OK);
    EXPECT_EQ(described(one, authority.certificate).is_signed, false);
    EXPECT_EQ(described(one, other.certificate).is_signed, true);
    EXPECT_EQ(described(one).is_signed, std::nullopt);
}

// While an authority is replaced, a file has both. They have the same name.
TEST(Certificates, TwoAuthoritiesInOneTextAreBothTrusted) {
    const auto old = authority_of("orders");
    auto fresh = authority_of("orders");
    const auto by_old = issue(old, request_of(node(1)));
    const auto both = old.certificate + fresh.certificate;
    fresh.certificate = both;
    const auto by_fresh = issue(fresh, request_of(node(2)));
    for (const auto* issued : {&by_old, &by_fresh}) {
        EXPECT_EQ(verdict(both, *issued, X509_PURPOSE_SSL_SERVER), X509_V_OK);
        EXPECT_EQ(described(*issued, both).is_signed, true);
    }
    EXPECT_EQ(describe_certificates(both)->size(), 2U);
}

std::vector<std::optional<bool>> signed_of(std::string_view file, std::string_view authorities) {
    const auto found = describe_certificates(file, authorities);
    std::vector<std::optional<bool>> all;
    for (const auto& one : *found)
        all.push_back(one.is_signed);
    return all;
}

// A node sends the whole file, and the others accept such a chain.
TEST(Certificates, AuthoritiesBetweenMayBeInTheFileOfTheNode) {
    const auto text = [](auto... parts) { return (std::string{} + ... + std::string{parts}); };
    const auto file = text(chain_node, chain_second, chain_first);
    EXPECT_THAT(signed_of(file, chain_root), ElementsAre(true, true, true));
    EXPECT_THAT(signed_of(text(chain_node, chain_first, chain_second), chain_root),
                ElementsAre(true, true, true));
    EXPECT_THAT(signed_of(text(chain_node, chain_second), chain_root), ElementsAre(false, false));
    EXPECT_THAT(signed_of(text(chain_node, chain_first), chain_root), ElementsAre(false, true));
    EXPECT_THAT(signed_of(file, authority_of("orders").certificate),
                ElementsAre(false, false, false));
    EXPECT_THAT(signed_of(chain_node, text(chain_root, chain_second)), ElementsAre(true));
}

TEST(Certificates, TheIdentityComesBackAsItWas) {
    const auto authority = authority_of("orders");
    for (auto identity : {node(18'446'744'073'709'551'615U), alice()}) {
        const auto issued = issue(authority, request_of(identity));
        identity.cluster = "orders";
        std::ranges::sort(identity.access.roles);
        EXPECT_EQ(described(issued).identity, identity);
        const auto certificates = certificates_from(issued.certificate);
        const auto names = names_in(*certificates->front());
        ASSERT_TRUE(names);
        const auto read = core::identity_from(names->uris);
        ASSERT_TRUE(read) << read.error().what;
        EXPECT_EQ(*read, identity);
    }
}

TEST(Certificates, TheLongestNamesFit) {
    const std::string cluster(core::cluster_name_bytes_max, 'c');
    const auto authority = authority_of(cluster);
    EXPECT_EQ(described(authority).cluster, cluster);
    auto identity = alice();
    identity.user = std::string(core::user_name_bytes_max, 'u');
    EXPECT_EQ(described(issue(authority, request_of(identity))).subject,
              "CN=user " + identity.user);
}

TEST(Certificates, TheMostRulesFitWhereTheirPrefixesArePlain) {
    const auto authority = authority_of("orders");
    auto identity = alice();
    identity.access.rules.assign(core::access_rules_max,
                                 {core::Right::observe, std::string(512, 'p')});
    EXPECT_EQ(problem_of(authority, request_of(identity)), "");
    identity.access.rules.assign(core::access_rules_max,
                                 {core::Right::observe, std::string(512, ' ')});
    EXPECT_THAT(problem_of(authority, request_of(identity)), HasSubstr("too large"));
    identity.access.rules.assign(core::access_rules_max + 1, {core::Right::observe, "p"});
    EXPECT_NE(problem_of(authority, request_of(identity)), "");
}

TEST(Certificates, AnAuthoritySaysWhatItIs) {
    const auto is = described(authority_of("orders"));
    EXPECT_TRUE(is.is_authority);
    EXPECT_EQ(is.cluster, "orders");
    EXPECT_EQ(is.subject, "CN=orders authority");
    EXPECT_EQ(is.issuer, is.subject);
    EXPECT_FALSE(is.identity);
    EXPECT_EQ(is.no_identity, "it is that of an authority");
}

TEST(Certificates, SaysWhatIsInOne) {
    const auto authority = authority_of("orders");
    auto request = request_of(node(3));
    request.hosts = {"node-3.example.org", "10.0.0.3", "::1", "a_b"};
    const auto is = described(issue(authority, request), authority.certificate);
    EXPECT_FALSE(is.is_authority);
    EXPECT_EQ(is.subject, "CN=node 3");
    EXPECT_EQ(is.issuer, "CN=orders authority");
    EXPECT_THAT(is.hosts, ElementsAre("node-3.example.org", "10.0.0.3", "::1", "a_b"));
    EXPECT_EQ(is.validity.not_before, now - 5min);
    EXPECT_EQ(is.validity.not_after, now + days(90));
    EXPECT_EQ(is.serial.size(), 32U);
    EXPECT_EQ(is.fingerprint.size(), 32U * 3 - 1);
    EXPECT_EQ(is.is_signed, true);
}

TEST(Certificates, EachHasASerialOfItsOwn) {
    const auto authority = authority_of("orders");
    std::set<std::string> serials;
    for (int i = 0; i < 20; ++i)
        serials.insert(described(issue(authority, request_of(node(1)))).serial);
    EXPECT_EQ(serials.size(), 20U);
}

TEST(Certificates, NoneOutlivesItsAuthority) {
    const auto authority = authority_of("orders", Validity::from(now, days(30)));
    const auto one = issue(authority, request_of(node(1)));
    EXPECT_EQ(described(one).validity.not_after, now + days(30));
}

TEST(Certificates, AnAuthorityThatIsNotValidNowSignsNothing) {
    const auto expired = authority_of("orders", {now - days(10), now});
    EXPECT_EQ(problem_of(expired, request_of(node(1))),
              "the authority's certificate: the authority expired at 2026-03-01 00:00:00 UTC");
    const auto early = authority_of("orders", {now + 1s, now + days(10)});
    EXPECT_EQ(problem_of(early, request_of(node(1))),
              "the authority's certificate: the authority is not valid before 2026-03-01 00:00:01 "
              "UTC; is the clock right?");
}

// For tests of code that uses certificates.
TEST(Certificates, CanBeMadeExpiredOrNotYetValid) {
    const auto authority = authority_of("orders");
    const auto expired = issue(authority, {node(1), {}, {now - days(2), now - days(1)}});
    EXPECT_EQ(verdict(authority.certificate, expired, X509_PURPOSE_SSL_SERVER),
              X509_V_ERR_CERT_HAS_EXPIRED);
    const auto early = issue(authority, {node(1), {}, {now + days(1), now + days(2)}});
    EXPECT_EQ(verdict(authority.certificate, early, X509_PURPOSE_SSL_SERVER),
              X509_V_ERR_CERT_NOT_YET_VALID);
    EXPECT_THAT(problem_of(authority, {node(1), {}, {now, now}}), HasSubstr("longer than zero"));
    EXPECT_FALSE(make_authority({"orders", {now, now - 1s}}));
    EXPECT_FALSE(make_authority({"orders", {now, time_max + 1s}}));
    EXPECT_TRUE(make_authority({"orders", {now, time_max}}));
}

TEST(Certificates, AKeyOfAnotherAuthorityIsRefused) {
    auto authority = authority_of("orders");
    authority.key = authority_of("orders").key;
    EXPECT_EQ(problem_of(authority, request_of(node(1))),
              "the authority's key does not belong to the authority's certificate");
}

TEST(Certificates, AnAuthoritySignsForItsClusterOnly) {
    const auto authority = authority_of("orders");
    auto request = request_of(node(1));
    request.identity.cluster = "billing";
    EXPECT_EQ(problem_of(authority, request),
              "the authority is that of cluster orders, not of billing");
    request.identity.cluster = "orders";
    EXPECT_EQ(problem_of(authority, request), "");
}

TEST(Certificates, WhatNobodyCanBeIsRefused) {
    const auto authority = authority_of("orders");
    const auto refused = [&](core::Identity identity) {
        const auto issued = issue_certificate(authority, request_of(std::move(identity)), now);
        return !issued && issued.error().code == std::errc::invalid_argument;
    };
    EXPECT_TRUE(refused({}));
    EXPECT_TRUE(refused(node(0)));
    auto both = node(1);
    both.user = "alice";
    EXPECT_TRUE(refused(both));
    auto spaced = alice();
    spaced.user = "alice smith";
    EXPECT_TRUE(refused(spaced));
    auto without_role = node(1);
    without_role.access.roles.clear();
    EXPECT_TRUE(refused(without_role));
    auto of_a_user = node(1);
    of_a_user.access.roles = {core::AccessRole::admin};
    EXPECT_TRUE(refused(of_a_user));
    auto prefixed = alice();
    prefixed.access.rules = {{core::Right::members, "orders/"}};
    EXPECT_TRUE(refused(prefixed));  // it would allow more than requested
    EXPECT_FALSE(make_authority({"orders/1", Validity::from(now, days(1))}));
    EXPECT_FALSE(make_authority({"", Validity::from(now, days(1))}));
}

TEST(Certificates, AHostIsANameOrAnAddress) {
    const auto authority = authority_of("orders");
    const auto problem = [&](const std::string& host) {
        auto request = request_of(node(1));
        request.hosts = {host};
        return problem_of(authority, request);
    };
    for (const auto* good : {"localhost", "a.b-c.example", "127.0.0.1", "fe80::1"})
        EXPECT_EQ(problem(good), "") << good;
    for (const auto* bad : {"", "a:7401", "10.0.0.256", "*.example.org", "a b", "a..b", "-a", "a.",
                            "10.0.0.1/8", "[::1]", "a,URI:mortise://orders/role/admin"})
        EXPECT_THAT(problem(bad), HasSubstr("is neither a host's name nor an IP address")) << bad;
    EXPECT_NE(problem(std::string(254, 'a')), "");
    auto request = request_of(node(1));
    request.hosts.assign(certificate_hosts_max + 1, "localhost");
    EXPECT_THAT(problem_of(authority, request), HasSubstr("at most 100 hosts"));
}

TEST(Certificates, WhatIsNoPemIsRefused) {
    const auto authority = authority_of("orders");
    const auto problem = [](std::string_view text) {
        const auto all = describe_certificates(text);
        return all ? "" : all.error().what;
    };
    EXPECT_EQ(problem(""), "it has no certificate in it (PEM)");
    EXPECT_EQ(problem("hello"), "it has no certificate in it (PEM)");
    EXPECT_EQ(problem(authority.key.text()), "it has no certificate in it (PEM)");
    auto damaged = authority.certificate;
    damaged[damaged.size() / 2] = '!';
    EXPECT_EQ(problem(damaged), "it has a damaged certificate in it");
    EXPECT_EQ(problem(authority.certificate + damaged), "it has a damaged certificate in it");
    const auto cut = authority.certificate.substr(0, authority.certificate.size() / 2);
    EXPECT_EQ(problem(cut), "it has a damaged certificate in it");
    // A file with the key in front of the certificate is common.
    EXPECT_EQ(problem(std::string{authority.key.text()} + authority.certificate), "");
}

TEST(Certificates, NoneLeavesErrorsInTheQueueOfOpenssl) {
    const auto authority = authority_of("orders");
    const auto one = issue(authority, request_of(node(1)));
    static_cast<void>(describe_certificates(one.certificate, authority.certificate));
    static_cast<void>(describe_certificates("hello"));
    static_cast<void>(key_from("hello"));
    EXPECT_EQ(ERR_peek_error(), 0U);
}

TEST(KeyFrom, ReadsWhatWasWrittenAndNothingElse) {
    const auto authority = authority_of("orders");
    EXPECT_THAT(std::string{authority.key.text()}, testing::StartsWith("-----BEGIN PRIVATE KEY"));
    EXPECT_TRUE(key_from(authority.key.text()));
    EXPECT_FALSE(key_from(""));
    EXPECT_FALSE(key_from(authority.certificate));
}

// A prompt on the terminal would make a program hang at its start.
TEST(KeyFrom, RefusesAKeyWithAPassphrase) {
    const auto key = key_from(authority_of("orders").key.text());
    const openssl::Bio bio{BIO_new(BIO_s_mem())};
    ASSERT_EQ(PEM_write_bio_PKCS8PrivateKey(bio.get(), key->get(), EVP_aes_256_cbc(), "word", 4,
                                            nullptr, nullptr),
              1);
    char* data = nullptr;
    const auto size = BIO_get_mem_data(bio.get(), &data);
    const auto read = key_from({data, static_cast<std::size_t>(size)});
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().what, HasSubstr("passphrase"));
}

TEST(InUtc, IsForPeople) {
    EXPECT_EQ(in_utc(std::chrono::sys_seconds{1'700'000'000s}), "2023-11-14 22:13:20 UTC");
}

}  // namespace
}  // namespace mortise::transport
