// The judgements of `mortise doctor`. doctor_test.py has the checks under real conditions.
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/resource.h>

#include "tests/support/no_threads.hpp"
#include "tests/support/silent_address.hpp"
#include "tools/mortise/doctor/checks.hpp"
#include "tools/mortise/doctor/reach.hpp"
#include <mortise/certificates.hpp>
#include <mortise/testkit/temp_directory.hpp>

namespace mortise::cli {
namespace {

using namespace std::chrono_literals;
using ::testing::_;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t mib = std::uint64_t{1} << 20U;

Config three_nodes() {
    Config config;
    config.cluster = "orders";
    config.node_id = 1;
    config.data_dir = "/nowhere";
    config.listen = "127.0.0.1:7401";
    config.peers = {{1, "127.0.0.1:7401"}, {2, "127.0.0.1:7402"}, {3, "127.0.0.1:7403"}};
    return config;
}

// The report of a member without faults, which formed its cluster with nodes 1 to 3.
MemberReport sound(NodeId id) {
    MemberReport report;
    report.address = "127.0.0.1:740" + std::to_string(id);
    report.status.id = id;
    report.status.cluster = "orders";
    report.status.cluster_id = "aa";
    report.status.ready = true;
    for (const NodeId member : {1, 2, 3}) {
        MemberInfo info;
        info.id = member;
        info.connected = member != 1;
        report.status.members.push_back(info);
    }
    report.timing = {1s, 100ms, 10s};
    report.voters = {1, 2, 3};
    return report;
}

Findings judged(const MemberReport& report, const Config& config = three_nodes(),
                const OwnDirectory& own = {}) {
    return judge_members(config, own, {{{2, "127.0.0.1:7402"}, report, {}}});
}

auto is(Severity severity, const std::string& text) {
    return AllOf(Field("severity", &Finding::severity, severity),
                 Field("text", &Finding::text, HasSubstr(text)));
}

TEST(Finding, IsOneLineForPeopleAndAnObjectForPrograms) {
    const Findings findings{problem("node 2", "a\nb refuses", "start node 2"),
                            fine("clock", "runs")};
    EXPECT_EQ(line_of(findings[0]), "error    node 2: a\\x0ab refuses; start node 2");
    EXPECT_EQ(line_of(findings[1]), "ok       clock: runs");
    const auto json = json_of(findings);
    EXPECT_EQ(json.at("errors"), 1);
    EXPECT_EQ(json.at("warnings"), 0);
    EXPECT_EQ(json.at("findings").at(0).at("advice"), "start node 2");
    EXPECT_FALSE(json.at("findings").at(1).contains("advice"));
}

TEST(DoctorMembers, FindsNothingWrongWithASoundMember) {
    EXPECT_THAT(judged(sound(2)), ElementsAre(is(Severity::ok, "is ready")));
}

TEST(DoctorMembers, NamesAnotherClusterBeforeAnythingElse) {
    auto report = sound(2);
    report.status.cluster = "payments";
    report.status.ready = false;
    EXPECT_THAT(judged(report), ElementsAre(is(Severity::error, "the cluster \"payments\"")));
}

TEST(DoctorMembers, NamesTheNodeThatAnswersInsteadOfThePeer) {
    EXPECT_THAT(judged(sound(3)), ElementsAre(is(Severity::error, "node 3 answers at")));
}

TEST(DoctorMembers, ListsTheTimesThatDiffer) {
    auto report = sound(2);
    report.timing = {5s, Duration::zero(), 10s};  // it does not tell its heartbeat
    EXPECT_THAT(judged(report),
                ElementsAre(is(Severity::warning, "with election_timeout 5s (here 1s)")));
}

TEST(DoctorMembers, ComparesThePeersUntilTheClusterIsFormed) {
    auto report = sound(2);
    report.voters = {1, 2};
    EXPECT_THAT(judged(report), ElementsAre(is(Severity::ok, "is ready")));
    report.status.cluster_id.clear();
    report.status.members.clear();
    EXPECT_THAT(
        judged(report),
        ElementsAre(is(Severity::error, "names the peers 1, 2, and this node names 1, 2, 3")));
}

TEST(DoctorMembers, KnowsASecondNodeWithTheIdOfThisOne) {
    auto report = sound(2);
    report.status.members.front().connected = true;
    EXPECT_THAT(judged(report), ElementsAre(is(Severity::error, "a node that has the id 1")));
    OwnDirectory running;
    running.is_running = true;
    EXPECT_THAT(judged(report, three_nodes(), running), ElementsAre(is(Severity::ok, "is ready")));
}

TEST(DoctorMembers, TellsStrangersRemovedNodesAndLearnersApart) {
    auto report = sound(2);
    report.status.members.erase(report.status.members.begin());
    EXPECT_THAT(judged(report), ElementsAre(is(Severity::error, "formed by 2, 3, without node 1")));
    OwnDirectory own;
    own.cluster_id = "aa";
    EXPECT_THAT(judged(report, three_nodes(), own),
                ElementsAre(is(Severity::error, "node 1 was removed")));
    auto learner = three_nodes();
    learner.role = Role::learner;
    EXPECT_THAT(judged(report, learner),
                ElementsAre(is(Severity::warning, "does not have node 1")));
}

TEST(DoctorMembers, DoNotWantAClientAmongThem) {
    auto client = three_nodes();
    client.role = Role::client;
    client.node_id = 0;
    client.data_dir.clear();
    client.listen.clear();
    client.timing.session_ttl = 30s;
    EXPECT_THAT(judged(sound(2), client), ElementsAre(is(Severity::ok, "is ready")));
    auto elsewhere = sound(2);
    elsewhere.status.cluster = "payments";
    EXPECT_THAT(judged(elsewhere, client), ElementsAre(is(Severity::error, "payments")));
}

TEST(DoctorMembers, KnowsADirectoryOfAnotherCluster) {
    OwnDirectory own;
    own.cluster_id = "bb";
    EXPECT_THAT(judged(sound(2), three_nodes(), own),
                ElementsAre(is(Severity::error, "belongs to the cluster bb, and node 2 to aa")));
}

TEST(DoctorMembers, PassesOnWhyAMemberIsNotReady) {
    auto report = sound(2);
    report.status.ready = false;
    report.status.why_not_ready = "no leader is known";
    EXPECT_THAT(judged(report),
                ElementsAre(is(Severity::warning, "not ready: no leader is known")));
}

TEST(DoctorMembers, FindsMembersOfTwoClusters) {
    auto other = sound(3);
    other.status.cluster_id = "bb";
    EXPECT_THAT(
        judge_members(three_nodes(), {},
                      {{{2, "127.0.0.1:7402"}, sound(2), {}}, {{3, "127.0.0.1:7403"}, other, {}}}),
        Contains(is(Severity::error, "another cluster (bb) than node 2 (aa)")));
}

TEST(DoctorStranger, IsJudgedByHowItAnswers) {
    const PeerConfig peer{2, "127.0.0.1:7402"};
    MemberReport report;
    report.error = std::make_error_code(std::errc::timed_out);
    EXPECT_THAT(judge_stranger(peer, report, false), is(Severity::error, "says nothing"));
    report.error = std::make_error_code(std::errc::connection_reset);
    EXPECT_THAT(judge_stranger(peer, report, false), is(Severity::error, "is not Mortise"));
    report.problem = "127.0.0.1:7402: its certificate has expired";
    report.error = std::make_error_code(std::errc::permission_denied);
    const auto found = judge_stranger(peer, report, true);
    EXPECT_EQ(found.text, report.problem);
    EXPECT_THAT(found.advice, HasSubstr("cert show"));
}

TEST(DoctorDisk, IsHeldAgainstTheTimesOfTheCluster) {
    const TimingConfig timing;  // an election after 1 s, a heartbeat each 100 ms
    EXPECT_THAT(judge_disk({1ms, 20ms, 90ms, 100}, timing), is(Severity::ok, "1.00 ms (median)"));
    EXPECT_THAT(judge_disk({1ms, 150ms, 200ms, 100}, timing), is(Severity::warning, "heartbeat"));
    EXPECT_THAT(judge_disk({1ms, 20ms, 1200ms, 100}, timing), is(Severity::warning, "leaders"));
    EXPECT_THAT(judge_disk({1s, 2s, 2s, 2}, timing), is(Severity::error, "election_timeout"));
}

TEST(DoctorSpace, IsWhatAStartAndALongLogNeed) {
    Config config;
    config.limits.log_bytes = 256 * mib;
    EXPECT_EQ(judge_space(2000 * mib, 100'000 * mib, 0, config).severity, Severity::ok);
    EXPECT_EQ(judge_space(300 * mib, 100'000 * mib, 0, config).severity, Severity::warning);
    EXPECT_EQ(judge_space(100 * mib, 100'000 * mib, 0, config).severity, Severity::error);
    // Its own reserve counts as free, and a small volume needs a small one.
    EXPECT_EQ(judge_space(100 * mib, 100'000 * mib, 64 * mib, config).severity, Severity::warning);
    EXPECT_EQ(judge_space(9 * mib, 100 * mib, 0, config).severity, Severity::warning);
}

TEST(DoctorFileSystem, IsUnsafeInMemoryInAContainerAndOnTheNetwork) {
    constexpr std::int64_t cifs = 0xFF534D42;
    for (const std::int64_t type : {std::int64_t{TMPFS_MAGIC}, std::int64_t{OVERLAYFS_SUPER_MAGIC},
                                    std::int64_t{NFS_SUPER_MAGIC}, cifs})
        EXPECT_EQ(judge_file_system(type).severity, Severity::warning) << type;
    EXPECT_EQ(judge_file_system(EXT4_SUPER_MAGIC).severity, Severity::ok);
}

TEST(DoctorLimits, AreThoseOfThePageOfTheConfiguration) {
    const auto config = three_nodes();
    EXPECT_EQ(judge_descriptors(29, config).severity, Severity::error);
    EXPECT_EQ(judge_descriptors(100, config).severity, Severity::warning);
    EXPECT_EQ(judge_descriptors(115, config).severity, Severity::ok);
    EXPECT_EQ(judge_descriptors({}, config).severity, Severity::ok);
    EXPECT_EQ(judge_file_size(10 * mib, config).severity, Severity::error);
    EXPECT_EQ(judge_file_size(100 * mib, config).severity, Severity::warning);
    EXPECT_EQ(judge_file_size({}, config).severity, Severity::ok);
    EXPECT_EQ(judge_memory(200 * mib, config).severity, Severity::warning);
    EXPECT_EQ(judge_memory(1024 * mib, config).severity, Severity::ok);
    EXPECT_EQ(judge_memory({}, config).severity, Severity::ok);
}

class MemoryLimit : public ::testing::Test {
protected:
    void write(const std::string& name, const std::string& text) const {
        const auto path = directory_.path() / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream{path} << text;
    }
    [[nodiscard]] std::optional<std::uint64_t> found() const {
        return memory_limit(directory_.path() / "cgroup", directory_.path() / "fs");
    }

    mortise::testkit::TempDirectory directory_{"mortise-doctor"};
};

TEST_F(MemoryLimit, IsTheLowestOfTheGroupAndThoseAbove) {
    write("cgroup", "0::/slice/service\n");
    write("fs/slice/service/memory.max", "max\n");
    write("fs/slice/memory.max", "500000\n");
    EXPECT_EQ(found(), 500000);
    write("fs/slice/service/memory.max", "400000\n");
    EXPECT_EQ(found(), 400000);
}

// In a container the file names the group as the host sees it, and its limit is at the root.
TEST_F(MemoryLimit, IsFoundAtTheRootOfAContainer) {
    write("cgroup", "0::/docker/1234\n");
    write("fs/memory.max", "300000\n");
    EXPECT_EQ(found(), 300000);
}

TEST_F(MemoryLimit, IsFoundInTheFirstVersionOfGroups) {
    write("cgroup", "5:cpu,cpuacct:/other\n4:memory:/one\n0::/\n");
    write("fs/memory/one/memory.limit_in_bytes", "200000\n");
    write("fs/memory/memory.limit_in_bytes", "9223372036854771712\n");
    EXPECT_EQ(found(), 200000);
}

TEST_F(MemoryLimit, IsNoneWithoutGroups) {
    EXPECT_EQ(found(), std::nullopt);
}

TEST(DoctorClock, DoubtsASourceThatLosesTime) {
    EXPECT_EQ(judge_clock_source("tsc").severity, Severity::ok);
    EXPECT_EQ(judge_clock_source("").severity, Severity::ok);
    EXPECT_EQ(judge_clock_source("jiffies").severity, Severity::warning);
}

// Each call takes 2 ms, and the second one begins a second after the first.
std::optional<Finding> rate(std::chrono::nanoseconds there) {
    return judge_clock_rate("node 2", {5s, 0ms, 2ms}, {5s + there, 1000ms, 1002ms}, 0.01);
}

TEST(DoctorClockRate, IsComparedWithinWhatTheCallsAllow) {
    EXPECT_EQ(rate(1000ms)->severity, Severity::ok);
    EXPECT_EQ(rate(1011ms)->severity, Severity::ok);  // 1.1 %, of which the calls may be 0.2
    EXPECT_THAT(*rate(1020ms), is(Severity::error, "faster"));
    EXPECT_THAT(*rate(980ms), is(Severity::error, "slower"));
}

TEST(DoctorClockRate, IsUnknownAfterARestartAndWithSlowCalls) {
    EXPECT_EQ(rate(-4s), std::nullopt);
    EXPECT_EQ(judge_clock_rate("node 2", {5s, 0ms, 300ms}, {6s, 1000ms, 1300ms}, 0.01),
              std::nullopt);
}

TEST(DoctorAddresses, LoopbackIsNoAddressForOtherMachines) {
    auto config = three_nodes();
    config.peers[1].address = "192.0.2.7:7402";
    const auto findings = check_addresses(config);
    EXPECT_THAT(findings, Contains(AllOf(Field(&Finding::about, "node 1"),
                                         is(Severity::error, "is a loopback address"))));
    EXPECT_THAT(check_addresses(three_nodes()),
                ElementsAre(is(Severity::ok, "127.0.0.1"), is(Severity::ok, "127.0.0.1"),
                            is(Severity::ok, "127.0.0.1")));
}

TEST(DoctorAddresses, NameWhatDoesNotResolve) {
    auto config = three_nodes();
    config.peers[2].address = "no-such-host.invalid:7403";
    EXPECT_THAT(check_addresses(config),
                Contains(is(Severity::error, "no-such-host.invalid:7403")));
}

TEST(DoctorAddresses, CompareListenWithWhatThePeersHave) {
    auto config = three_nodes();
    config.listen = "127.0.0.1:7409";
    EXPECT_THAT(check_addresses(config),
                Contains(is(Severity::warning, "port 7409, and the peers have port 7401")));
    config.listen = "127.0.0.1:7401";
    config.peers[0].address = "192.0.2.7:7401";
    const auto findings = check_addresses(config);
    EXPECT_THAT(findings, Contains(is(Severity::warning, "no interface of this machine")));
    EXPECT_THAT(findings,
                Contains(is(Severity::error, "do not reach this node at 192.0.2.7:7401")));
    config.peers[0].address = "0.0.0.0:7401";
    EXPECT_THAT(check_addresses(config), Contains(is(Severity::error, "every address")));
}

TEST(DoctorAddresses, AreNoneForANodeAlone) {
    EXPECT_THAT(check_addresses(Config::single_node("/nowhere")),
                ElementsAre(is(Severity::ok, "a cluster of one")));
}

TEST(SplitAddress, TakesTheBracketsOff) {
    EXPECT_EQ(split_address("[::1]:7401").host, "::1");
    EXPECT_EQ(split_address("[::1]:7401").port, "7401");
    EXPECT_EQ(split_address("db-1:80").host, "db-1");
}

TEST(DoctorWithoutTls, SaysSoOnlyWhenAnybodyMayDoEverything) {
    EXPECT_THAT(check_certificates(three_nodes(), {}), IsEmpty());
    auto config = three_nodes();
    config.tls.insecure = true;
    EXPECT_THAT(check_certificates(config, {}), ElementsAre(is(Severity::warning, "everybody")));
}

// A cluster's files: an authority, another one with the same name, and certificates of node 1.
class DoctorCertificates : public ::testing::Test {
protected:
    DoctorCertificates() {
        create("ca", "orders");
        create("other", "orders");
        create("payments", "payments");
        issue("own", "ca", 1);
        config_.tls = {file("own", ".pem"), file("own", ".key"), file("ca", ".pem"), false};
    }

    void create(const std::string& name, const std::string& cluster) const {
        AuthorityOptions authority;
        authority.cluster = cluster;
        authority.certificate = file(name, ".pem");
        authority.key = file(name, ".key");
        create_authority(authority);
    }
    void issue(const std::string& name, const std::string& authority, NodeId node) const {
        CertificateOptions options;
        options.authority_certificate = file(authority, ".pem");
        options.authority_key = file(authority, ".key");
        options.certificate = file(name, ".pem");
        options.key = file(name, ".key");
        options.node = node;
        if (node == 0) {
            options.user = name;
            options.roles = {AccessRole::client};
        }
        issue_certificate(options);
    }
    [[nodiscard]] std::filesystem::path file(const std::string& name,
                                             const std::string& suffix) const {
        return directory_.path() / (name + suffix);
    }
    void use(const std::string& name) {
        config_.tls.certificate = file(name, ".pem");
        config_.tls.key = file(name, ".key");
    }
    [[nodiscard]] Findings found(std::chrono::seconds later = 0s) const {
        const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
        return check_certificates(config_, now + later);
    }

    mortise::testkit::TempDirectory directory_{"mortise-doctor"};
    Config config_ = three_nodes();
};

TEST_F(DoctorCertificates, AreSoundWhenTheyFit) {
    EXPECT_THAT(found(), ElementsAre(is(Severity::ok, "node 1 of cluster orders"),
                                     is(Severity::ok, "belongs to the certificate")));
}

TEST_F(DoctorCertificates, ExpireAndAreNotValidYet) {
    EXPECT_THAT(found(std::chrono::days{80}), Contains(is(Severity::warning, "expires at")));
    EXPECT_THAT(found(std::chrono::days{100}), Contains(is(Severity::error, "own.pem expired at")));
    EXPECT_THAT(found(-std::chrono::days{1}), Contains(is(Severity::error, "is not valid before")));
    EXPECT_THAT(found(std::chrono::days{5000}), Contains(is(Severity::error, "the authority in")));
}

TEST_F(DoctorCertificates, NameAnotherNodeOrAnotherCluster) {
    issue("two", "ca", 2);
    use("two");
    EXPECT_THAT(found(), Contains(is(Severity::error, "is that of node 2, and this is node 1")));
    issue("foreign", "payments", 1);
    use("foreign");
    EXPECT_THAT(found(), Contains(is(Severity::error, "is for the cluster payments")));
}

TEST_F(DoctorCertificates, OfAClientAreThoseOfAUserOrOfANode) {
    config_.role = Role::client;
    config_.node_id = 0;
    EXPECT_THAT(found(), ElementsAre(is(Severity::ok, "node 1 of cluster orders"), _));
    issue("bob", "ca", 0);
    use("bob");
    EXPECT_THAT(found(), ElementsAre(is(Severity::ok, "user bob of cluster orders"), _));
    issue("foreign", "payments", 0);
    use("foreign");
    EXPECT_THAT(found(), Contains(is(Severity::error, "is for the cluster payments")));
    config_.tls.certificate = file("ca", ".pem");
    const auto wrong = found();
    EXPECT_THAT(wrong, Contains(is(Severity::error, "not of a user")));
    EXPECT_THAT(wrong.front().advice, HasSubstr("mortise cert issue --user NAME --role client"));
}

TEST_F(DoctorCertificates, AreOfAnotherAuthority) {
    issue("stranger", "other", 1);
    use("stranger");
    EXPECT_THAT(found(), Contains(is(Severity::error, "no authority in")));
}

TEST_F(DoctorCertificates, ComeWithTheirOwnKeyThatNobodyElseReads) {
    issue("again", "ca", 1);
    config_.tls.key = file("again", ".key");
    EXPECT_THAT(found(), Contains(is(Severity::error, "is not that of the certificate")));
    use("again");
    std::filesystem::permissions(config_.tls.key, std::filesystem::perms{0644});
    EXPECT_THAT(found(), Contains(is(Severity::error, "can be read by others; run: chmod 600")));
}

TEST_F(DoctorCertificates, AreMissing) {
    use("nothing");
    EXPECT_THAT(found(), ElementsAre(is(Severity::error, "nothing.pem")));
}

// --- several addresses of one name

Endpoint endpoint_at(const asio::ip::tcp::endpoint& at) {
    Endpoint endpoint;
    endpoint.size = static_cast<socklen_t>(at.size());
    std::memcpy(&endpoint.address, at.data(), at.size());
    return endpoint;
}

TEST(DoctorReach, NamesTheAddressThatIsSilentBesideOneThatIsNot) {
    asio::io_context io;
    asio::ip::tcp::acceptor here{io, {asio::ip::make_address("127.0.0.1"), 0}};
    const SilentAddress silent{{asio::ip::make_address("127.0.0.2"), 0}};
    const auto first = endpoint_at(silent.at());
    const auto second = endpoint_at(here.local_endpoint());
    const auto both = reach(Resolved{{first, second}, {}}, 200ms);
    EXPECT_EQ(both.how, Reach::connected);
    EXPECT_THAT(both.silent, ElementsAre("127.0.0.2"));
    const auto found = judge_silent({2, "two.example:7400"}, both.silent);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->severity, Severity::warning);
    EXPECT_THAT(found->text, HasSubstr("does not answer: 127.0.0.2"));
    EXPECT_FALSE(judge_silent({2, "two.example:7400"}, reach({{second}, {}}, 200ms).silent));
    const auto none = reach(Resolved{{first}, {}}, 200ms);
    EXPECT_EQ(none.how, Reach::silent);
    EXPECT_THAT(none.silent, IsEmpty());
}

// A name may have any number of addresses.
TEST(DoctorReach, TriesAThousandAddressesWithFewDescriptorsAndNoThreads) {
    asio::io_context io;
    asio::ip::tcp::acceptor here{io, {asio::ip::make_address("127.0.0.1"), 0}};
    asio::ip::tcp::acceptor closed{io, {asio::ip::make_address("127.0.0.1"), 0}};
    const auto refused = endpoint_at(closed.local_endpoint());
    closed.close();
    std::vector<Endpoint> endpoints(1'000, refused);
    endpoints.push_back(endpoint_at(here.local_endpoint()));
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    auto few = before;
    few.rlim_cur = 128;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    Reached reached;
    {
        const mortise::test::NoThreads none;
        reached = reach({endpoints, {}}, 200ms);
    }
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EQ(reached.how, Reach::connected) << reached.detail;
    EXPECT_THAT(reached.silent, IsEmpty());
}

}  // namespace
}  // namespace mortise::cli
