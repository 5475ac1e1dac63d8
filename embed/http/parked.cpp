#include "embed/http/parked.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <new>
#include <system_error>
#include <unordered_map>
#include <utility>

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "embed/http/own_thread.hpp"

namespace mortise::http {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto glance = 250ms;
// Bytes that wait so long to be sent end the connection.
constexpr auto stuck_time = 10s;
// The last bytes were sent: the other side may take them, before the connection ends.
constexpr auto farewell_time = 1s;
// A client of which nothing is heard while it waits is asked by its system whether it is there.
constexpr int ask_after_seconds = 5;
constexpr int ask_times = 2;

Descriptor made(int number, const char* what) {
    Descriptor descriptor{number};
    if (!descriptor) throw std::system_error{errno, std::system_category(), what};
    return descriptor;
}

void keep_alive(int socket) {
    const auto set = [&](int level, int option, int value) {
        ::setsockopt(socket, level, option, &value, sizeof value);
    };
    set(SOL_SOCKET, SO_KEEPALIVE, 1);
    set(IPPROTO_TCP, TCP_KEEPIDLE, ask_after_seconds);
    set(IPPROTO_TCP, TCP_KEEPINTVL, ask_after_seconds);
    set(IPPROTO_TCP, TCP_KEEPCNT, ask_times);
}

// Without an answer of the other side nothing is known of it.
Parked::Gone gone_by(int error) {
    const bool is_silent = error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH ||
                           error == ENETDOWN || error == EHOSTDOWN;
    return is_silent ? Parked::Gone::silent : Parked::Gone::closed;
}

int error_of(int socket) {
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
    return error;
}

}  // namespace

Waker::Waker() : event_{made(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "http: eventfd")} {}

void Waker::wake(std::uint64_t number) noexcept {
    const std::lock_guard lock{mutex_};
    try {
        if (number != 0) numbers_.push_back(number);
    } catch (...) {  // no memory: the next glance finds it
    }
    if (std::exchange(is_woken_, true)) return;
    const std::uint64_t one = 1;
    while (::write(event_.number(), &one, sizeof one) < 0 && errno == EINTR) {
    }
}

std::vector<std::uint64_t> Waker::take() noexcept {
    const std::lock_guard lock{mutex_};
    std::uint64_t woken = 0;
    (void)!::read(event_.number(), &woken, sizeof woken);
    is_woken_ = false;
    return std::exchange(numbers_, {});
}

struct ParkedLoop::Place {
    std::shared_ptr<Parked> parked;
    std::unique_ptr<Wire> wire;
    std::string text{};         // to be sent
    Clock::time_point since{};  // it waits; or since when it lingers
    bool is_last = false;       // nothing is added to the text
    bool lingers = false;
    std::uint32_t events = 0;  // that are asked for
};

// Used on the loop's thread. Their keys are the numbers of what is parked.
class ParkedLoop::Places {
public:
    explicit Places(const Descriptor& epoll) : epoll_{epoll.number()} {}

    // Throws without memory, and then leaves the place where it was. go_on() is to be called next.
    std::uint64_t add(std::unique_ptr<Place>& place) {
        const auto key = place->parked->number();
        auto& added = *(places_[key] = std::move(place));
        keep_alive(added.wire->number());
        if (ask_for(added, EPOLLRDHUP, EPOLL_CTL_ADD)) return key;
        added.parked->gone(Parked::Gone::closed);  // nobody would say when it goes
        remove(places_.find(key));
        return key;
    }
    void heard(std::uint64_t key, std::uint32_t events) {
        const auto found = places_.find(key);
        if (found == places_.end()) return;
        auto& place = *found->second;
        if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) == 0) return go_on(key);
        const auto how = gone_by(error_of(place.wire->number()));
        if (!place.lingers && !is_done(place, how)) place.parked->gone(how);
        remove(found);
    }
    // Says what there is to say, and sends what it can.
    void go_on(std::uint64_t key) {
        const auto found = places_.find(key);
        if (found != places_.end() && !is_served(*found->second)) remove(found);
    }
    void go_on_with_all() {
        for (auto each = places_.begin(); each != places_.end();)
            each = is_served(*each->second) ? std::next(each) : remove(each);
    }
    void end() noexcept {
        for (auto each = places_.begin(); each != places_.end(); each = remove(each)) {
            if (!each->second->lingers) each->second->parked->gone(Parked::Gone::closed);
        }
    }
    [[nodiscard]] std::size_t size() const { return places_.size(); }

private:
    using Map = std::unordered_map<std::uint64_t, std::unique_ptr<Place>>;

    // A child of a fork may have a copy of the descriptor: it would keep the connection open, and
    // epoll would go on to report it.
    Map::iterator remove(Map::iterator found) noexcept {
        const auto& wire = *found->second->wire;
        ::epoll_ctl(epoll_, EPOLL_CTL_DEL, wire.number(), nullptr);
        wire.shut_down();
        return places_.erase(found);
    }
    bool ask_for(Place& place, std::uint32_t events, int how) const {
        if (place.events == events) return true;
        epoll_event event{};
        event.events = place.events = events;
        event.data.u64 = place.parked->number();
        return ::epoll_ctl(epoll_, how, place.wire->number(), &event) == 0;
    }
    // False if the place is to be removed. Without memory the next glance tries again.
    bool is_served(Place& place) noexcept {
        try {
            return speaks(place);
        } catch (...) {
            return true;
        }
    }
    static bool has_received_all(const Place& place) {
        int unsent = 0;
        const bool knows = ::ioctl(place.wire->number(), SIOCOUTQ, &unsent) == 0;
        return place.text.empty() && (!knows || unsent == 0);
    }
    // Who closes may have received before that all that there was to say.
    static bool is_done(Place& place, Parked::Gone how) {
        if (how == Parked::Gone::closed && !place.is_last && has_received_all(place))
            place.is_last = !place.parked->say(place.text, true);
        return place.is_last && place.text.empty();
    }
    bool speaks(Place& place) {
        const auto now = Clock::now();
        if (place.lingers) return now - place.since < farewell_time;
        if (!place.is_last) {
            const bool was_empty = place.text.empty();
            place.is_last = !place.parked->say(place.text, has_received_all(place));
            if (was_empty) place.since = now;
        }
        return is_sent(place, now);
    }
    bool is_sent(Place& place, Clock::time_point now) {
        while (!place.text.empty()) {
            const auto sent = place.wire->send(place.text.data(), place.text.size());
            if (sent > 0) {
                place.text.erase(0, static_cast<std::size_t>(sent));
                place.since = now;
                continue;
            }
            const bool is_over = sent == Wire::ended || now - place.since > stuck_time;
            if (is_over && !place.is_last)
                place.parked->gone(sent == Wire::ended ? gone_by(errno) : Parked::Gone::silent);
            if (is_over) return false;
            // What TLS wants to read before it writes on comes with the next glance.
            ask_for(place, EPOLLRDHUP | (sent == Wire::wants_write ? EPOLLOUT : 0U), EPOLL_CTL_MOD);
            return true;
        }
        ask_for(place, EPOLLRDHUP, EPOLL_CTL_MOD);
        if (!place.is_last) return true;
        place.wire->end_sending();
        place.lingers = true;
        place.since = now;
        return true;
    }

    const int epoll_;
    Map places_;
};

ParkedLoop::ParkedLoop(Options options)
    : options_{std::move(options)},
      waker_{std::make_shared<Waker>()},
      epoll_{made(::epoll_create1(EPOLL_CLOEXEC), "http: epoll")} {
    epoll_event event{};
    event.events = EPOLLIN;
    if (::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, waker_->event_.number(), &event) != 0)
        throw std::system_error{errno, std::system_category(), "http: epoll"};
    thread_ = start_thread(options_.thread_name, [this] { run(); });
}

ParkedLoop::~ParkedLoop() {
    {
        const std::lock_guard lock{mutex_};
        is_ending_ = true;
    }
    waker_->wake();
    thread_.join();
}

bool ParkedLoop::has_room() const {
    return count() < options_.parked_max;
}

std::size_t ParkedLoop::count() const {
    const std::lock_guard lock{mutex_};
    return count_;
}

void ParkedLoop::park(std::shared_ptr<Parked> parked, std::unique_ptr<Wire> wire) {
    if (!comes(parked, std::move(wire))) return parked->gone(Parked::Gone::closed);
    waker_->wake();
}

bool ParkedLoop::comes(const std::shared_ptr<Parked>& parked, std::unique_ptr<Wire> wire) noexcept {
    try {
        auto place = std::make_unique<Place>(Place{.parked = parked, .wire = std::move(wire)});
        const std::lock_guard lock{mutex_};
        if (is_ending_ || !place->wire || count_ >= options_.parked_max) return false;
        coming_.push_back(std::move(place));
        ++count_;
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

void ParkedLoop::run() {
    Places places{epoll_};
    bool goes_on = true;
    while (goes_on) {
        try {
            goes_on = run_once(places);
        } catch (...) {  // no memory: the next glance tries again
            is_watching_ = true;
        }
    }
    places.end();
    for (auto& each : coming_)
        each->parked->gone(Parked::Gone::closed);
    coming_.clear();
}

bool ParkedLoop::run_once(Places& places) {
    std::array<epoll_event, 256> events{};
    const bool has_work = is_watching_ || places.size() != 0;
    const auto wait = has_work ? static_cast<int>(std::chrono::milliseconds{glance}.count()) : -1;
    const int count = ::epoll_wait(epoll_.number(), events.data(), events.size(), wait);
    const auto woken = waker_->take();
    if (!take_coming(places)) return false;
    for (int i = 0; i < count; ++i) {
        const auto& event = events.at(static_cast<std::size_t>(i));
        if (event.data.u64 != 0) places.heard(event.data.u64, event.events);
    }
    for (const auto each : woken)
        places.go_on(each);
    if (const auto now = Clock::now(); now - looked_ >= glance || !has_work) {
        looked_ = now;
        is_watching_ = options_.look();
        places.go_on_with_all();
    }
    const std::lock_guard lock{mutex_};
    count_ = places.size() + coming_.size();
    return true;
}

bool ParkedLoop::take_coming(Places& places) {
    for (;;) {
        std::uint64_t key = 0;
        {
            const std::lock_guard lock{mutex_};
            if (is_ending_) return false;
            if (coming_.empty()) return true;
            key = places.add(coming_.back());
            coming_.pop_back();
        }
        places.go_on(key);
    }
}

}  // namespace mortise::http
