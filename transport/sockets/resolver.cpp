#include "transport/sockets/resolver.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include <asio/error.hpp>
#include <asio/post.hpp>
#include <fcntl.h>
#include <netdb.h>
#include <unistd.h>

namespace mortise::transport {
namespace {

asio::error_code error_of(int code) {
    switch (code) {
        case 0: return {};
        case EAI_AGAIN: return asio::error::host_not_found_try_again;
        case EAI_NONAME: return asio::error::host_not_found;
        case EAI_SYSTEM: return {errno, asio::error::get_system_category()};
        default: return asio::error::no_recovery;
    }
}

// The system's resolver opens files and sockets. If the program has closed its standard output, one
// of them would get its number and its text; so /dev/null takes such a number, and keeps it.
void occupy_standard_descriptors() noexcept {
    constexpr int standard_descriptors = 3;
    int descriptor = 0;
    do {
        descriptor = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    } while (descriptor >= 0 && descriptor < standard_descriptors);
    if (descriptor >= 0) ::close(descriptor);
}

Resolver::Found ask_the_system(const HostPort& at) {
    occupy_standard_descriptors();
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV;
    addrinfo* list = nullptr;
    Resolver::Found found;
    found.error = error_of(::getaddrinfo(at.host.c_str(), at.port.c_str(), &hints, &list));
    for (const auto* each = list; each != nullptr; each = each->ai_next) {
        asio::ip::tcp::endpoint endpoint;
        if (each->ai_addrlen > endpoint.capacity()) continue;
        std::memcpy(endpoint.data(), each->ai_addr, each->ai_addrlen);
        endpoint.resize(each->ai_addrlen);
        found.endpoints.push_back(endpoint);
    }
    if (list != nullptr) ::freeaddrinfo(list);
    if (!found.error && found.endpoints.empty()) found.error = asio::error::host_not_found;
    return found;
}

// A detached thread, to which none of the program's signals is delivered.
template <class Work>
void run_aside(Work work) {
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS})
        ::sigdelset(&all, own);  // caused by the thread itself: the host's handlers may report it
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        std::thread{std::move(work)}.detach();
    } catch (...) {
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw;
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

// The channel through which a thread reports its result; it is closed before the io_context is
// destroyed.
struct Resolver::Door {
    void tell(const HostPort& at, const Found& found, const std::shared_ptr<Door>& self) {
        const std::lock_guard lock{mutex};
        if (io == nullptr) return;
        asio::post(*io, [at, found, self] {
            if (self->resolver != nullptr) self->resolver->finished(at, found);
        });
    }

    std::mutex mutex;
    asio::io_context* io = nullptr;  // guarded by the mutex
    Resolver* resolver = nullptr;    // on the thread of the io_context
};

Resolver::Resolver(asio::execution_context& context)
    : service{context}, look_up_{ask_the_system}, door_{std::make_shared<Door>()} {
    door_->io = &static_cast<asio::io_context&>(context);
    door_->resolver = this;
}

void Resolver::shutdown() {
    const std::lock_guard lock{door_->mutex};
    door_->io = nullptr;
    door_->resolver = nullptr;
    waiting_.clear();
}

void Resolver::resolve(const HostPort& at, Done done) {
    auto& waiting = waiting_[{at.host, at.port}];
    waiting.push_back(std::move(done));
    if (waiting.size() == 1) begin(at);
}

// A lack of memory here must not end the program.
void Resolver::ask(const HostPort& at, const LookUp& look_up, const std::shared_ptr<Door>& door) {
    constexpr auto moment = std::chrono::milliseconds{100};
    while (true) {
        try {
            return door->tell(at, look_up(at), door);
        } catch (const std::bad_alloc&) {
            std::this_thread::sleep_for(moment);
        }
    }
}

void Resolver::begin(const HostPort& at) {
    try {
        run_aside([at, look_up = look_up_, door = door_] { ask(at, look_up, door); });
    } catch (const std::system_error&) {  // no thread can be started
        door_->tell(at, {asio::error::try_again, {}}, door_);
    }
}

void Resolver::finished(const HostPort& at, const Found& found) {
    const auto waiting = waiting_.extract({at.host, at.port});
    if (waiting.empty()) return;
    for (const auto& done : waiting.mapped())
        done(found);
}

}  // namespace mortise::transport
