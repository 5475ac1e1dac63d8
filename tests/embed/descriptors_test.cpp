// Resources that the program around a node exhausts, or has closed: descriptors, threads, space. A
// shortage is temporary, and no file of the library has the numbers to which the program prints.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/embed/one_node.hpp"
#include "tests/support/child.hpp"
#include <mortise/testkit.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;

bool wait_for(const std::function<bool()>& happened) {
    const auto give_up = std::chrono::steady_clock::now() + patience;
    while (!happened()) {
        if (std::chrono::steady_clock::now() > give_up) return false;
        std::this_thread::sleep_for(5ms);
    }
    return true;
}

// While it exists, this process cannot get another descriptor.
class Shortage {
public:
    Shortage() {
        getrlimit(RLIMIT_NOFILE, &before_);
        for (int one = 0; one >= 0; one = ::open("/dev/null", O_RDONLY | O_CLOEXEC))
            if (one > 2) taken_.push_back(one);
    }
    ~Shortage() {
        for (const int one : taken_)
            ::close(one);
        setrlimit(RLIMIT_NOFILE, &before_);
    }
    Shortage(const Shortage&) = delete;
    Shortage& operator=(const Shortage&) = delete;

private:
    rlimit before_{};
    std::vector<int> taken_;
};

class Descriptors : public ::testing::Test {
protected:
    // Enough to start, and soon used up.
    Descriptors() {
        getrlimit(RLIMIT_NOFILE, &before_);
        const rlimit few{512, before_.rlim_max};
        setrlimit(RLIMIT_NOFILE, &few);
    }
    ~Descriptors() override { setrlimit(RLIMIT_NOFILE, &before_); }

    [[nodiscard]] Config config() const {
        auto config = Config::single_node(directory_.path() / "node");
        config.timing.call_timeout = 5s;
        config.timing.session_ttl = 2s;  // countdowns are saved four times a second
        config.timing.election_timeout = 400ms;
        config.timing.heartbeat = 50ms;
        return config;
    }
    static bool is_ready(Node& node) {
        return node.wait_ready(std::chrono::steady_clock::now() + patience);
    }

    mortise::testkit::TempDirectory directory_{"mortise-descriptors"};
    rlimit before_{};
};

TEST_F(Descriptors, AShortageOfThreeSecondsIsNotNoticed) {
    Node node{config()};
    ASSERT_TRUE(is_ready(node));
    const auto hold = node.acquire("kept");
    {
        const Shortage shortage;
        const auto end = std::chrono::steady_clock::now() + 3s;
        while (std::chrono::steady_clock::now() < end) {
            EXPECT_NO_THROW(static_cast<void>(node.acquire("meanwhile")));
            std::this_thread::sleep_for(20ms);
        }
    }
    EXPECT_TRUE(hold.valid());
    EXPECT_TRUE(node.status().ready) << node.status().why_not_ready;
}

// Writes values until a table is full and the store needs files.
void write_much(Node& node, const std::function<bool()>& enough) {
    const std::string value(4'096, 'x');
    std::error_code failed;
    while (!enough()) {
        auto hold = node.acquire("much", {.wait_max = 1s}, failed);
        if (hold) hold.set_value(value, failed);
    }
}

TEST_F(Descriptors, ALongShortageSuspendsTheNodeUntilItIsOver) {
    Node node{config()};
    ASSERT_TRUE(is_ready(node));
    auto hold = node.acquire("kept");
    const auto token = hold.token();
    {
        const Shortage shortage;
        write_much(node, [&] { return !node.status().ready; });
        ASSERT_TRUE(wait_for([&] {
            return node.status().why_not_ready.find("descriptors") != std::string::npos;
        })) << node.status().why_not_ready;
        EXPECT_FALSE(node.status().stopped);
        EXPECT_FALSE(hold.valid());
    }
    ASSERT_TRUE(is_ready(node)) << node.status().why_not_ready;
    EXPECT_GT(node.acquire("kept").token(), token);
}

TEST_F(Descriptors, AGateThatMetAShortageWorksAgainAfterIt) {
    auto gate = FenceGate::open(directory_.path() / "gate");
    const auto token = [](std::int64_t raw) { return FencingToken::from_raw(raw); };
    const std::string padding(4'000, 'x');
    std::int64_t newest = 0;
    std::error_code refused;
    {
        const Shortage shortage;
        while (!refused && newest < 100'000) {
            ++newest;
            try {
                EXPECT_TRUE(gate.check(padding + std::to_string(newest), token(newest)));
            } catch (const std::system_error& error) {
                refused = error.code();
            }
        }
        EXPECT_EQ(refused, DirectoryErrc::shortage);
        EXPECT_THROW(static_cast<void>(gate.check("x", token(5))), std::system_error);
    }
    EXPECT_TRUE(gate.admit("x", token(5), [] {}));
    EXPECT_FALSE(gate.check("x", token(4)));
    const auto before = padding + std::to_string(newest - 1);
    EXPECT_FALSE(gate.check(before, token(newest - 2)));
    EXPECT_TRUE(gate.check(before, token(newest - 1)));
}

TEST_F(Descriptors, AStartWithFarTooFewSaysSo) {
    const rlimit few{12, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    try {
        const Node node{config()};
        ADD_FAILURE() << "it started";
    } catch (const std::system_error& error) {
        EXPECT_EQ(error.code(), DirectoryErrc::shortage);
        const std::string what = error.what();
        EXPECT_NE(what.find("12 descriptors (RLIMIT_NOFILE)"), std::string::npos) << what;
        EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    }
    EXPECT_FALSE(std::filesystem::exists(directory_.path() / "node"));
}

// Lines of a node's log.
class Lines {
public:
    void collect(Config& config) {
        config.log.level = LogLevel::warn;
        config.log.sink = [this](LogLevel, std::string_view line) {
            const std::scoped_lock lock{mutex_};
            lines_.emplace_back(line);
        };
    }
    std::size_t with(const std::string& words) {
        const std::scoped_lock lock{mutex_};
        return static_cast<std::size_t>(std::ranges::count_if(
            lines_, [&](const auto& line) { return line.find(words) != std::string::npos; }));
    }

private:
    std::mutex mutex_;
    std::vector<std::string> lines_;
};

TEST_F(Descriptors, AStartWithFewWarnsOnce) {
    const rlimit few{80, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    Lines lines;
    auto config = this->config();
    lines.collect(config);
    Node node{config};
    EXPECT_TRUE(is_ready(node));
    EXPECT_EQ(lines.with("RLIMIT_NOFILE"), 1U);
}

TEST_F(Descriptors, TheLogIsMeasured) {
    Node node{config()};
    ASSERT_TRUE(is_ready(node));
    const auto before = node.metrics();
    for (int i = 0; i < 5; ++i)
        static_cast<void>(node.acquire("x", {.caching = Caching::off}));
    const auto after = node.metrics();
    EXPECT_GE(after.log_writes, before.log_writes + 5);
    EXPECT_GT(after.log_bytes, before.log_bytes);
    EXPECT_GT(after.slowest_log_write, Duration{});
    node.close();
    EXPECT_GE(node.metrics().log_writes, after.log_writes);
}

// --- in a process of its own -------------------------------------------------------------------

// The exit status of the child; its output is stored in `told`.
int in_child(std::string& told, const std::function<int(int)>& body) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return -1;
    const auto child = tests::begin_child(
        [&] {
            // A number that the test does not close.
            return body(::fcntl(ends[1], F_DUPFD_CLOEXEC, 100));
        },
        60);
    ::close(ends[1]);
    std::array<char, 4096> buffer{};
    for (ssize_t size = 0; (size = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
        told.append(buffer.data(), static_cast<std::size_t>(size));
    ::close(ends[0]);
    return tests::end_of(child);
}

void tell(int out, const std::string& line) {
    if (::write(out, line.data(), line.size()) < 0) _exit(9);
}

// The descriptors below 3 that are not /dev/null.
std::string intruders() {
    std::string found;
    for (int number = 0; number < 3; ++number) {
        std::error_code ec;
        const auto path =
            std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(number), ec);
        if (!ec && path != "/dev/null")
            found += std::to_string(number) + " is " + path.string() + "; ";
    }
    return found;
}

void close_standard_descriptors() {
    for (int number = 0; number < 3; ++number)
        ::close(number);
}

int work(Node& node, int out) {
    const auto ready = node.wait_ready(std::chrono::steady_clock::now() + patience);
    if (!ready) tell(out, "not ready: " + node.status().why_not_ready);
    write_much(node, [rounds = 0]() mutable { return ++rounds > 300; });
    std::printf("something that the host prints\n");
    std::fflush(stdout);
    const auto found = intruders();
    if (!found.empty()) tell(out, found);
    return ready && found.empty() ? 0 : 1;
}

TEST_F(Descriptors, StandardOnesThatWereClosedBeforeAreNotTaken) {
    std::string told;
    const auto config = this->config();
    EXPECT_EQ(in_child(told,
                       [&](int out) {
                           close_standard_descriptors();
                           auto listening = config;
                           listening.listen = "127.0.0.1:0";
                           Node node{listening};
                           const auto result = work(node, out);
                           const auto client = Remote{{node.status().address}, 10s}.status();
                           const auto found = intruders();
                           if (!found.empty()) tell(out, found);
                           return result + (found.empty() ? 0 : 1);
                       }),
              0)
        << told;
    Node again{config};
    EXPECT_TRUE(is_ready(again)) << again.status().why_not_ready;
}

TEST_F(Descriptors, StandardOnesThatAreClosedLaterAreNotTaken) {
    std::string told;
    const auto config = this->config();
    EXPECT_EQ(in_child(told,
                       [&](int out) {
                           auto listening = config;
                           listening.listen = "127.0.0.1:0";
                           Node node{listening};
                           const bool ready =
                               node.wait_ready(std::chrono::steady_clock::now() + patience);
                           const auto address = node.status().address;
                           close_standard_descriptors();
                           // A client connects, and a gate opens its files.
                           const auto reports = Remote{{address}, 10s}.status();
                           auto gate = FenceGate::open(directory_.path() / "gate");
                           return (ready ? 0 : 2) + work(node, out);
                       }),
              0)
        << told;
    Node again{config};
    EXPECT_TRUE(is_ready(again)) << again.status().why_not_ready;
}

// RLIMIT_NPROC does not limit root.
TEST_F(Descriptors, AThreadThatCannotBeHadIsSaidToBeThat) {
    if (::geteuid() != 0) GTEST_SKIP() << "takes another user than root";
    const auto place = directory_.path() / "threads";
    std::filesystem::create_directory(place);
    std::filesystem::permissions(directory_.path(), std::filesystem::perms::all);
    std::filesystem::permissions(place, std::filesystem::perms::all);
    constexpr uid_t nobody = 54'321;  // a user without other processes
    int refused = 0;
    for (rlim_t most = 1; most <= 12; ++most) {
        std::string told;
        const auto config = Config::single_node(place / std::to_string(most));
        const int result = in_child(told, [&](int out) {
            const rlimit few{most, most};
            if (setrlimit(RLIMIT_NPROC, &few) != 0 || ::setuid(nobody) != 0) return 3;
            try {
                Node node{config};
                return node.wait_ready(std::chrono::steady_clock::now() + patience) ? 0 : 4;
            } catch (const std::system_error& error) {
                tell(out, error.what());
                return 1;
            }
        });
        ASSERT_TRUE(result == 0 || result == 1) << result << " at " << most << ": " << told;
        if (result == 0) continue;
        ++refused;
        EXPECT_NE(told.find("cannot start"), std::string::npos) << most << ": " << told;
        EXPECT_NE(told.find("RLIMIT_NPROC is " + std::to_string(most)), std::string::npos) << told;
        EXPECT_EQ(told.find('\n'), std::string::npos) << told;
    }
    EXPECT_GT(refused, 2);
}

// --- the volume ----------------------------------------------------------------------------------

TEST_F(Descriptors, AVolumeThatIsSmallerThanTheLimitsIsWarnedOf) {
    const auto volume = directory_.path() / "volume";
    std::filesystem::create_directory(volume);
    if (unshare(CLONE_NEWNS) != 0 ||
        mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("none", volume.c_str(), "tmpfs", 0, "size=128m") != 0)
        GTEST_SKIP() << "no file system can be mounted here";
    Lines lines;
    auto config = this->config();
    lines.collect(config);
    config.data_dir = volume / "node";
    {
        Node node{config};
        EXPECT_TRUE(is_ready(node));
        EXPECT_EQ(lines.with("limits.log_bytes"), 1U);
        EXPECT_LT(std::filesystem::file_size(config.data_dir / "reserve"), 16U << 20U);
    }
    umount2(volume.c_str(), MNT_DETACH);
}

}  // namespace
}  // namespace mortise
