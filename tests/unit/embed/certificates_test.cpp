#include <gmock/gmock.h>

#include <mortise/certificates.hpp>

namespace mortise {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using std::chrono::days;
using testing::ElementsAre;
using testing::HasSubstr;

std::chrono::sys_seconds wall_clock_now() {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

class CertificateFiles : public testing::Test {
protected:
    CertificateFiles() {
        auto name = (fs::temp_directory_path() / "mortise-certificates-XXXXXX").string();
        if (::mkdtemp(name.data()) != nullptr) directory_ = name;
    }
    ~CertificateFiles() override {
        std::error_code ignored;
        fs::remove_all(directory_, ignored);
    }

    [[nodiscard]] fs::path at(const std::string& name) const { return directory_ / name; }

    [[nodiscard]] AuthorityOptions authority(const std::string& name = "ca") const {
        AuthorityOptions options;
        options.cluster = "orders";
        options.certificate = at(name + ".pem");
        options.key = at(name + ".key");
        return options;
    }
    [[nodiscard]] CertificateOptions certificate(const std::string& name) const {
        CertificateOptions options;
        options.authority_certificate = at("ca.pem");
        options.authority_key = at("ca.key");
        options.certificate = at(name + ".pem");
        options.key = at(name + ".key");
        return options;
    }
    // The error of issue_certificate() for these options, which must have this code.
    static std::string problem_of(const CertificateOptions& options, std::errc code) {
        try {
            issue_certificate(options);
        } catch (const CertificateError& error) {
            EXPECT_EQ(error.code(), code) << error.what();
            return error.what();
        }
        return "nothing";
    }

    fs::path directory_;
};

TEST_F(CertificateFiles, ANodeComesBackAsItWasIssued) {
    create_authority(authority());
    auto options = certificate("one");
    options.node = 1;
    options.hosts = {"localhost", "127.0.0.1"};
    issue_certificate(options);
    const auto all = read_certificates(at("one.pem"), at("ca.pem"));
    ASSERT_EQ(all.size(), 1U);
    const auto& is = all.front();
    EXPECT_EQ(is.cluster, "orders");
    EXPECT_EQ(is.node, 1U);
    EXPECT_EQ(is.user, "");
    EXPECT_EQ(is.problem, "");
    EXPECT_THAT(is.roles, ElementsAre(AccessRole::voter));
    EXPECT_THAT(is.rules, testing::IsEmpty());
    EXPECT_THAT(is.hosts, ElementsAre("localhost", "127.0.0.1"));
    EXPECT_EQ(is.is_signed, true);
    EXPECT_FALSE(is.is_authority);
    EXPECT_LE(is.not_before, wall_clock_now() - 4min);
    EXPECT_GE(is.not_after, wall_clock_now() + days{89});
}

TEST_F(CertificateFiles, AUserComesBackAsItWasIssued) {
    create_authority(authority());
    auto options = certificate("alice");
    options.user = "alice";
    options.roles = {AccessRole::client, AccessRole::admin};
    options.rules = {{AccessRight::acquire, "orders/"}, {AccessRight::members, ""}};
    issue_certificate(options);
    const auto is = read_certificates(at("alice.pem")).front();
    EXPECT_EQ(is.user, "alice");
    EXPECT_EQ(is.node, 0U);
    EXPECT_EQ(is.roles, options.roles);
    EXPECT_EQ(is.rules, options.rules);
    EXPECT_EQ(is.is_signed, std::nullopt);
}

TEST_F(CertificateFiles, TimesMayBeGivenForTests) {
    auto old = authority();
    old.not_before = wall_clock_now() - days{20};
    old.valid_for = days{10};
    create_authority(old);
    EXPECT_EQ(read_certificates(at("ca.pem")).front().not_after, *old.not_before + days{10});
    auto options = certificate("one");
    options.node = 1;
    EXPECT_THAT(problem_of(options, std::errc::bad_message),
                HasSubstr(at("ca.pem").string() + ": the authority expired at "));

    fs::remove(at("ca.pem"));
    fs::remove(at("ca.key"));
    create_authority(authority());
    options.not_before = wall_clock_now() + days{1};
    issue_certificate(options);
    EXPECT_EQ(read_certificates(at("one.pem")).front().not_before, *options.not_before);
    auto beyond = certificate("two");
    beyond.node = 2;
    beyond.not_before = std::chrono::sys_seconds::max();
    EXPECT_THAT(problem_of(beyond, std::errc::invalid_argument), HasSubstr("9999"));
    beyond.not_before.reset();
    beyond.valid_for = -1h;
    EXPECT_THAT(problem_of(beyond, std::errc::invalid_argument), HasSubstr("longer than zero"));
}

TEST_F(CertificateFiles, ErrorsAreOneLineWithTheFilesInIt) {
    auto options = certificate("one");
    options.node = 1;
    EXPECT_EQ(problem_of(options, std::errc::no_such_file_or_directory),
              "cannot open " + at("ca.pem").string() + ": No such file or directory");
    create_authority(authority());
    create_authority(authority("other"));
    options.authority_key = at("other.key");
    EXPECT_EQ(problem_of(options, std::errc::bad_message),
              at("other.key").string() + " does not belong to " + at("ca.pem").string());
    options.authority_key = at("ca.key");
    fs::permissions(at("ca.key"), fs::perms{0644});
    EXPECT_THAT(problem_of(options, std::errc::operation_not_permitted),
                HasSubstr("run: chmod 600 " + at("ca.key").string()));
    fs::permissions(at("ca.key"), fs::perms{0600});
    issue_certificate(options);
    EXPECT_EQ(problem_of(options, std::errc::file_exists),
              at("one.pem").string() + " exists, and is not written over; move it away first");
    EXPECT_THROW(create_authority(authority()), CertificateError);
}

TEST_F(CertificateFiles, NumbersThatAreNoRoleAndNoRightAreRefused) {
    create_authority(authority());
    auto options = certificate("one");
    options.user = "alice";
    options.roles = {static_cast<AccessRole>(77)};
    EXPECT_EQ(problem_of(options, std::errc::invalid_argument), "there is no such role");
    options.roles = {AccessRole::admin};
    options.rules = {{static_cast<AccessRight>(77), ""}};
    EXPECT_EQ(problem_of(options, std::errc::invalid_argument), "there is no such right");
}

// The rules of a certificate hold for a token of the HTTP door as well.
TEST(AccessRights, NeedARoleAndWhereThereAreRulesARule) {
    const std::vector<AccessRole> client{AccessRole::client};
    const std::vector<AccessRule> orders{{AccessRight::acquire, "orders/"}};
    EXPECT_TRUE(is_allowed(client, {}, AccessRight::acquire, "x"));
    EXPECT_FALSE(is_allowed(client, {}, AccessRight::break_lock, "x"));
    EXPECT_TRUE(is_allowed(client, orders, AccessRight::acquire, "orders/1"));
    EXPECT_FALSE(is_allowed(client, orders, AccessRight::acquire, "x"));
    EXPECT_FALSE(is_allowed(client, orders, AccessRight::observe, "orders/1"));
    EXPECT_FALSE(is_allowed({}, orders, AccessRight::acquire, "orders/1"));
}

TEST_F(CertificateFiles, AnAuthorityIsReadWithItsCluster) {
    create_authority(authority());
    const auto is = read_certificates(at("ca.pem")).front();
    EXPECT_TRUE(is.is_authority);
    EXPECT_EQ(is.cluster, "orders");
    EXPECT_THAT(is.roles, testing::IsEmpty());
}

TEST(AccessNames, AreReadAsTheyAreWritten) {
    for (const auto role : {AccessRole::voter, AccessRole::learner, AccessRole::client,
                            AccessRole::observer, AccessRole::admin})
        EXPECT_EQ(parse_access_role(to_string(role)), role);
    for (const auto right : {AccessRight::acquire, AccessRight::break_lock, AccessRight::observe,
                             AccessRight::members})
        EXPECT_EQ(parse_access_right(to_string(right)), right);
    EXPECT_EQ(to_string(AccessRight::break_lock), "break");
    EXPECT_EQ(parse_access_role("king"), std::nullopt);
    EXPECT_EQ(parse_access_right("unknown"), std::nullopt);
    EXPECT_EQ(to_string(static_cast<AccessRole>(77)), "unknown");
    EXPECT_EQ(to_string(static_cast<AccessRight>(77)), "unknown");
}

}  // namespace
}  // namespace mortise
