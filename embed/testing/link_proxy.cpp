#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <future>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mortise/testkit/link_proxy.hpp>

namespace mortise::testkit {

namespace {

using asio::ip::tcp;

tcp::endpoint endpoint_of(const std::string& address) {
    const auto colon = address.rfind(':');
    const auto host = asio::ip::make_address(address.substr(0, colon));
    std::uint16_t port = 0;
    const auto* end = address.data() + address.size();
    const auto* begin = colon == std::string::npos ? end : address.data() + colon + 1;
    if (std::from_chars(begin, end, port).ec != std::errc{})
        throw std::system_error{std::make_error_code(std::errc::invalid_argument), address};
    return {host, port};
}

[[noreturn]] void fail(const char* what) {
    throw std::system_error{errno, std::generic_category(), what};
}

ino_t inode_of(int descriptor) {
    struct stat about {};
    return ::fstat(descriptor, &about) == 0 && S_ISSOCK(about.st_mode) ? about.st_ino : 0;
}

// Sockets made or accepted by Asio would be inherited by a program that is started at that moment.
int make_socket() {
    const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);
    if (made < 0) fail("socket");
    return made;
}

tcp::acceptor listen_anywhere(asio::io_context& io) {
    tcp::acceptor acceptor{io};
    acceptor.assign(tcp::v4(), make_socket());
    acceptor.native_non_blocking(true);
    acceptor.bind({asio::ip::address_v4::loopback(), 0});
    acceptor.listen();
    return acceptor;
}

void reset(tcp::socket& socket) {
    asio::error_code ignored;
    socket.set_option(asio::socket_base::linger{true, 0}, ignored);
    socket.close(ignored);
}

// The state that the connections of a link share. They may outlive the link for a moment.
struct LinkState {
    LinkMode mode = LinkMode::pass;
    LinkCounters counters;
};

// One connection: two sockets, and the bytes in transit in both directions.
class Pipe : public std::enable_shared_from_this<Pipe> {
public:
    Pipe(tcp::socket caller, std::shared_ptr<LinkState> link)
        : link_{std::move(link)}, caller_{std::move(caller)}, called_{caller_.get_executor()} {
        caller_.set_option(tcp::no_delay{true}, ignored_);
    }

    void open(const tcp::endpoint& target) {
        called_.assign(target.protocol(), make_socket());
        called_.async_connect(target, [self = shared_from_this()](asio::error_code failed) {
            if (failed) return self->end();
            self->called_.set_option(tcp::no_delay{true}, self->ignored_);
            self->connected_ = true;
            self->read(self->called_, self->caller_, self->back_);
        });
        read(caller_, called_, forth_);
    }

    void end() {
        reset(caller_);
        reset(called_);
    }
    [[nodiscard]] bool is_open() const { return caller_.is_open() || called_.is_open(); }
    [[nodiscard]] bool is_damaged() const { return damaged_; }

private:
    using Buffer = std::array<char, std::size_t{16} << 10U>;

    void read(tcp::socket& from, tcp::socket& to, Buffer& buffer) {
        from.async_read_some(asio::buffer(buffer),
                             [this, self = shared_from_this(), &from, &to, &buffer](
                                 asio::error_code failed, std::size_t size) {
                                 if (failed) return on_end(to, failed);
                                 if (link_->mode == LinkMode::drop) {
                                     damaged_ = true;
                                     link_->counters.bytes_dropped += size;
                                     return read(from, to, buffer);
                                 }
                                 write(from, to, buffer, size);
                             });
    }

    void write(tcp::socket& from, tcp::socket& to, Buffer& buffer, std::size_t size) {
        if (!connected_) return write_later(from, to, buffer, size);
        asio::async_write(to, asio::buffer(buffer.data(), size),
                          [this, self = shared_from_this(), &from, &to, &buffer](
                              asio::error_code failed, std::size_t written) {
                              link_->counters.bytes_passed += written;
                              if (failed) return on_end(to, failed);
                              read(from, to, buffer);
                          });
    }

    // The caller has sent before the target is connected.
    void write_later(tcp::socket& from, tcp::socket& to, Buffer& buffer, std::size_t size) {
        patience_.emplace(from.get_executor(), std::chrono::milliseconds{1});
        patience_->async_wait(
            [this, self = shared_from_this(), &from, &to, &buffer, size](asio::error_code) {
                if (is_open()) write(from, to, buffer, size);
            });
    }

    // While bytes are dropped, the end of the stream is not passed on either.
    void on_end(tcp::socket& to, asio::error_code why) {
        if (link_->mode == LinkMode::drop)
            damaged_ = true;
        else if (why == asio::error::eof && connected_)
            to.shutdown(tcp::socket::shutdown_send, ignored_);
        else
            end();
    }

    std::shared_ptr<LinkState> link_;
    asio::error_code ignored_;
    tcp::socket caller_;
    tcp::socket called_;
    bool connected_ = false;
    bool damaged_ = false;
    Buffer forth_{};
    Buffer back_{};
    std::optional<asio::steady_timer> patience_;
};

class CarriedLink {
public:
    explicit CarriedLink(asio::io_context& io) : acceptor_{listen_anywhere(io)} { accept(); }
    ~CarriedLink() { end_pipes(); }
    CarriedLink(const CarriedLink&) = delete;
    CarriedLink& operator=(const CarriedLink&) = delete;

    [[nodiscard]] std::string address() const {
        return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
    }
    void set_target(const tcp::endpoint& target) { target_ = target; }
    void set_mode(LinkMode mode) {
        state_->mode = mode;
        for (const auto& each : pipes_) {
            auto pipe = each.lock();
            if (pipe &&
                (mode == LinkMode::refuse || (mode == LinkMode::pass && pipe->is_damaged())))
                pipe->end();
        }
        if (mode == LinkMode::drop) return;
        for (auto& socket : silent_)
            reset(socket);
        silent_.clear();
    }
    [[nodiscard]] const LinkCounters& counters() const { return state_->counters; }

private:
    void accept() {
        acceptor_.async_wait(tcp::acceptor::wait_read, [this](asio::error_code failed) {
            if (failed) return;
            const int accepted =
                ::accept4(acceptor_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC);
            if (accepted >= 0) take(tcp::socket{acceptor_.get_executor(), tcp::v4(), accepted});
            accept();
        });
    }

    void take(tcp::socket socket) {
        ++state_->counters.connections;
        std::erase_if(pipes_, [](const auto& pipe) { return pipe.expired(); });
        if (state_->mode == LinkMode::drop) {
            silent_.push_back(std::move(socket));
        } else if (state_->mode == LinkMode::refuse || !target_) {
            reset(socket);
        } else {
            auto pipe = std::make_shared<Pipe>(std::move(socket), state_);
            pipes_.push_back(pipe);
            pipe->open(*target_);
        }
    }

    void end_pipes() {
        for (const auto& each : pipes_)
            if (auto pipe = each.lock()) pipe->end();
    }

    std::shared_ptr<LinkState> state_ = std::make_shared<LinkState>();
    std::optional<tcp::endpoint> target_;
    tcp::acceptor acceptor_;
    std::vector<std::weak_ptr<Pipe>> pipes_;
    std::vector<tcp::socket> silent_;  // opened while bytes are dropped
};

// A thread that receives none of the program's signals, like those of a node.
template <class Body>
std::thread start_without_signals(Body body) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS})
        sigdelset(&all, own);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread thread{std::move(body)};
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_setname_np(thread.native_handle(), "mortise-links");
    return thread;
}

}  // namespace

class LinkProxy::Impl {
public:
    Impl() : thread_{start_without_signals([this] { carry(); })} {}
    ~Impl() = default;
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    // Runs on the thread of the links; exceptions are rethrown here.
    template <class Work>
    auto run(Work work) {
        auto task = std::make_shared<std::packaged_task<decltype(work())()>>(std::move(work));
        auto done = task->get_future();
        if (is_whole()) asio::post(io_, [task] { (*task)(); });
        while (done.wait_for(moment) != std::future_status::ready) {
            if (gone_)
                throw std::system_error{std::make_error_code(std::errc::bad_file_descriptor),
                                        "the program closed descriptors of the links"};
        }
        return done.get();
    }

    // False: the object must not be destroyed, since its numbers may belong to other files now.
    bool close() {
        try {
            run([this] { links_.clear(); });
        } catch (const std::system_error&) {  // the program closed its descriptors
        }
        work_.reset();
        thread_.join();
        return !gone_;
    }

    Link add() {
        return run([this] {
            links_.push_back(std::make_unique<CarriedLink>(io_));
            return links_.size() - 1;
        });
    }
    template <class Work>
    auto with(Link link, Work work) {
        return run([&] { return work(*links_.at(link)); });
    }

private:
    static constexpr std::chrono::milliseconds moment{50};

    // A program that closes all its descriptors also closes this one.
    [[nodiscard]] bool is_whole() const {
        return inode_of(witness_.native_handle()) == witness_inode_;
    }
    void carry() {
        while (!io_.stopped() && is_whole())
            io_.run_one_for(moment);
        gone_ = !is_whole();
    }

    asio::io_context io_{1};
    asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
    mutable tcp::socket witness_{io_, tcp::v4(), make_socket()};
    const ino_t witness_inode_ = inode_of(witness_.native_handle());
    std::atomic<bool> gone_ = false;
    std::vector<std::unique_ptr<CarriedLink>> links_;
    std::thread thread_;
};

LinkProxy::LinkProxy() : impl_{std::make_unique<Impl>()} {}
LinkProxy::~LinkProxy() {
    if (!impl_->close()) static_cast<void>(impl_.release());
}

LinkProxy::Link LinkProxy::add_link() {
    return impl_->add();
}

std::string LinkProxy::address(Link link) const {
    return impl_->with(link, [](auto& carried) { return carried.address(); });
}

void LinkProxy::set_target(Link link, const std::string& target) {
    const auto endpoint = endpoint_of(target);
    impl_->with(link, [&](auto& carried) { carried.set_target(endpoint); });
}

void LinkProxy::set_mode(Link link, LinkMode mode) {
    impl_->with(link, [&](auto& carried) { carried.set_mode(mode); });
}

LinkCounters LinkProxy::counters(Link link) const {
    return impl_->with(link, [](auto& carried) { return carried.counters(); });
}

}  // namespace mortise::testkit
