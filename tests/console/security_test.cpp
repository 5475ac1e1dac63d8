// Whom the console answers, and what nobody can do to it.
#include <csignal>
#include <filesystem>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/console/console_fixture.hpp"
#include "tests/support/child.hpp"

namespace mortise::tests {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class ConsoleSecurity : public OneConsole {
protected:
    [[nodiscard]] int status_for(const std::string& lines,
                                 std::string_view line = "GET /api/v1/status") const {
        return ask_as(port_, line, lines + "Connection: close\r\n").status;
    }
    [[nodiscard]] std::string own_host() const {
        return "Host: 127.0.0.1:" + std::to_string(port_) + "\r\n";
    }
    // On a busy machine all connections may be at work for a moment: then it asks to try again.
    void expect_it_answers() const {
        const auto begin = Clock::now();
        auto status = get("/api/v1/status").status;
        while (status == 503 && Clock::now() - begin < 2s)
            status = get("/api/v1/status").status;
        EXPECT_EQ(status, 200);
        EXPECT_LT(Clock::now() - begin, 2s);
    }
};

// --- other web sites ----------------------------------------------------------------------------

// DNS rebinding: a name of somebody else that leads to this address.
TEST_F(ConsoleSecurity, OnlyItsOwnNamesAreAnswered) {
    for (const auto* const host :
         {"127.0.0.1", "localhost", "localhost:80", "LocalHost:9", "[::1]:1"})
        EXPECT_EQ(status_for("Host: " + std::string{host} + "\r\n"), 200) << host;
    for (const auto* const host :
         {"evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80",
          "evil.example:7480", "localhost.", "10.0.0.1", "127.0.0.1@evil.example", "[::2]"})
        EXPECT_EQ(status_for("Host: " + std::string{host} + "\r\n"), 403) << host;
    EXPECT_EQ(status_for(""), 400);
    EXPECT_EQ(status_for("Host: \r\n"), 400);
    EXPECT_EQ(status_for("Host: localhost\r\nHost: evil.example\r\n"), 400);
    EXPECT_EQ(status_for("Host: evil.example\r\n", "GET /"), 403);  // nor the page itself
    EXPECT_EQ(status_for("Host: evil.example\r\n", "GET http://localhost/api/v1/status"), 403);
}

TEST_F(ConsoleSecurity, ConfiguredNamesAreAnsweredAsWell) {
    auto options = any_port();
    options.hosts = {"Console.example", "proxy.example:8080", "fd00::7", "[fd00::8]:80"};
    const Console console{node_, options};
    const auto status = [&](const char* host) {
        return ask_as(port_of(console), "GET /api/v1/status",
                      "Host: " + std::string{host} + "\r\nConnection: close\r\n")
            .status;
    };
    EXPECT_EQ(status("console.example:8080"), 200);
    for (const auto* const host :
         {"proxy.example:8080", "proxy.example", "PROXY.example:1", "[fd00::7]", "[fd00::8]:9"})
        EXPECT_EQ(status(host), 200) << host;
    for (const auto* const host : {"other.example", ":8080", "[]", "8080"})
        EXPECT_EQ(status(host), 403) << host;
}

TEST_F(ConsoleSecurity, WhatIsNoNameIsNotTakenForOne) {
    for (const auto* const name :
         {"", ":80", "http://console.example", "console.example/",
          "console.example:", "console.example:http", "a b", "[fd00::8", "fd00::8]", "*"}) {
        auto options = any_port();
        options.hosts = {name};
        try {
            const Console console{node_, options};
            ADD_FAILURE() << name;
        } catch (const std::system_error& error) {
            EXPECT_EQ(error.code(), Errc::invalid_argument) << name;
        }
    }
}

TEST_F(ConsoleSecurity, EveryRefusalSaysWhyInJson) {
    const auto own = own_host() + "Connection: close\r\n";
    for (const auto* const line :
         {"BREW /api/v1/locks", "get /", "PUT /", "GET /nothing", "POST /"}) {
        const auto reply = ask_as(port_, line, own);
        EXPECT_GE(reply.status, 400) << line;
        ASSERT_FALSE(reply.body.empty()) << line << reply.head;
        EXPECT_FALSE(reply.json()["error"].get<std::string>().empty()) << line;
        EXPECT_FALSE(reply.json()["reason"].get<std::string>().empty()) << line;
    }
    EXPECT_EQ(ask_as(port_, "GET /", "Connection: close\r\n").json()["error"], "bad_host");
}

TEST_F(ConsoleSecurity, RequestsOfOtherSitesAreRefused) {
    const auto own = own_host();
    const auto origin = "Origin: http://127.0.0.1:" + std::to_string(port_) + "\r\n";
    EXPECT_EQ(status_for(own + origin), 200);
    EXPECT_EQ(status_for(own + "Origin: http://evil.example\r\n"), 403);
    EXPECT_EQ(status_for(own + "Origin: null\r\n"), 403);
    EXPECT_EQ(status_for(own + "Origin: http://127.0.0.1:1\r\n"),
              403);  // another port, another site
    EXPECT_EQ(status_for(own + origin + "Origin: http://evil.example\r\n"), 403);
    EXPECT_EQ(status_for(own + "Sec-Fetch-Site: same-origin\r\n"), 200);
    EXPECT_EQ(status_for(own + "Sec-Fetch-Site: cross-site\r\n"), 403);
    EXPECT_EQ(status_for(own + "Sec-Fetch-Site: same-site\r\n"), 403);
    const std::string visit = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n";
    EXPECT_EQ(status_for(own + visit, "GET /"), 200);  // a link
    EXPECT_EQ(status_for(own + visit), 403);
}

TEST_F(ConsoleSecurity, ABreakCannotBeForgedByAnotherSite) {
    const auto hold = node_.acquire("stuck");
    const auto body = break_of("stuck", hold.token()).dump();
    const auto forged = [&](const std::string& lines) {
        return ask(port_, "POST", "/api/v1/break", lines, body).status;
    };
    const std::string type = "Content-Type: application/json\r\n";
    const std::string header = "Mortise-Console: break\r\n";
    EXPECT_EQ(forged(type), 403);
    EXPECT_EQ(forged(header + "Content-Type: text/plain\r\n"), 415);
    EXPECT_EQ(forged(header), 415);
    EXPECT_EQ(forged(type + header + "Origin: http://evil.example\r\n"), 403);
    EXPECT_EQ(forged(type + header + "Sec-Fetch-Site: cross-site\r\n"), 403);
    EXPECT_TRUE(hold.valid());
    // To the question whether another site may send such a request there is no yes.
    const auto preflight = ask(port_, "OPTIONS", "/api/v1/break",
                               "Origin: http://evil.example\r\n"
                               "Access-Control-Request-Method: POST\r\n");
    EXPECT_EQ(preflight.status, 405);
    EXPECT_EQ(preflight.head.find("Access-Control-Allow"), std::string::npos);
}

TEST_F(ConsoleSecurity, OnlyABreakChangesSomething) {
    const std::string header = "Mortise-Console: break\r\n";
    for (const auto* const method : {"PUT", "DELETE", "PATCH", "TRACE", "OPTIONS", "CONNECT"})
        EXPECT_EQ(ask(port_, method, "/api/v1/locks", header).status, 405) << method;
    EXPECT_EQ(ask(port_, "POST", "/api/v1/locks", header).status, 405);
    EXPECT_EQ(get("/api/v1/break").status, 404);
    EXPECT_EQ(get("/etc/passwd").status, 404);
    EXPECT_EQ(get("/../../etc/passwd").status, 404);
}

TEST_F(ConsoleSecurity, ThePageLoadsNothingFromElsewhere) {
    const auto page = get("/");
    EXPECT_EQ(page.status, 200);
    EXPECT_NE(page.head.find("Content-Security-Policy: default-src 'none'"), std::string::npos);
    EXPECT_NE(page.head.find("X-Content-Type-Options: nosniff"), std::string::npos);
    EXPECT_NE(page.head.find("X-Frame-Options: DENY"), std::string::npos);
    const std::regex reference{R"re((?:src|href)="(/[^"#]+)"|from\s+"\./([^"]+)")re"};
    std::vector<std::string> left{"/"};
    std::set<std::string> seen;
    while (!left.empty()) {
        const auto path = left.back();
        left.pop_back();
        if (!seen.insert(path).second) continue;
        const auto reply = get(path);
        EXPECT_EQ(reply.status, 200) << path;
        const auto text = std::regex_replace(reply.body, std::regex{R"(http://www\.w3\.org/)"}, "");
        EXPECT_EQ(text.find("://"), std::string::npos) << path;
        EXPECT_EQ(text.find("\"//"), std::string::npos) << path;
        for (std::sregex_iterator found{text.begin(), text.end(), reference}, end; found != end;
             ++found)
            left.push_back((*found)[1].matched ? (*found)[1].str() : "/" + (*found)[2].str());
    }
    EXPECT_GE(seen.size(), 12U);  // all files of the page were looked at
}

// --- too much, and too slow ---------------------------------------------------------------------

TEST_F(ConsoleSecurity, LargeRequestsAreRefused) {
    const auto own = own_host();
    EXPECT_EQ(status_for(own + "X: " + std::string(9'000, 'x') + "\r\n"), 431);
    EXPECT_EQ(status_for(own, "GET /" + std::string(9'000, 'x')), 431);
    std::string many;
    for (int i = 0; i < 2'000; ++i)
        many += "X" + std::to_string(i) + ": y\r\n";
    EXPECT_EQ(status_for(own + many), 431);
    const auto announced = [&](const char* length) {
        return ask(port_, "POST", "/api/v1/break",
                   "Content-Type: application/json\r\nMortise-Console: break\r\nContent-Length: " +
                       std::string{length} + "\r\n")
            .status;
    };
    EXPECT_EQ(announced("100000000"), 413);
    EXPECT_EQ(announced("99999999999999999999999"), 413);
    EXPECT_EQ(announced("-1"), 413);
    EXPECT_EQ(ask(port_, "POST", "/api/v1/break",
                  "Content-Type: application/json\r\nMortise-Console: break\r\n"
                  "Transfer-Encoding: chunked\r\n")
                  .status,
              411);
    EXPECT_EQ(status_for(own + "Content-Length: 5\r\n"), 400);
    expect_it_answers();
}

TEST_F(ConsoleSecurity, RangesDoNotMultiplyAnAnswer) {
    const auto plain = get("/app.js").body.size();
    std::string ranges = "Range: bytes=0-";
    for (int i = 0; i < 1'000; ++i)
        ranges += ",0-";
    const auto reply = get("/app.js", ranges + "\r\n");
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body.size(), plain);
    for (const auto* const path : {"/", "/app.js", "/api/v1/status", "/metrics"})
        EXPECT_EQ(ask(port_, "HEAD", path).head.find("Accept-Ranges"), std::string::npos) << path;
    expect_it_answers();
}

TEST_F(ConsoleSecurity, NonsenseIsAnsweredOrDropped) {
    using namespace std::string_literals;
    for (const auto& bytes :
         {"\r\n\r\n"s, "GET\r\n\r\n"s, "GET / HTTP/9.9\r\n\r\n"s, "\0\0\0\0\r\n\r\n"s,
          "GET /%zz%u12 HTTP/1.1\r\nHost: localhost\r\n\r\n"s, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"s,
          "\x16\x03\x01\x02\x00\x01\r\n\r\n"s, "GET / HTTP/1.1\nHost: localhost\n\n\r\n\r\n"s,
          "GET /?" + std::string(4'000, '&') + " HTTP/1.1\r\nHost: localhost\r\n\r\n"}) {
        RawClient client{port_};
        client.send(bytes);
        (void)client.read_until("\r\n\r\n", 2s);
    }
    expect_it_answers();
}

// What a proxy before the console may read in another way than the console.
TEST_F(ConsoleSecurity, AmbiguousHeadsAreRefused) {
    using namespace std::string_literals;
    const auto own = own_host();
    EXPECT_EQ(status_for(own + "X: y\r\nY:\r\n"), 200);
    for (const auto& lines :
         {"X: y\n"s, "X : y\r\n"s, "X: y\r\n z: a\r\n"s, "X: y\r\n\tz\r\n"s, "X\r\n"s, ": y\r\n"s,
          "X: a\rHost: b\r\n"s, "X: a\0b\r\n"s, "Content-Length: 0\r\nContent-Length: 5\r\n"s,
          "Transfer-Encoding: chunked\r\n"s, "transfer-encoding: identity\r\n"s})
        EXPECT_EQ(status_for(own + lines), 400) << lines;
}

// Fewer bytes than a request, for ever.
TEST_F(ConsoleSecurity, SlowClientsDoNotExhaustIt) {
    std::vector<std::unique_ptr<RawClient>> clients;
    for (int i = 0; i < 200; ++i) {
        clients.push_back(std::make_unique<RawClient>(port_));
        clients.back()->send("GET /api/v1/sta");
    }
    expect_it_answers();
    for (int i = 0; i < 100; ++i) {  // complete requests, whose answers nobody reads
        clients.push_back(std::make_unique<RawClient>(port_));
        for (int request = 0; request < 100; ++request)
            clients.back()->send("GET /app.js HTTP/1.1\r\nHost: localhost\r\n\r\n");
    }
    expect_it_answers();
}

TEST_F(ConsoleSecurity, ARequestThatComesTooSlowlyEnds) {
    RawClient client{port_};
    const auto begin = Clock::now();
    client.send("GET ");
    // What comes after the answer makes the system forget the answer, so nothing is sent then.
    while (Clock::now() - begin < 6s && client.read_until("\n", 150ms).empty())
        client.send("x");
    EXPECT_EQ(reply_of(client.read_all()).status, 408);
    EXPECT_LT(Clock::now() - begin, 9s);
}

TEST_F(ConsoleSecurity, AConnectionServesSeveralRequests) {
    RawClient client{port_};
    const std::string request = "GET /favicon.svg HTTP/1.1\r\nHost: localhost\r\n\r\n";
    client.send(request + request);  // both at once
    client.send("GET /favicon.svg HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    const auto all = client.read_all();
    std::size_t answers = 0;
    for (auto at = all.find("HTTP/1.1 200"); at != std::string::npos;
         at = all.find("HTTP/1.1 200", at + 1))
        ++answers;
    EXPECT_EQ(answers, 3U);
}

// By default a stack is as large as the limit of the process, and 2 MiB where that is `unlimited`.
// ThreadSanitizer has data of its own there, and cannot start a thread with much less.
#ifdef __SANITIZE_THREAD__
constexpr std::size_t small_stack = 2U << 20U;
#else
constexpr std::size_t small_stack = 256U << 10U;
#endif

// Threads that are started while it lives have a small stack.
class SmallStacks {
public:
    SmallStacks() {
        ::pthread_attr_init(&before_);
        ::pthread_getattr_default_np(&before_);
        pthread_attr_t small{};
        ::pthread_attr_init(&small);
        ::pthread_attr_setstacksize(&small, small_stack);
        EXPECT_EQ(::pthread_setattr_default_np(&small), 0);
        ::pthread_attr_destroy(&small);
    }
    ~SmallStacks() {
        ::pthread_setattr_default_np(&before_);
        ::pthread_attr_destroy(&before_);
    }
    SmallStacks(const SmallStacks&) = delete;
    SmallStacks& operator=(const SmallStacks&) = delete;

private:
    pthread_attr_t before_{};
};

std::string repeated(std::string_view text, std::size_t bytes) {
    std::string all;
    while (all.size() + text.size() <= bytes)
        all += text;
    return all;
}

// What recurses once for each byte of a request would end the process here.
TEST_F(ConsoleSecurity, NoRequestNeedsALargeStack) {
    const SmallStacks small;
    constexpr std::size_t most = 7'900;
    const auto own = own_host();
    const auto expect_an_answer = [&](const std::string& lines,
                                      const std::string& line = "GET /api/v1/status") {
        EXPECT_NE(status_for(own + lines, line), 0) << line.substr(0, 50) << lines.substr(0, 50);
    };
    const auto range = ": bytes=1-" + repeated("1", most) + "\r\n";
    for (const std::string name : {"Range", "rANGE", "Accept", "Accept-Encoding", "Content-Type",
                                   "Connection", "Cookie", "Origin", "Last-Event-ID", "Expect"}) {
        for (const auto& value :
             {"bytes=" + repeated("0-,", most), repeated("a/b;q=1,", most), repeated("%41", most)})
            expect_an_answer(name + ": " + value + "\r\n");
        expect_an_answer(name + range);
        expect_an_answer(name + " " + range);
        expect_an_answer("X: y\r\n " + name + range);
        expect_an_answer("X: y\n" + name + range);
    }
    expect_an_answer("Content-Length: " + repeated("1", most) + "\r\n");
    expect_an_answer("Transfer-Encoding: " + repeated("chunked,", most) + "\r\n");
    for (const auto& target : {repeated("/", most), repeated("%41", most), repeated("?", most),
                               "?" + repeated("a=b&", most), "?" + repeated("=", most)})
        expect_an_answer("", "GET /" + target);
    expect_an_answer("", repeated("GET ", most));
    EXPECT_EQ(ask(port_, "POST", "/api/v1/break",
                  "Content-Type: application/json; boundary=" + repeated("x", 7'000) +
                      "\r\nMortise-Console: break\r\n",
                  repeated("[", 8'000))
                  .status,
              400);
    expect_it_answers();
}

// --- the host -----------------------------------------------------------------------------------

TEST_F(ConsoleSecurity, ClosingDoesNotWaitForClients) {
    RawClient silent{port_};
    RawClient begun{port_};
    begun.send("GET /");
    RawClient streaming{port_};
    streaming.send("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    streaming.read_until("event: begin");
    const auto begin = Clock::now();
    console_.close();
    EXPECT_LT(Clock::now() - begin, 1s);
    EXPECT_TRUE(silent.is_closed_within(1s));
    EXPECT_TRUE(streaming.is_closed_within(1s));
    EXPECT_THROW(RawClient{port_}, std::runtime_error);
    console_.close();
}

TEST_F(ConsoleSecurity, WhatTheHostDoesWithSigpipeStays) {
    struct sigaction before {};
    struct sigaction after {};
    std::signal(SIGPIPE, SIG_DFL);
    ::sigaction(SIGPIPE, nullptr, &before);
    {
        const Console console{node_, any_port()};
        RawClient client{port_of(console)};
        client.send("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
        client.read_until("event: begin");
    }
    ::sigaction(SIGPIPE, nullptr, &after);
    EXPECT_EQ(after.sa_handler, before.sa_handler);
}

TEST_F(ConsoleSecurity, ItsDescriptorsAreNotInherited) {
    RawClient client{port_};
    client.send("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    client.read_until("event: begin");
    for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/fd"}) {
        std::error_code ec;
        const auto target = std::filesystem::read_symlink(entry.path(), ec).string();
        if (!target.starts_with("socket:")) continue;
        const int number = std::stoi(entry.path().filename());
        const int flags = ::fcntl(number, F_GETFD);
        sockaddr_in name{};
        socklen_t size = sizeof name;
        const bool is_named = ::getsockname(number, reinterpret_cast<sockaddr*>(&name), &size) == 0;
        if (flags < 0 || !is_named || ntohs(name.sin_port) != port_) continue;
        EXPECT_NE(flags & FD_CLOEXEC, 0) << entry.path();
    }
}

TEST_F(ConsoleSecurity, AChildOfAForkLeavesItAlone) {
    EXPECT_EQ(exit_of_child([&] {
                  console_.close();
                  { const Console moved{std::move(console_)}; }
                  return 0;
              }),
              0);
    expect_it_answers();
}

// --- where it listens ---------------------------------------------------------------------------

TEST_F(ConsoleSecurity, OtherMachinesReachItOnlyIfThatIsSaid) {
    ConsoleOptions options{.listen = "0.0.0.0:0"};
    std::vector<std::string> lines;
    options.log.sink = [&](LogLevel, std::string_view line) { lines.emplace_back(line); };
    try {
        const Console console{node_, options};
        ADD_FAILURE() << "it listens on " << console.address();
    } catch (const std::system_error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_argument);
        EXPECT_NE(std::string{error.what()}.find("--console-remote"), std::string::npos);
    }
    EXPECT_TRUE(lines.empty());
    options.allow_remote = true;
    const Console console{node_, options};
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_NE(lines[0].find("0.0.0.0"), std::string::npos);
    const auto told = ask(port_of(console), "GET", "/api/v1/status").json();
    EXPECT_EQ(told["console"]["may_break"], false);
    EXPECT_EQ(ask_as(port_of(console), "GET /", "Host: 192.0.2.7\r\nConnection: close\r\n").status,
              200);
    EXPECT_EQ(
        ask_as(port_of(console), "GET /", "Host: evil.example\r\nConnection: close\r\n").status,
        403);
}

TEST_F(ConsoleSecurity, AddressesAreChecked) {
    for (const auto* const address :
         {"", "7480", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "::1:7480",
          "example.com:7480", "[127.0.0.1]:80", "127.0.0.1:-1", "[::1]7480"}) {
        try {
            const Console console{node_, {.listen = address}};
            ADD_FAILURE() << address;
        } catch (const std::system_error& error) {
            EXPECT_EQ(error.code(), Errc::invalid_argument) << address;
        }
    }
    try {
        const Console second{node_, {.listen = console_.address()}};
        ADD_FAILURE() << "two consoles have one port";
    } catch (const std::system_error& error) {
        EXPECT_EQ(error.code(), std::errc::address_in_use);
        EXPECT_NE(std::string{error.what()}.find(console_.address()), std::string::npos);
    }
    const Console by_name{node_, {.listen = "localhost:0"}};
    EXPECT_TRUE(by_name.url().starts_with("http://127.0.0.1:"));
}

}  // namespace
}  // namespace mortise::tests
