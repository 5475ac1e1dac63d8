#include "transport/sockets/socket.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mortise::transport {
namespace {

// The program writes its output to 0, 1 and 2, and a peer must not receive it.
// storage/base/descriptors.hpp protects the numbers for files; a socket may be created at any time,
// whenever a caller connects.
int leave_standard_descriptors(int descriptor) noexcept {
    constexpr int standard_descriptors = 3;
    if (descriptor < 0 || descriptor >= standard_descriptors) return descriptor;
    const int higher = ::fcntl(descriptor, F_DUPFD_CLOEXEC, standard_descriptors);
    const int why = errno;
    ::close(descriptor);
    errno = why;
    return higher;
}

}  // namespace

ino_t SocketIdentity::inode_of(int descriptor) noexcept {
    struct stat about {};
    return ::fstat(descriptor, &about) == 0 && S_ISSOCK(about.st_mode) ? about.st_ino : 0;
}

int make_socket(const asio::ip::tcp& protocol) noexcept {
    return leave_standard_descriptors(
        ::socket(protocol.family(), SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP));
}

int accept_socket(int listener) noexcept {
    int accepted = 0;
    do {
        accepted = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    } while (accepted < 0 && errno == EINTR);
    return leave_standard_descriptors(accepted);
}

Socket::Socket(Base&& other) noexcept : Base{std::move(other)} {
    if (is_open()) identity_ = SocketIdentity{native_handle()};
}

Socket& Socket::operator=(Socket&& other) noexcept {
    let_go_if_taken_away();
    identity_ = other.identity_;
    Base::operator=(std::move(other));
    return *this;
}

Socket::~Socket() {
    let_go_if_taken_away();
}

void Socket::open(const asio::ip::tcp& protocol, asio::error_code& error) {
    take(protocol, make_socket(protocol), error);
}

void Socket::take(const asio::ip::tcp& protocol, int descriptor, asio::error_code& error) {
    if (descriptor < 0) {
        error.assign(errno, asio::error::get_system_category());
        return;
    }
    assign(protocol, descriptor, error);
    if (error) {
        ::close(descriptor);
    } else {
        identity_ = SocketIdentity{descriptor};
    }
}

void Socket::close(asio::error_code& error) {
    let_go_if_taken_away();
    Base::close(error);
}

bool Socket::is_taken_away() {
    return is_open() && !identity_.is_at(native_handle());
}

void Socket::let_go_if_taken_away() noexcept {
    if (!is_taken_away()) return;
    asio::error_code ignored;
    try {
        static_cast<void>(release(ignored));
    } catch (...) {  // Asio has no other way to report "not supported"
    }
}

}  // namespace mortise::transport
