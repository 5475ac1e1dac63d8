#include "transport/network/network_impl.hpp"

#include <algorithm>
#include <utility>

#include "transport/sockets/clock.hpp"

namespace mortise::transport {

PeerNetwork::Impl::Impl(asio::io_context& io, NetworkOptions options, NetworkEvents& events,
                        ClientService* clients)
    : options_{std::move(options)},
      events_{events},
      clients_{clients},
      credentials_{options_.credentials},
      loop_{io, options_.log, [this] { settle(); }},
      listener_{io, options_.limits, counters_, options_.log},
      ticker_{io},
      handshakes_{options_.limits.handshakes_per_second} {
    for (const auto& peer : options_.peers)
        add_peer(peer);
}

core::Result<void> PeerNetwork::Impl::listen() {
    const bool is_anywhere = credentials_ || options_.listens_beyond_loopback;
    return listener_.open(options_.listen, is_anywhere ? Reach::anywhere : Reach::loopback);
}

void PeerNetwork::Impl::start() {
    listener_.start([self = weak_from_this()](Socket socket, const asio::ip::address& from) {
        if (const auto alive = self.lock()) alive->accept(std::move(socket), from);
    });
    for (const auto& link : links_)
        link->start();
    tick();
}

void PeerNetwork::Impl::stop() {
    if (std::exchange(stopped_, true)) return;
    listener_.stop();
    ticker_.cancel();
    for (const auto& link : links_)
        link->stop();
    loop_.run([this] {
        while (!inbound_.empty())
            close(*inbound_.begin()->second);
    });
}

void PeerNetwork::Impl::log(LogLevel level, std::string text) {
    if (options_.log) options_.log(level, std::move(text));
}

void PeerNetwork::Impl::add_counters(const PeerLink& link, NetworkCounters& to) {
    to.dials += link.counters().attempts;
    to.dial_failures += link.counters().connect_failures + link.counters().timeouts;
    to.links_lost += link.counters().losses;
    to.messages_dropped += link.dropped();
}

NetworkCounters PeerNetwork::Impl::counters() const {
    auto counters = counters_;
    for (const auto& link : links_)
        add_counters(*link, counters);
    for (const auto& [inbound, owned] : inbound_)
        counters.clients += inbound->is_client() ? 1 : 0;
    return counters;
}

void PeerNetwork::Impl::send(core::NodeId to, core::PeerMessage message) {
    const auto lane = lane_of(message);
    for (const auto& link : links_) {
        if (link->peer() != to || link->lane() != lane) continue;
        if (stopped_ || !connections_.is_up(to)) break;
        return link->push(std::move(message));
    }
    ++counters_.messages_unsent;
}

// Within KJ it is left to settle(), so the messages of all steps in one turn travel together.
void PeerNetwork::Impl::flush() {
    if (stopped_) return;
    flush_is_due_ = true;
    if (!loop_.is_running()) loop_.run([this] { flush_links(); });
}

void PeerNetwork::Impl::flush_links() {
    if (!std::exchange(flush_is_due_, false) || stopped_) return;
    for (const auto& link : links_)
        link->flush();
}

// Answers wait for two ticks at most, and a peer with a shorter election timeout than ours takes
// this node for silent after two of its own.
core::Nanoseconds PeerNetwork::Impl::tick_every() const {
    auto shortest = options_.election_timeout;
    for (const auto& link : links_)
        shortest = std::min(shortest, link->timeout_of_peer().value_or(shortest));
    return std::clamp<core::Nanoseconds>(shortest / 4, std::chrono::milliseconds{5},
                                         std::chrono::milliseconds{250});
}

void PeerNetwork::Impl::tick() {
    if (stopped_) return;
    const auto now = steady_now();
    for (const auto& link : links_)
        link->tick(now);
    tick_inbound(now);
    begin_handshakes();
    tick_later();
}

// Only brings the next tick forward: connections that come and go must not put it off.
void PeerNetwork::Impl::tick_sooner() {
    if (asio::steady_timer::clock_type::now() + tick_every() < ticker_.expiry()) tick_later();
}

void PeerNetwork::Impl::tick_later() {
    if (stopped_) return;
    ticker_.expires_after(tick_every());
    ticker_.async_wait([self = weak_from_this()](const asio::error_code& error) {
        const auto alive = self.lock();
        if (!error && alive) alive->tick();
    });
}

void PeerNetwork::Impl::tick_inbound(core::Instant now) {
    std::vector<std::shared_ptr<InboundConnection>> late;
    sends_answers_ = !sends_answers_;  // they only show that this node lives
    for (const auto& [inbound, owned] : inbound_) {
        if (sends_answers_) inbound->send_gathered();
        // The peer should have come up soon.
        const auto early = inbound->early_since();
        if (early && now - *early > options_.limits.hello_timeout)
            counters_.messages_dropped += inbound->take_early().size();
        const bool silent =
            inbound->is_stranger() && now - inbound->since() > options_.limits.hello_timeout;
        const bool stuck = inbound->is_stuck(now, options_.limits.frame_timeout);
        const bool gone = inbound->is_gone();
        if (silent) ++counters_.strangers_timed_out;
        if (stuck && !silent && !gone) ++counters_.stuck_frames;
        if (silent || stuck || gone) late.push_back(owned);
    }
    loop_.run([&] {
        for (const auto& inbound : late)
            left(*inbound);
        make_room();
    });
}

// Called repeatedly, because destroying a connection may end others.
void PeerNetwork::Impl::settle() {
    if (std::exchange(settling_, true)) return;
    const auto alive = weak_from_this().lock();
    while (flush_is_due_ || !dead_connections_.empty() || !dead_inbound_.empty()) {
        loop_.run([this] {
            flush_links();
            std::exchange(dead_connections_, {}).clear();
            std::exchange(dead_inbound_, {}).clear();
        });
    }
    settling_ = false;
}

}  // namespace mortise::transport
