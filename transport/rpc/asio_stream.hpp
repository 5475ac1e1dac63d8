// The bytes of a Socket, or of an asio::ssl::stream around one, for MessageStream, and for what KJ
// writes. Only KJ waits for promises here: the bytes of most messages are taken and written without
// any (docs/decisions/0083).
//
// Bytes go through buffers of this class in both directions. So a promise that KJ drops leaves no
// operation behind that points into KJ's memory, and small frames share system calls: what is
// written during one turn of the loop is sent at its end, together with earlier bytes that were
// allowed to wait. Asio sends without SIGPIPE.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
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

class SocketStream : public kj::AsyncOutputStream {
public:
    virtual ~SocketStream() = default;
    // Closes at once: unsent data is lost, nothing more is read, and every promise breaks.
    virtual void close() = 0;
    virtual void shut_down_writing() = 0;

    // `wake` is called, within KJ, after receive() and wake_at(). Set once.
    virtual void set_reader(std::function<void()> wake) = 0;
    // Takes at most so many bytes that have arrived.
    [[nodiscard]] virtual std::size_t take(void* to, std::size_t bytes_max) = 0;
    // Wakes the reader when more bytes have arrived, or when none will come any more.
    virtual void receive() = 0;
    // Wakes the reader when at most so many bytes are unsent, or when nothing can be sent any more.
    virtual void wake_at(std::size_t unsent_bytes) = 0;
    // No more bytes will arrive.
    [[nodiscard]] virtual bool has_ended() const = 0;
    // Why the connection has failed; null if it has not, or if the other side has ended it.
    [[nodiscard]] virtual const char* failure() const = 0;
    // Why nothing more can be read; no error as long as reading is possible.
    [[nodiscard]] virtual asio::error_code read_error() const = 0;

    // The bytes written here that the system has not accepted yet.
    [[nodiscard]] virtual std::size_t unsent_bytes() const = 0;
    // The bytes that the system has accepted; the number grows while the other side reads.
    [[nodiscard]] virtual std::uint64_t sent_bytes() const = 0;
    // Writes bytes, and nobody waits until they are sent. Whoever calls it limits how many they
    // are.
    virtual void send(kj::ArrayPtr<const kj::byte> bytes) = 0;
    // Writes bytes that the other side does not wait for. They are sent together with the next
    // write, when many have gathered, or by send_gathered().
    virtual void write_with_next(kj::ArrayPtr<const kj::byte> bytes) = 0;
    virtual void send_gathered() = 0;
    // True if the other side has closed. This is detected even without receive().
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
    ~AsioStream() override {
        link_->wake = nullptr;  // the reader is gone
        link_->close();
    }
    KJ_DISALLOW_COPY(AsioStream);

    void close() override { link_->close(); }
    void shut_down_writing() override { link_->shut_down(); }

    void set_reader(std::function<void()> wake) override { link_->wake = std::move(wake); }
    [[nodiscard]] std::size_t take(void* to, std::size_t bytes_max) override {
        return link_->take(static_cast<char*>(to), bytes_max);
    }
    void receive() override { link_->receive(); }
    void wake_at(std::size_t unsent_bytes) override { link_->wake_at = unsent_bytes; }
    [[nodiscard]] bool has_ended() const override { return link_->ended; }
    [[nodiscard]] const char* failure() const override {
        return link_->failed ? link_->reason.c_str() : nullptr;
    }
    [[nodiscard]] asio::error_code read_error() const override { return link_->read_error; }

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

    [[nodiscard]] std::size_t unsent_bytes() const override { return link_->unsent_bytes(); }
    [[nodiscard]] std::uint64_t sent_bytes() const override {
        return link_->sent_before + link_->sent_of_this;
    }
    void send(kj::ArrayPtr<const kj::byte> bytes) override { link_->send(bytes); }
    void write_with_next(kj::ArrayPtr<const kj::byte> bytes) override {
        link_->write_with_next(bytes);
    }
    void send_gathered() override { link_->send_gathered(); }
    [[nodiscard]] bool is_gone() override { return link_->is_gone(); }

private:
    using Writing = kj::Own<kj::PromiseFulfiller<void>>;

    // An unauthenticated connection gets a small buffer; it grows when it is filled.
    static constexpr std::size_t input_bytes_min = std::size_t{4} << 10U;
    static constexpr std::size_t input_bytes_max = std::size_t{32} << 10U;
    // KJ waits when this much is unsent.
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
        void receive();
        void received(const asio::error_code& error, std::size_t bytes);
        std::size_t take(char* to, std::size_t bytes_max);
        void wake_reader() {
            if (wake) wake();
        }
        kj::Promise<void> written();
        void send(kj::ArrayPtr<const kj::byte> bytes);
        void write_with_next(kj::ArrayPtr<const kj::byte> bytes);
        void send_gathered();
        [[nodiscard]] bool has_to_send() const {
            return waiting.size() > gathered || gathered >= gathered_bytes_max;
        }
        void send_at_turn_end() {
            if (!std::exchange(turn_end_asked, true)) loop->at_turn_end(turn_end);
        }
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

        std::function<void()> wake;  // the reader
        std::vector<char> input;
        std::size_t input_begin = 0;
        std::size_t input_end = 0;
        bool receiving = false;
        std::optional<std::size_t>
            wake_at;  // the number of unsent bytes for which the reader waits

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
    input_begin = input_end = 0;
    break_writers();
    if (std::exchange(receiving, false)) wake_reader();
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
            if (self->closed) return;
            self->receiving = false;
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
    wake_reader();
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
    if (unsent_bytes() <= unsent_bytes_max) return kj::READY_NOW;
    auto promised = kj::newPromiseAndFulfiller<void>();
    writers.push_back(kj::mv(promised.fulfiller));
    return kj::mv(promised.promise);
}

template <class Stream>
void AsioStream<Stream>::Link::send(kj::ArrayPtr<const kj::byte> bytes) {
    if (failed || shutting_down) return;
    waiting.append(bytes.asChars().begin(), bytes.size());
    send_at_turn_end();
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
    if (waiting.size() <= unsent_bytes_max) {
        for (auto& writer : std::exchange(writers, {}))
            writer->fulfill();
    }
    // Without anything to send it frees large buffers.
    if (waiting.empty() || has_to_send() || shutting_down) send_now();
    if (wake_at && unsent_bytes() <= *wake_at) {
        wake_at.reset();
        wake_reader();
    }
}

template <class Stream>
void AsioStream<Stream>::Link::shut_down() {
    shutting_down = true;
    if (!closed) send_at_turn_end();
}

template <class Stream>
void AsioStream<Stream>::Link::break_writers() {
    for (auto& writer : std::exchange(writers, {}))
        writer->reject(broken());
    if (std::exchange(wake_at, std::nullopt)) wake_reader();
}

}  // namespace mortise::transport
