// How much a client can use of the program that contains the node (P11): its stack, its memory and
// its descriptors. The node runs on a thread with a small stack, and the clients use real sockets.
#include <array>
#include <filesystem>
#include <future>
#include <optional>

#include <asio/post.hpp>
#include <capnp/rpc.capnp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include "tests/support/plain_service.hpp"
#include "tests/unit/transport/network_support.hpp"
#include "tests/unit/transport/raw_frames.hpp"
#include "transport/wire/message_limits.hpp"

namespace mortise::transport {
namespace {

using namespace test;
using testing::HasSubstr;
using testing::Not;

// Answers at once, and lists in pages of half a megabyte; but it keeps calls that wait.
struct Service : test::PlainService {
    Service() {
        page.locks.resize(500);
        for (std::size_t i = 0; i < page.locks.size(); ++i)
            page.locks[i].name = std::to_string(100'000 + i) + std::string(500, 'x');
    }
    MemberStatus status() const override { return {}; }
    void list(ListRequest /*request*/, std::function<void(ListAnswer)> answer) override {
        answer(page);
    }
    void change(core::MembershipGoal /*goal*/, core::Nanoseconds /*patience*/,
                std::function<void(ChangeAnswer)> answer) override {
        waiting.push_back(std::move(answer));
    }
    void break_lock(core::BreakLock /*request*/,
                    std::function<void(ChangeAnswer)> answer) override {
        answer(core::Changed{});
    }

    ListReply page;
    std::vector<std::function<void(ChangeAnswer)>> waiting;
};

// Has a stack on which a recursion of a few thousand levels does not fit.
class SmallThread {
public:
    explicit SmallThread(std::function<void()> work) : work_{std::move(work)} {
        pthread_attr_t attributes{};
        ::pthread_attr_init(&attributes);
        ::pthread_attr_setstacksize(&attributes, std::size_t{256} << 10U);
        const auto run = [](void* self) -> void* {
            static_cast<SmallThread*>(self)->work_();
            return nullptr;
        };
        EXPECT_EQ(::pthread_create(&thread_, &attributes, run, this), 0);
        ::pthread_attr_destroy(&attributes);
    }
    ~SmallThread() { ::pthread_join(thread_, nullptr); }
    SmallThread(const SmallThread&) = delete;
    SmallThread& operator=(const SmallThread&) = delete;

private:
    std::function<void()> work_;
    pthread_t thread_{};
};

// Writes as long as the other side reads, and reads when requested.
class Client {
public:
    enum class Buffers { small, large };

    explicit Client(const std::string& address, Buffers buffers = Buffers::small) {
        socket_.open(asio::ip::tcp::v4());
        // Otherwise the system would buffer some megabytes of answers.
        if (buffers == Buffers::small)
            socket_.set_option(asio::socket_base::receive_buffer_size{4'096});
        socket_.connect(endpoint_of(address));
        socket_.non_blocking(true);
    }
    // False if the other side has closed, or has not read anything for a while.
    bool say(std::string_view bytes, std::chrono::milliseconds patience = 0ms) {
        const auto end = std::chrono::steady_clock::now() + patience;
        while (!bytes.empty()) {
            asio::error_code error;
            bytes.remove_prefix(socket_.write_some(asio::buffer(bytes), error));
            if (!error) continue;
            if (error != asio::error::would_block) return false;
            if (std::chrono::steady_clock::now() >= end) return false;
            std::this_thread::sleep_for(1ms);
        }
        return true;
    }
    // Everything that is received until `done`, or the end, or as long as a test may take.
    std::string hear(const std::function<bool(const std::string&)>& done) {
        std::string heard;
        std::array<char, 65'536> buffer{};
        const auto end = std::chrono::steady_clock::now() + 20s;
        while (!done(heard) && std::chrono::steady_clock::now() < end) {
            asio::error_code error;
            const auto got = socket_.read_some(asio::buffer(buffer), error);
            heard.append(buffer.data(), got);
            if (error == asio::error::would_block) {
                std::this_thread::sleep_for(1ms);
            } else if (error) {
                break;
            }
        }
        return heard;
    }
    void shut_down() { socket_.shutdown(asio::ip::tcp::socket::shutdown_send); }

private:
    asio::io_context io_;
    asio::ip::tcp::socket socket_{io_};
};

class PeerNetworkHostileClient : public testing::Test {
protected:
    ~PeerNetworkHostileClient() noexcept override {
        if (!node_) return;
        asio::post(io_, [this] {
            node_->network->stop();
            io_.stop();
        });
        thread_.reset();
    }

    void start(const std::function<void(NetworkLimits&)>& change = {}) {
        node_ = std::make_unique<Node>(
            io_, 1, addresses_,
            [&](NetworkOptions& options, core::Hello&) {
                options.log = [this](LogLevel level, const std::string& text) {
                    if (level == LogLevel::warning) lines_.push_back(text);
                };
                if (change) change(options.limits);
            },
            &service_);
        ASSERT_TRUE(node_->start());
        thread_.emplace([this] {
            const auto guard = asio::make_work_guard(io_);
            io_.run();
        });
    }
    template <class What>
    auto on_node(What what) {
        std::promise<decltype(what())> promise;
        asio::post(io_, [&] { promise.set_value(what()); });
        return promise.get_future().get();
    }
    NetworkCounters counters() {
        return on_node([&] { return node_->network->counters(); });
    }
    bool wait(const std::function<bool(const NetworkCounters&)>& done) {
        const auto end = std::chrono::steady_clock::now() + 20s;
        while (!done(counters())) {
            if (std::chrono::steady_clock::now() > end) return false;
            std::this_thread::sleep_for(5ms);
        }
        return true;
    }
    // Questions 2, 3, ...: each is finished as soon as it is asked, and no answer is read. Returns
    // when the node does not read any more.
    static void ask_on_and_on(Client& client, const std::function<std::string(unsigned)>& call) {
        for (unsigned question = 2; question < 3'000'000;) {
            std::string batch;
            for (int i = 0; i < 100; ++i, ++question)
                batch += call(question) + finish(question);
            if (!client.say(batch, 300ms)) return;
        }
    }
    void expect_refused(const std::string& bytes, const std::string& cause) {
        const auto before = counters().forbidden_messages;
        Client client{addresses_[0]};
        client.say(bytes);
        EXPECT_TRUE(wait([&](const auto& now) {
            return now.forbidden_messages == before + 1 && now.clients == 0;
        })) << cause;
        const auto said = on_node([&] { return lines_; });
        EXPECT_THAT(said, testing::Contains(HasSubstr(cause)));
        client.hear([](const auto&) { return false; });  // the connection is closed
    }

    std::vector<std::string> addresses_{free_address(), free_address()};
    asio::io_context io_;
    Service service_;
    std::vector<std::string> lines_;
    std::unique_ptr<Node> node_;
    std::optional<SmallThread> thread_;
};

// --- a client that does not read ----------------------------------------------------------------

class PeerNetworkDeafClient : public PeerNetworkHostileClient,
                              public testing::WithParamInterface<unsigned> {};

TEST_P(PeerNetworkDeafClient, IsNotReadAndThenClosed) {
    start([](NetworkLimits& limits) { limits.frame_timeout = 500ms; });
    Client client{addresses_[0]};
    ASSERT_TRUE(client.say(client_hello()));
    ASSERT_TRUE(wait([](const auto& now) { return now.clients == 1; }));
    ask_on_and_on(client, [](unsigned question) { return member_call(question, GetParam()); });
    EXPECT_TRUE(wait([](const auto& now) { return now.clients == 0; }));
    EXPECT_EQ(counters().stuck_frames + counters().forbidden_messages, 1U);
}

INSTANTIATE_TEST_SUITE_P(EveryMethod, PeerNetworkDeafClient, testing::Range(0U, methods));

TEST_F(PeerNetworkHostileClient, ThatGreetsOnAndOnAndDoesNotReadIsClosed) {
    start([](NetworkLimits& limits) { limits.frame_timeout = 500ms; });
    Client client{addresses_[0]};
    ASSERT_TRUE(client.say(client_hello()));
    ASSERT_TRUE(wait([](const auto& now) { return now.clients == 1; }));
    Greeting greeting;
    greeting.purpose = Purpose::client;
    ask_on_and_on(client, [&](unsigned question) { return hello(greeting, question); });
    EXPECT_TRUE(wait([](const auto& now) { return now.clients == 0; }));
}

TEST_F(PeerNetworkHostileClient, MayAskForWhatIsOfferedAFewTimesOnly) {
    start();
    Client client{addresses_[0]};
    ASSERT_TRUE(client.say(client_hello()));
    ASSERT_TRUE(wait([](const auto& now) { return now.clients == 1; }));
    for (unsigned question = 2; question < 300'000; question += 100) {
        std::string batch;
        for (unsigned i = 0; i < 100; ++i)
            batch += bootstrap(question + i);
        if (!client.say(batch, 300ms)) break;
    }
    EXPECT_TRUE(wait([](const auto& now) { return now.clients == 0; }));
    EXPECT_EQ(counters().forbidden_messages, 1U);
}

// A peer is not trusted more than a client: it may be compromised.
TEST_F(PeerNetworkHostileClient, ThatCallsItselfAPeerAndDoesNotReadIsClosed) {
    start([](NetworkLimits& limits) { limits.frame_timeout = 500ms; });
    Client client{addresses_[0]};
    ASSERT_TRUE(client.say(peer_hello(hello_of(2))));
    ask_on_and_on(client, [](unsigned question) { return send_call(question, {}); });
    EXPECT_TRUE(wait([](const auto& now) { return now.stuck_frames == 1; }));
}

// Without reading, nothing informs the node of the end; its socket would stay for ever.
TEST_F(PeerNetworkHostileClient, ThatDiesWhileNobodyReadsItIsSeenToBeGone) {
    start([](NetworkLimits& limits) { limits.frame_timeout = 1h; });
    const auto descriptors = [] {
        return std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, {});
    };
    const auto before = descriptors();
    for (const bool says_so : {true, false}) {
        auto client = std::make_optional<Client>(addresses_[0]);
        std::string said = client_hello();
        for (unsigned question = 2; question < 100; ++question)
            said += member_call(question, list) + finish(question);
        ASSERT_TRUE(client->say(said, 20s));
        ASSERT_TRUE(wait([](const auto& now) { return now.clients == 1; }));
        if (says_so) client->shut_down();
        if (!says_so) client.reset();
        EXPECT_TRUE(wait([](const auto& now) { return now.clients == 0; }));
    }
    EXPECT_TRUE(wait([&](const auto&) { return descriptors() <= before; }));
}

// A client that reads late loses nothing.
TEST_F(PeerNetworkHostileClient, ThatReadsLateIsAnsweredAllTheSame) {
    start();
    Client client{addresses_[0], Client::Buffers::large};
    ASSERT_TRUE(client.say(client_hello()));
    constexpr unsigned calls = 40;
    for (unsigned question = 2; question < 2 + calls; ++question)
        ASSERT_TRUE(client.say(member_call(question, list)));
    const auto pages = calls * 250'000U;
    const auto heard = client.hear([&](const auto& bytes) { return bytes.size() > pages; });
    EXPECT_GT(heard.size(), pages);
    EXPECT_EQ(counters().clients, 1U);
}

// Each of them is within its own limits.
TEST_F(PeerNetworkHostileClient, ManyTogetherHaveNoMoreThanTheyMay) {
    // Reading from a client ends with its first answer, of which some megabyte has to be unread.
    service_.page.locks.resize(2'000, service_.page.locks.back());
    start([](NetworkLimits& limits) { limits.frame_timeout = 1h; });
    std::vector<std::unique_ptr<Client>> clients;
    for (int i = 0; i < 60; ++i) {
        clients.push_back(std::make_unique<Client>(addresses_[0]));
        ASSERT_TRUE(clients.back()->say(client_hello()));
        for (unsigned question = 2; question < 32; ++question)
            clients.back()->say(member_call(question, list) + finish(question));
    }
    EXPECT_TRUE(wait([](const auto& now) { return now.stuck_frames > 0; }));
    EXPECT_GT(counters().clients, 0U);
}

// --- messages that no client sends --------------------------------------------------------------

TEST_F(PeerNetworkHostileClient, IsRefusedWhatWouldBeKept) {
    start();
    expect_refused(client_hello() + member_call(2, list,
                                                [](rpc::Call::Builder call) {
                                                    call.initSendResultsTo().setYourself();
                                                }),
                   "no node asks for");
    expect_refused(client_hello() + member_call(2, list,
                                                [](rpc::Call::Builder call) {
                                                    call.initSendResultsTo().initThirdParty();
                                                }),
                   "no node asks for");
    expect_refused(client_hello() + member_call(2, break_lock,
                                                [](rpc::Call::Builder call) {
                                                    auto table = call.getParams().initCapTable(1);
                                                    table[0].setSenderHosted(1);
                                                }),
                   "capabilities in a call");
}

// Each cause is written to the log once.
TEST_F(PeerNetworkHostileClient, IsRefusedCapabilitiesThatItDoesNotHost) {
    start();
    expect_refused(client_hello() + member_call(2, change,
                                                [](rpc::Call::Builder call) {
                                                    auto table = call.getParams().initCapTable(9);
                                                    for (auto each : table)
                                                        each.setSenderPromise(1);
                                                }),
                   "no node asks for");
}

TEST_F(PeerNetworkHostileClient, HasSoManyQuestionsOpenAndNoMore) {
    start();
    auto said = client_hello();
    for (unsigned question = 2; question < 2 + questions_max; ++question)
        said += member_call(question, status);
    expect_refused(said, "too many questions");
    EXPECT_LE(service_.waiting.size(), questions_max);
}

TEST_F(PeerNetworkHostileClient, DoesNotBuildAChainOfCalls) {
    start();
    const auto on_answer_of = [](unsigned question) {
        return member_call(question + 1, status, [question](rpc::Call::Builder call) {
            call.initTarget().initPromisedAnswer().setQuestionId(question);
        });
    };
    expect_refused(client_hello() + member_call(2, change) + on_answer_of(2), "offers nothing");
    expect_refused(client_hello() + member_call(2, status,
                                                [](rpc::Call::Builder call) {
                                                    auto target =
                                                        call.initTarget().initPromisedAnswer();
                                                    target.setQuestionId(1);
                                                    target.initTransform(9);
                                                }),
                   "that no answer has");
}

TEST_F(PeerNetworkHostileClient, SendsNoOtherMessages) {
    start();
    const auto hello = client_hello();
    expect_refused(hello + finish(7), "question that is not open");
    expect_refused(hello + member_call(1, status), "still open");
    const auto other = "a kind of message";
    expect_refused(hello + frame([](auto m) { m.initResolve().initCap().setSenderHosted(1); }),
                   other);
    expect_refused(hello + frame([](auto m) { m.initDisembargo().initContext(); }), other);
    expect_refused(hello + frame([](auto m) { m.initProvide(); }), other);
    expect_refused(hello + frame([](auto m) { m.initAccept(); }), other);
    expect_refused(hello + frame([](auto m) { m.initJoin(); }), other);
    expect_refused(hello + frame([](auto m) { m.initUnimplemented(); }), other);
    expect_refused(hello + frame([](auto m) { m.initReturn().setAnswerId(0); }),
                   "answer to no question");
}

TEST_F(PeerNetworkHostileClient, AsksNothingBeforeHello) {
    start();
    expect_refused(
        bootstrap(0) + call<wire::Gate>(1, 7,
                                        [](rpc::Call::Builder call) {
                                            call.initTarget().initPromisedAnswer().setQuestionId(0);
                                        }),
        "before hello");
}

// Each hello is refused, and the next one would be answered as well.
TEST_F(PeerNetworkHostileClient, SendsFewFramesBeforeItIsKnown) {
    start();
    Client client{addresses_[0]};
    Greeting unknown;
    unknown.hello = hello_of(9);
    ASSERT_TRUE(client.say(bootstrap(0)));
    for (unsigned question = 1; question < 20; ++question) {
        if (!client.say(hello(unknown, question) + finish(question))) break;
        if (client.hear([](const std::string& bytes) { return !bytes.empty(); }).empty()) break;
    }
    EXPECT_TRUE(wait([](const auto& now) { return now.malformed_frames == 1; }));
}

TEST_F(PeerNetworkHostileClient, IsToldNothingOfTheInside) {
    start();
    Client client{addresses_[0]};
    const auto of_unknown_interface = member_call(
        3, status, [](rpc::Call::Builder call) { call.setInterfaceId(0x1234567890abcdef); });
    ASSERT_TRUE(client.say(client_hello() + member_call(2, 99) + of_unknown_interface));
    const std::string said = "not implemented";
    const auto heard = client.hear([&](const std::string& bytes) {
        return bytes.rfind(said) != bytes.find(said);  // twice
    });
    EXPECT_THAT(heard, HasSubstr(said));
    for (const auto* inside : {"capnp", "interface", "nterface", ".c++", "mortise", "Member"})
        EXPECT_THAT(heard, Not(HasSubstr(inside)));
}

TEST_F(PeerNetworkHostileClient, IsNamedInTheLogOnceForEachCause) {
    start();
    for (int i = 0; i < 5; ++i)
        expect_refused(client_hello() + finish(7), "question that is not open");
    EXPECT_EQ(on_node([&] { return lines_.size(); }), 1U);
}

// --- a server that we dial ----------------------------------------------------------------------

TEST_F(PeerNetworkHostileClient, ThatIsDialledDoesNotAskBack) {
    asio::io_context io;
    asio::ip::tcp::acceptor acceptor{io, endpoint_of(addresses_[1])};
    start();
    for (const auto& said :
         {bootstrap(0), frame([](auto message) { message.initReturn().setAnswerId(99); }),
          frame([](auto message) { message.initResolve(); })}) {
        const auto before = counters().forbidden_messages;
        auto socket = acceptor.accept();
        asio::write(socket, asio::buffer(said));
        EXPECT_TRUE(wait([&](const auto& now) { return now.forbidden_messages > before; }));
    }
}

}  // namespace
}  // namespace mortise::transport
