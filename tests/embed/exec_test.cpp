// Programs that the host starts while a node is running inherit no descriptor of the library, at
// any moment. The system calls that create descriptors are replaced here, so that each one is
// examined.
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/embed/one_node.hpp"
#include <mortise/testkit.hpp>

// ThreadSanitizer needs to intercept these calls itself.
#ifndef __SANITIZE_THREAD__

namespace {

// Calls that made a descriptor which a program started at that moment would inherit.
class Calls {
public:
    void begin() { watching_ = true; }
    std::set<std::string> end() {
        watching_ = false;
        const std::scoped_lock lock{mutex_};
        return std::exchange(inheritable_, {});
    }
    void made(const std::string& call, bool closes_on_exec) {
        if (!watching_) return;
        ++seen_;
        if (closes_on_exec) return;
        const std::scoped_lock lock{mutex_};
        inheritable_.insert(call);
    }
    [[nodiscard]] std::size_t seen() const { return seen_; }

private:
    std::atomic<bool> watching_ = false;
    std::atomic<std::size_t> seen_ = 0;
    std::mutex mutex_;
    std::set<std::string> inheritable_;
};

Calls& calls() {
    static auto* const calls = new Calls;
    return *calls;
}

int opened(int directory, const char* path, int flags, mode_t mode) {
    calls().made(std::string{"open "} + path, (flags & O_CLOEXEC) != 0);
    return static_cast<int>(::syscall(SYS_openat, directory, path, flags, mode));
}

}  // namespace

// NOLINTBEGIN(cert-dcl50-cpp,readability-inconsistent-declaration-parameter-name)
extern "C" {

int open(const char* path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const auto mode = va_arg(rest, mode_t);
    va_end(rest);
    return opened(AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const auto mode = va_arg(rest, mode_t);
    va_end(rest);
    return opened(AT_FDCWD, path, flags, mode);
}
int openat(int directory, const char* path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const auto mode = va_arg(rest, mode_t);
    va_end(rest);
    return opened(directory, path, flags, mode);
}
// Libraries open two files themselves, which everybody may read: RocksDB one for each database,
// OpenSSL one per process.
bool is_of_a_library(const char* path) {
    return std::string_view{path} == "/proc/sys/kernel/random/uuid" ||
           std::string_view{path}.ends_with("/openssl.cnf");
}
FILE* fopen(const char* path, const char* mode) {
    using Function = FILE* (*)(const char*, const char*);
    static const auto next = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "fopen"));
    const bool closes_on_exec = std::strchr(mode, 'e') != nullptr;
    calls().made(std::string{"fopen "} + path, closes_on_exec || is_of_a_library(path));
    return next(path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
    return fopen(path, mode);
}
int socket(int domain, int type, int protocol) noexcept {
    calls().made("socket", (type & SOCK_CLOEXEC) != 0);
    return static_cast<int>(::syscall(SYS_socket, domain, type, protocol));
}
int accept4(int socket, sockaddr* address, socklen_t* size, int flags) {
    calls().made("accept", (flags & SOCK_CLOEXEC) != 0);
    return static_cast<int>(::syscall(SYS_accept4, socket, address, size, flags));
}
int accept(int socket, sockaddr* address, socklen_t* size) {
    return accept4(socket, address, size, 0);
}
int epoll_create1(int flags) noexcept {
    calls().made("epoll_create1", (flags & EPOLL_CLOEXEC) != 0);
    return static_cast<int>(::syscall(SYS_epoll_create1, flags));
}
int eventfd(unsigned int value, int flags) noexcept {
    calls().made("eventfd", (flags & EFD_CLOEXEC) != 0);
    return static_cast<int>(::syscall(SYS_eventfd2, value, flags));
}
int timerfd_create(clockid_t clock, int flags) noexcept {
    calls().made("timerfd_create", (flags & TFD_CLOEXEC) != 0);
    return static_cast<int>(::syscall(SYS_timerfd_create, clock, flags));
}
int dup(int descriptor) noexcept {
    calls().made("dup", false);
    return static_cast<int>(::syscall(SYS_dup, descriptor));
}
int pipe2(int* ends, int flags) noexcept {
    calls().made("pipe", (flags & O_CLOEXEC) != 0);
    return static_cast<int>(::syscall(SYS_pipe2, ends, flags));
}
int pipe(int* ends) noexcept {
    return pipe2(ends, 0);
}

}  // extern "C"
// NOLINTEND(cert-dcl50-cpp,readability-inconsistent-declaration-parameter-name)

namespace mortise {
namespace {

using namespace std::chrono_literals;

constexpr const char* counts = "MORTISE_TEST_COUNTS_DESCRIPTORS";

// This program is also the child: it reports what it inherited besides 0, 1 and 2.
[[maybe_unused]] const bool is_child = [] {
    if (std::getenv(counts) == nullptr) return false;
    constexpr int most = 400;
    for (int number = 3; number < most; ++number)
        if (::fcntl(number, F_GETFD) >= 0) ::_exit(1);
    ::_exit(0);
}();

// True if a child started at this moment inherits nothing.
bool inherits_nothing() {
    std::string variable = std::string{counts} + "=1";
    std::string path = "/proc/self/exe";
    std::array<char*, 2> arguments{path.data(), nullptr};
    std::array<char*, 2> environment{variable.data(), nullptr};
    pid_t child = 0;
    if (::posix_spawn(&child, path.c_str(), nullptr, nullptr, arguments.data(),
                      environment.data()) != 0)
        return false;
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

class Exec : public ::testing::Test {
protected:
    Exec() {
        // The process that started this test may have left descriptors open.
        constexpr int most = 400;
        for (int number = 3; number < most; ++number) {
            const int flags = ::fcntl(number, F_GETFD);
            if (flags >= 0) ::fcntl(number, F_SETFD, flags | FD_CLOEXEC);
        }
    }
    [[nodiscard]] Config config() const {
        auto config = Config::single_node(directory_.path() / "node");
        config.listen = "127.0.0.1:0";
        return config;
    }
    static bool is_ready(Node& node) {
        return node.wait_ready(std::chrono::steady_clock::now() + patience);
    }

    mortise::testkit::TempDirectory directory_{"mortise-exec"};
};

std::string in_one_line(const std::set<std::string>& calls) {
    std::string line;
    for (const auto& call : calls)
        line += call + "; ";
    return line;
}

TEST_F(Exec, EachCallOfANodeThatMakesADescriptorClosesItOnExec) {
    calls().begin();
    {
        Node node{config()};
        ASSERT_TRUE(is_ready(node));
        const auto hold = node.acquire("x");
        EXPECT_FALSE(Remote({node.status().address}, 10s).status().front().error);
        EXPECT_FALSE(Remote({"localhost:1"}, 1s).status().front().problem.empty());
        auto gate = FenceGate::open(directory_.path() / "gate");
        EXPECT_TRUE(gate.check("x", hold.token()));
    }
    const auto seen = calls().seen();
    const auto inheritable = calls().end();
    EXPECT_TRUE(inheritable.empty()) << in_one_line(inheritable);
    EXPECT_GT(seen, 30U);
}

TEST_F(Exec, EachCallOfAClusterThatMakesADescriptorClosesItOnExec) {
    for (const auto wire : {mortise::testkit::Wire::plain, mortise::testkit::Wire::tls}) {
        calls().begin();
        {
            mortise::testkit::LocalCluster cluster{3, mortise::testkit::quick_timing(), wire};
            cluster.isolate(0);
            cluster.heal();
            EXPECT_TRUE(cluster.wait_ready(patience));
        }
        const auto inheritable = calls().end();
        EXPECT_TRUE(inheritable.empty()) << in_one_line(inheritable);
    }
}

// Programs are started continuously while connections open and close.
TEST_F(Exec, NoProgramThatIsStartedMeanwhileInheritsADescriptor) {
    std::atomic<bool> enough = false;
    std::atomic<int> children = 0;
    std::atomic<int> burdened = 0;
    Node node{config()};
    ASSERT_TRUE(is_ready(node));
    const auto address = node.status().address;
    std::thread caller{[&] {
        while (!enough)
            EXPECT_FALSE(Remote({address}, 10s).status().front().error);
    }};
    std::thread starter{[&] {
        while (!enough) {
            if (!inherits_nothing()) ++burdened;
            ++children;
        }
    }};
    std::this_thread::sleep_for(8s);
    enough = true;
    caller.join();
    starter.join();
    EXPECT_EQ(burdened, 0) << "of " << children;
    EXPECT_GT(children, 50);
}

}  // namespace
}  // namespace mortise

#endif
