#include "tools/mortise/service_manager.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <system_error>
#include <utility>

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "tools/mortise/say.hpp"
#include <mortise/escaped.hpp>

namespace mortise::cli {

namespace {

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

// A path, or a name in the abstract namespace, which is written with "@" in place of the zero.
// Returns the length of the address, or zero if the text is no such address.
socklen_t address_of(const std::string& socket, sockaddr_un& address) {
    const bool is_abstract = socket.starts_with('@');
    if (!is_abstract && !socket.starts_with('/')) return 0;
    if (socket.size() >= sizeof address.sun_path) return 0;
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, socket.data(), socket.size());
    if (is_abstract) address.sun_path[0] = '\0';
    const auto terminator = is_abstract ? 0U : 1U;
    return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket.size() + terminator);
}

std::string microseconds_now() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::to_string(now.tv_sec * 1'000'000 + now.tv_nsec / 1'000);
}

}  // namespace

ServiceManager::ServiceManager() : socket_{variable("NOTIFY_SOCKET")} {}

void ServiceManager::started() {
    tell("READY=1\nSTATUS=started");
}

void ServiceManager::describe(std::string_view status) {
    if (described_ == status) return;
    described_ = status;
    tell("STATUS=" + escaped(status));
}

// The time is for Type=notify-reload of systemd 253 and later, which waits for the answer to a
// signal that it sent after that time.
void ServiceManager::reloading() {
    tell("RELOADING=1\nMONOTONIC_USEC=" + microseconds_now());
}

void ServiceManager::reloaded() {
    tell("READY=1");
}

void ServiceManager::stopping() {
    tell("STOPPING=1\nSTATUS=releases its locks and transfers leadership");
}

void ServiceManager::tell(std::string_view lines) {
    if (socket_.empty()) return;
    const int error = send(lines);
    if (error == 0 || std::exchange(has_failed_, true)) return;
    say("cannot tell the service manager at NOTIFY_SOCKET=" + escaped(socket_) + ": " +
        std::system_category().message(error));
}

// Returns errno, or 0. Each message has a socket of its own, so none is open in between.
int ServiceManager::send(std::string_view lines) const {
    sockaddr_un address{};
    const auto length = address_of(socket_, address);
    if (length == 0) return EINVAL;
    const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return errno;
    const timeval patience{.tv_sec = 1, .tv_usec = 0};
    ::setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    const auto* const to = reinterpret_cast<const sockaddr*>(&address);
    const auto sent = ::sendto(descriptor, lines.data(), lines.size(), MSG_NOSIGNAL, to, length);
    const int error = sent < 0 ? errno : 0;
    ::close(descriptor);
    return error;
}

}  // namespace mortise::cli
