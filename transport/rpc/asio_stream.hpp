// Adapts a Socket, or an asio::ssl::stream around one, to KJ's stream interface.
//
// Bytes go through buffers of this class in both directions. So a promise that KJ drops leaves no
// operation behind that points into KJ's memory, and small frames share system calls: what is
// written during one turn of the loop is sent at its end, together with earlier bytes that were
// allowed to wait. Asio sends without SIGPIPE.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <asio/buffer.hpp>
#include <asio/completion_condition.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ssl/error.hpp>
#include <asio/write.hpp>
#include <kj/async-io.h>
#include <kj/debug.h>
#include <poll.h>

#include "transport/rpc/kj_on_asio.hpp"
#include "transport/sockets/socket.hpp"

namespace mortise::transport {

// KJ deletes what it owns by its true type.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

class SocketStream : public kj::AsyncIoStream {
public:
    virtual ~SocketStream() = default;
    // Closes at once: unsent data is lost, nothing more is read, and every promise breaks.
    virtual void close() = 0;
    // Why nothing more can be read; no error as long as reading is possible.
    [[nodiscard]] virtual asio::error_code read_error() const = 0;
    // The bytes written here that the system has not accepted yet.
    [[nodiscard]] virtual std::size_t unsent_bytes() const = 0;
    // The bytes that the system has accepted; the number grows while the other side reads.
    [[nodiscard]] virtual std::uint64_t sent_bytes() const = 0;
    // Fulfilled when at most `bytes` are unsent; broken when nothing can be sent any more.
    virtual kj::Promise<void> when_unsent_at_most(std::size_t bytes) = 0;
    // Writes bytes that the other side does not wait for. They are sent together with the next
    // write, when many have gathered, or by send_gathered().
    virtual void write_with_next(kj::ArrayPtr<const kj::byte> bytes) = 0;
    virtual void send_gathered() = 0;
    // True if the other side has closed. This is detected even without reading, which tryRead would
    // require.
    [[nodiscard]] virtual bool is_gone() = 0;
};

// Applies to our own sockets; a test may use any other socket of Asio.
inline void let_go_if_taken_away(asio::ip::tcp::socket& /*socket*/) {}
inline void let_go_if_taken_away(Socket& socket) {
    socket.let_go_if_taken_away();
}
template <class Stream>
void let_go_if_taken_away(Stream& stream) {
    let_go_if_taken_away(stream.next_layer());
}

template <class Stream>
class AsioStream final : public SocketStream {
public:
    // The loop outlives the stream; the socket is connected.
    AsioStream(KjLoop& loop, Stream socket)
        : link_{std::make_shared<Link>(loop, std::move(socket))} {
        link_->turn_end = std::make_shared<std::function<void()>>([link = std::weak_ptr{link_}] {
            if (const auto alive = link.lock()) alive->send_now();
        });
    }
    ~AsioStream() override { link_->close(); }
    KJ_DISALLOW_COPY(AsioStream);

    void close() override { link_->close(); }
    [[nodiscard]] asio::error_code read_error() const override { return link_->read_error; }

    kj::Promise<std::size_t> tryRead(void* buffer, std::size_t min_bytes,
                                     std::size_t max_bytes) override {
        return link_->read(static_cast<char*>(buffer), min_bytes, max_bytes);
    }
    kj::Promise<void> write(const void* buffer, std::size_t size) override {
        link_->waiting.append(static_cast<const char*>(buffer), size);
        return link_->written();
    }
    kj::Promise<void> write(kj::ArrayPtr<const kj::ArrayPtr<const kj::byte>> pieces) override {
        for (const auto& piece : pieces)
            link_->waiting.append(piece.asChars().begin(), piece.size());
        return link_->written();
    }
    // A broken connection is detected by reading, or by the owner that paused the reading
    // (is_gone).
    kj::Promise<void> whenWriteDisconnected() override { return kj::NEVER_DONE; }
    void shutdownWrite() override { link_->shut_down(); }

    [[nodiscard]] std::size_t unsent_bytes() const override { return link_->unsent_bytes(); }
    [[nodiscard]] std::uint64_t sent_bytes() const override {
        return link_->sent_before + link_->sent_of_this;
    }
    kj::Promise<void> when_unsent_at_most(std::size_t bytes) override {
        return link_->when_unsent_at_most(bytes);
    }
    void write_with_next(kj::ArrayPtr<const kj::byte> bytes) override {
        link_->write_with_next(bytes);
    }
    void send_gathered() override { link_->send_gathered(); }
    [[nodiscard]] bool is_gone() override { return link_->is_gone(); }

private:
    using Reading = kj::Own<kj::PromiseFulfiller<std::size_t>>;
    struct Writing {
        kj::Own<kj::PromiseFulfiller<void>> promise;
        std::size_t unsent_max = 0;  // the limit that it waits for
    };

    // An unauthenticated connection gets a small buffer; it grows when it is filled.
    static constexpr std::size_t input_bytes_min = std::size_t{4} << 10U;
    static constexpr std::size_t input_bytes_max = std::size_t{32} << 10U;
    // A writer waits when this much is unsent.
    static constexpr std::size_t unsent_bytes_max = std::size_t{256} << 10U;
    // The number of bytes that may wait: about seven answers without a result.
    static constexpr std::size_t gathered_bytes_max = 512;
    // A larger output buffer is not kept for an idle connection.
    static constexpr std::size_t spare_bytes_max = std::size_t{16} << 10U;

    // The state that operations in progress keep alive.
    struct Link : std::enable_shared_from_this<Link> {
        Link(KjLoop& the_loop, Stream the_socket)
            : loop{&the_loop}, socket{std::move(the_socket)} {}

        void close();
        kj::Promise<std::size_t> read(char* to, std::size_t min_bytes, std::size_t max_bytes);
        void receive();
        void received(const asio::error_code& error, std::size_t bytes);
        std::size_t take(char* to, std::size_t bytes_max);
        kj::Promise<void> written();
        void write_with_next(kj::ArrayPtr<const kj::byte> bytes);
        void send_gathered();
        [[nodiscard]] bool has_to_send() const {
            return waiting.size() > gathered || gathered >= gathered_bytes_max;
        }
        void send_at_turn_end() {
            if (!std::exchange(turn_end_asked, true)) loop->at_turn_end(turn_end);
        }
        kj::Promise<void> when_unsent_at_most(std::size_t bytes);
        [[nodiscard]] std::size_t unsent_bytes() const {
            return waiting.size() + sending.size() - sent_of_this;
        }
        [[nodiscard]] bool is_gone();
        void send_now();
        void sent(const asio::error_code& error);
        void shut_down();
        void break_writers();

        [[nodiscard]] kj::Exception broken() const {
            return {kj::Exception::Type::DISCONNECTED, "", 0, kj::heapString(reason.c_str())};
        }

        KjLoop* loop;
        Stream socket;
        bool closed = false;
        bool ended = false;  // reading has ended, by the other side or by an error
        bool failed = false;
        asio::error_code read_error;
        std::string reason = "connection closed";

        std::vector<char> input;
        std::size_t input_begin = 0;
        std::size_t input_end = 0;
        bool receiving = false;
        char* to = nullptr;
        std::size_t got = 0;
        std::size_t got_min = 0;
        std::size_t got_max = 0;
        Reading reader;

        std::string waiting;           // to be sent
        std::size_t gathered = 0;      // the bytes among these that may wait
        std::string sending;           // the bytes of the operation in progress
        std::size_t sent_of_this = 0;  // the number of these that the system has accepted
        std::uint64_t sent_before = 0;
        bool is_sending = false;
        bool turn_end_asked = false;
        bool shutting_down = false;
        std::vector<Writing> writers;
        std::shared_ptr<std::function<void()>> turn_end;
    };

    std::shared_ptr<Link> link_;
};

#pragma GCC diagnostic pop

template <class Stream>
void AsioStream<Stream>::Link::close() {
    if (std::exchange(closed, true)) return;
    ended = failed = true;
    asio::error_code ignored;
    let_go_if_taken_away(socket);
    // The other side detects the end even if a child of a fork has a copy of the descriptor.
    socket.lowest_layer().shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
    socket.lowest_layer().close(ignored);
    waiting.clear();
    break_writers();
    if (auto promised = std::exchange(reader, nullptr); promised.get() != nullptr)
        promised->reject(broken());
}

template <class Stream>
kj::Promise<std::size_t> AsioStream<Stream>::Link::read(char* into, std::size_t min_bytes,
                                                        std::size_t max_bytes) {
    got = take(into, max_bytes);
    if (got >= min_bytes) return got;
    if (failed) return broken();
    if (ended) return got;
    to = into;
    got_min = min_bytes;
    got_max = max_bytes;
    auto promised = kj::newPromiseAndFulfiller<std::size_t>();
    reader = kj::mv(promised.fulfiller);
    receive();
    return kj::mv(promised.promise);
}

template <class Stream>
void AsioStream<Stream>::Link::receive() {
    if (std::exchange(receiving, true)) return;
    if (input.empty()) {
        input.resize(input_bytes_min);
    } else if (input_end == input.size()) {
        input.resize(input_bytes_max);
    }
    input_begin = input_end = 0;
    let_go_if_taken_away(socket);
    socket.async_read_some(
        asio::buffer(input),
        [self = this->shared_from_this()](const asio::error_code& error, std::size_t bytes) {
            self->receiving = false;
            if (self->closed) return;
            self->loop->run([&] { self->received(error, bytes); });
        });
}

template <class Stream>
void AsioStream<Stream>::Link::received(const asio::error_code& error, std::size_t bytes) {
    input_end = bytes;
    if (error) {
        ended = true;
        // A frame has its own length, so nothing depends on how a stream ends.
        failed = error != asio::error::eof && error != asio::ssl::error::stream_truncated;
        read_error = error;
        reason = error.message();
    }
    if (reader.get() == nullptr) return;
    if (!reader->isWaiting()) {  // KJ dropped the promise, and its buffer may be gone
        reader = nullptr;
        return;
    }
    got += take(to + got, got_max - got);
    if (got < got_min && !ended) {
        receive();
        return;
    }
    auto promised = std::exchange(reader, nullptr);
    if (failed && got < got_min) {
        promised->reject(broken());
    } else {
        promised->fulfill(kj::cp(got));
    }
}

template <class Stream>
std::size_t AsioStream<Stream>::Link::take(char* into, std::size_t bytes_max) {
    const auto bytes = std::min(bytes_max, input_end - input_begin);
    if (bytes != 0) std::memcpy(into, input.data() + input_begin, bytes);
    input_begin += bytes;
    return bytes;
}

template <class Stream>
kj::Promise<void> AsioStream<Stream>::Link::written() {
    if (failed || shutting_down) {
        waiting.clear();
        return broken();
    }
    send_at_turn_end();
    return when_unsent_at_most(unsent_bytes_max);
}

template <class Stream>
void AsioStream<Stream>::Link::write_with_next(kj::ArrayPtr<const kj::byte> bytes) {
    if (failed || shutting_down) return;
    waiting.append(bytes.asChars().begin(), bytes.size());
    gathered += bytes.size();
    if (gathered >= gathered_bytes_max) send_at_turn_end();
}

template <class Stream>
void AsioStream<Stream>::Link::send_gathered() {
    if (gathered != 0) send_now();
}

template <class Stream>
kj::Promise<void> AsioStream<Stream>::Link::when_unsent_at_most(std::size_t bytes) {
    if (failed) return broken();
    if (unsent_bytes() <= bytes) return kj::READY_NOW;
    auto promised = kj::newPromiseAndFulfiller<void>();
    writers.push_back({kj::mv(promised.fulfiller), bytes});
    return kj::mv(promised.promise);
}

// There may be unread data before the end; the system reports the end nevertheless.
template <class Stream>
bool AsioStream<Stream>::Link::is_gone() {
    if (closed) return true;
    let_go_if_taken_away(socket);
    if (!socket.lowest_layer().is_open()) return true;
    ::pollfd look{socket.lowest_layer().native_handle(), POLLRDHUP, 0};
    return ::poll(&look, 1, 0) > 0;
}

template <class Stream>
void AsioStream<Stream>::Link::send_now() {
    turn_end_asked = false;
    if (closed || is_sending) return;
    if (waiting.empty()) {
        if (waiting.capacity() > spare_bytes_max) std::string{}.swap(waiting);
        if (sending.capacity() > spare_bytes_max) std::string{}.swap(sending);
        asio::error_code ignored;
        if (shutting_down)
            socket.lowest_layer().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
        return;
    }
    is_sending = true;
    gathered = 0;
    sending.swap(waiting);
    let_go_if_taken_away(socket);
    asio::async_write(
        socket, asio::buffer(sending),
        [self = this->shared_from_this()](const asio::error_code& error, std::size_t done) {
            self->sent_of_this = done;
            return asio::transfer_all()(error, done);
        },
        // The condition above is not asked again after the last piece, which is usually the only
        // one.
        [self = this->shared_from_this()](const asio::error_code& error, std::size_t done) {
            self->sent_of_this = done;
            self->is_sending = false;
            if (self->closed) return;
            self->loop->run([&] { self->sent(error); });
        });
}

template <class Stream>
void AsioStream<Stream>::Link::sent(const asio::error_code& error) {
    sent_before += std::exchange(sent_of_this, 0);
    sending.clear();
    if (error) {
        failed = true;
        reason = error.message();
        break_writers();
        return;
    }
    for (auto& writer : std::exchange(writers, {})) {
        if (waiting.size() <= writer.unsent_max) {
            writer.promise->fulfill();
        } else {
            writers.push_back(kj::mv(writer));
        }
    }
    // Without anything to send it frees large buffers.
    if (waiting.empty() || has_to_send() || shutting_down) send_now();
}

template <class Stream>
void AsioStream<Stream>::Link::shut_down() {
    shutting_down = true;
    if (!closed) send_at_turn_end();
}

template <class Stream>
void AsioStream<Stream>::Link::break_writers() {
    for (auto& writer : std::exchange(writers, {}))
        writer.promise->reject(broken());
}

}  // namespace mortise::transport
