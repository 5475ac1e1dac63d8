// Client nodes that want as much as they can get: each asks for new names all the time, whatever is
// answered, and releases none. It keeps to the protocol, but not to the window of requests that a
// client of this library has under way.
//
//     greedy_clients COUNT NAMES SECONDS HOST:PORT...
//
// Each asks for that many names every 5 ms. Prints "asking" when all of them have a session, and
// "asked N" in the end.
#include <chrono>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "core/client/client_message.hpp"
#include "core/codec/command_codec.hpp"
#include "embed/runtime/entry_line.hpp"

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;

struct Greed {
    asio::io_context io{1};
    std::size_t count = 0;
    std::uint64_t names = 0;
    std::chrono::seconds time{};
    std::vector<std::string> members;
    std::size_t asking = 0;
    std::uint64_t asked = 0;
};

class Client {
public:
    Client(Greed& greed, std::uint64_t nonce, const std::string& member)
        : greed_{greed}, nonce_{nonce}, timer_{greed.io} {
        EntryLine::Events events{
            [this](const core::Hello&) {
                line_->send(core::Attach{nonce_, core::LogIndex{}});
            },
            [](const std::string& why) { std::printf("closed: %s\n", why.c_str()); },
            [this](const core::ClientNotice& notice) { hear(notice); }};
        line_ = std::make_shared<EntryLine>(greed.io, EntryLine::Target{member, 5s},
                                            transport::Log{}, std::move(events));
        line_->connect();
    }

private:
    void hear(const core::ClientNotice& notice) {
        if (notice.state && notice.state->session.is_set()) begin(notice.state->session);
        if (notice.state && !notice.state->session.is_set()) open();
        for (const auto& [at, outcome] : notice.outcomes) {
            if (const auto* opened = std::get_if<core::SessionOpened>(&outcome))
                begin(opened->session);
        }
        if (notice.gap.is_set()) next_ = notice.gap;
    }

    void open() {
        core::OpenSession opening;
        opening.nonce = nonce_;
        opening.ttl_ms = 10'000;
        opening.rho_ppm = 10'000;
        core::BatchBuilder batch;
        batch.add(opening);
        line_->send(core::Forward{batch.take(), std::nullopt});
    }

    void begin(core::SessionId session) {
        if (session_.is_set()) return;
        session_ = session;
        if (++greed_.asking == greed_.count) {
            std::printf("asking\n");
            std::fflush(stdout);
        }
        ask();
    }

    void ask() {
        core::BatchBuilder batch;
        for (std::uint64_t i = 0; i < greed_.names; ++i, next_ = next_.next()) {
            core::Acquire acquire;
            acquire.names.push_back(
                {"greedy/" + std::to_string(session_.raw()) + "/" + std::to_string(next_.raw())});
            batch.add(core::Request{session_, next_, std::move(acquire)});
        }
        greed_.asked += greed_.names;
        std::optional<core::Renewal> renewal;
        if (++ticks_ % 100 == 0) renewal = core::Renewal{session_, ticks_};
        line_->send(core::Forward{batch.take(), renewal});
        timer_.expires_after(5ms);
        timer_.async_wait([this](std::error_code error) {
            if (!error) ask();
        });
    }

    Greed& greed_;
    std::uint64_t nonce_;
    asio::steady_timer timer_;
    std::shared_ptr<EntryLine> line_;
    core::SessionId session_;
    core::Seq next_{1};
    std::uint64_t ticks_ = 0;
};

int run(const std::vector<std::string>& arguments) {
    if (arguments.size() < 4) return 64;
    Greed greed;
    greed.count = std::stoul(arguments[0]);
    greed.names = std::stoul(arguments[1]);
    greed.time = std::chrono::seconds{std::stoul(arguments[2])};
    greed.members.assign(arguments.begin() + 3, arguments.end());
    std::random_device random;
    std::vector<std::unique_ptr<Client>> clients;
    for (std::size_t i = 0; i < greed.count; ++i) {
        const auto nonce = (std::uint64_t{random()} << 32U) + random();
        clients.push_back(
            std::make_unique<Client>(greed, nonce, greed.members[i % greed.members.size()]));
    }
    greed.io.run_for(greed.time);
    std::printf("asked %llu\n", static_cast<unsigned long long>(greed.asked));
    return 0;
}

}  // namespace
}  // namespace mortise::detail

int main(int count, char** arguments) {
    return mortise::detail::run({arguments + 1, arguments + count});
}
