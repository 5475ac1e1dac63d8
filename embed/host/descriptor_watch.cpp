#include "embed/host/descriptor_watch.hpp"

#include <algorithm>
#include <array>

#include <asio/detail/epoll_reactor.hpp>

namespace mortise::detail {

namespace {

using Reactor = asio::detail::epoll_reactor;

// Asio does not reveal which descriptors its loop has. An explicit instantiation of a template may
// name private members, so this fails to compile if they are renamed.
template <class Member, typename Member::Type pointer>
struct Reveal {
    friend typename Member::Type reveal(Member /*member*/) { return pointer; }
};
struct Epoll {
    using Type = int Reactor::*;
    friend Type reveal(Epoll /*member*/);
};
struct Timer {
    using Type = int Reactor::*;
    friend Type reveal(Timer /*member*/);
};
struct Interrupter {
    using Type = asio::detail::select_interrupter Reactor::*;
    friend Type reveal(Interrupter /*member*/);
};
template struct Reveal<Epoll, &Reactor::epoll_fd_>;
template struct Reveal<Timer, &Reactor::timer_fd_>;
template struct Reveal<Interrupter, &Reactor::interrupter_>;

// The first one is the descriptor of epoll.
std::array<int, 3> descriptors_of(asio::io_context& io) {
    auto& reactor = asio::use_service<Reactor>(io);
    return {reactor.*reveal(Epoll{}), reactor.*reveal(Timer{}),
            (reactor.*reveal(Interrupter{})).read_descriptor()};
}

}  // namespace

DescriptorWatch::DescriptorWatch(asio::io_context& io) {
    for (const int descriptor : descriptors_of(io))
        if (descriptor >= 0) add(descriptor);
    epoll_ = watched_.with([](const Watched& watched) { return watched.descriptors.front(); });
}

void DescriptorWatch::add(int descriptor) {
    watched_.with([&](Watched& watched) {
        watched.descriptors.emplace_back(descriptor, storage::OpenFile::at(descriptor));
    });
}

void DescriptorWatch::remove(int descriptor) {
    watched_.with([&](Watched& watched) {
        std::erase_if(watched.descriptors,
                      [&](const Descriptor& each) { return each.first == descriptor; });
    });
}

void DescriptorWatch::set_directory(std::function<bool()> is_held) {
    // The former function is destroyed outside the lock.
    watched_.with([&](Watched& watched) { watched.is_held.swap(is_held); });
}

bool DescriptorWatch::is_whole() const {
    return watched_.with([](const Watched& watched) {
        const bool all = std::ranges::all_of(watched.descriptors, [](const Descriptor& each) {
            return each.second.is_at(each.first);
        });
        return all && (!watched.is_held || watched.is_held());
    });
}

std::function<bool()> watch_loop(asio::io_context& io) {
    return [watch = std::make_shared<DescriptorWatch>(io)] { return watch->is_whole(); };
}

}  // namespace mortise::detail
