#include <mutex>
#include <string_view>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "embed/console/answers.hpp"
#include "embed/console/assets.hpp"
#include "embed/console/break_api.hpp"
#include "embed/console/event_streams.hpp"
#include "embed/console/member_watch.hpp"
#include "embed/console/read_api.hpp"
#include "embed/console/request_guard.hpp"
#include "embed/http/connection_threads.hpp"
#include "embed/http/http_server.hpp"
#include "embed/http/listen_address.hpp"
#include <mortise/console.hpp>
#include <mortise/detail/side_log.hpp>
#include <mortise/escaped.hpp>

namespace mortise {

namespace {

constexpr std::string_view break_path = "/api/v1/break";

// What a page may load: its own files, and nothing else.
constexpr const char* content_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

httplib::Headers default_headers() {
    return {{"Content-Security-Policy", content_policy},
            {"X-Content-Type-Options", "nosniff"},
            {"X-Frame-Options", "DENY"},
            {"Referrer-Policy", "no-referrer"},
            {"Cross-Origin-Opener-Policy", "same-origin"},
            {"Cross-Origin-Resource-Policy", "same-origin"},
            {"Cache-Control", "no-store"}};
}

http::ListenAddress checked_address(const ConsoleOptions& options) {
    auto address = http::ListenAddress::parse(options.listen, "console");
    if (address.is_loopback() || options.allow_remote) return address;
    throw std::system_error{Errc::invalid_argument,
                            "console: " + escaped(options.listen) +
                                " is not a loopback address: everybody who reaches it sees the "
                                "names and labels of all locks. Set allow_remote "
                                "(--console-remote) if that is intended"};
}

// Without TLS every program of this machine may break locks, so the page on loopback may do it too.
bool may_break(const ConsoleOptions& options, const http::ListenAddress& address, Node& node) {
    const bool has_tls = node.metrics().certificate_left.is_set();
    return options.allow_break.value_or(address.is_loopback() && !has_tls);
}

}  // namespace

class Console::Impl {
public:
    Impl(Node& node, ConsoleOptions options)
        : options_{std::move(options)},
          address_{checked_address(options_)},
          listening_{http::listen_on(address_)},
          names_{address_, options_.hosts},
          log_{options_.log, node.id()},
          streams_{node},
          may_break_{may_break(options_, address_, node)},
          members_{std::in_place, node, options_.tls},
          reads_{node, may_break_, *members_, streams_},
          breaks_{node, may_break_, log_} {
        set_routes();
        warn_of_others();
        connections_.emplace(std::move(listening_),
                             http::ConnectionThreads::Options{"mortise-console"},
                             [this](http::Connection& connection) { server_.serve(connection); });
    }

    [[nodiscard]] const http::ListenAddress& address() const { return address_; }
    // The threads of the parent do not exist in a child of a fork.
    [[nodiscard]] bool is_forked() const { return ::getpid() != process_; }

    void close() noexcept {
        const std::lock_guard lock{closing_};
        streams_.end_all();
        connections_.reset();
        members_.reset();
    }

private:
    using Handled = httplib::Server::HandlerResponse;

    void set_routes() {
        server_.set_default_headers(default_headers());
        server_.set_payload_max_length(console::body_bytes_max);
        server_.set_pre_routing_handler([this](const auto& request, auto& response) {
            return route(request, response) ? Handled::Handled : Handled::Unhandled;
        });
        server_.Post(std::string{break_path}, [this](const auto& request, auto& response) {
            breaks_.answer(request, response);
        });
        server_.set_exception_handler([](const auto&, auto& response, auto) {
            console::answer_error(response, {500, "failed", "the console could not answer"});
        });
        server_.set_error_handler([](const auto&, auto& response) { explain(response); });
        server_.set_post_routing_handler([](const auto&, auto& response) { finish(response); });
    }

    // False if the body is to be read first: only for a break, and only if it may be one.
    bool route(const httplib::Request& request, httplib::Response& response) {
        auto refused = console::refusal(request, names_);
        const bool is_break = request.method == "POST" && request.path == break_path;
        if (!refused && is_break) refused = console::change_refusal(request);
        if (refused) {
            console::answer_error(response, *refused);
        } else if (is_break) {
            return false;
        } else if (request.method == "POST") {
            console::answer_error(response, {405, "bad_method", "only a break is a POST"});
        } else {
            read(request, response);
        }
        return true;
    }

    void read(const httplib::Request& request, httplib::Response& response) {
        http::HttpServer::current().begin_answer();
        if (const auto* const asset = console::find_asset(request.path)) {
            auto type = std::string{asset->type};
            if (type.starts_with("text/")) type += "; charset=utf-8";
            response.set_content(asset->content.data(), asset->content.size(), type);
        } else if (!reads_.answer(request, response)) {
            console::answer_error(response, {404, "not_found", "there is nothing at this path"});
        }
    }

    // httplib refuses what it does not know, such as a further method, without a word.
    static void explain(httplib::Response& response) {
        if (!response.body.empty()) return;
        const auto status = response.status;
        console::answer_error(response,
                              {status, "bad_request", "the request is malformed or too large"});
    }

    // An answer that refuses is the last one: the rest of the request may not have been read.
    static void finish(httplib::Response& response) {
        response.headers.erase("Accept-Ranges");  // httplib offers them for each HEAD
        auto& connection = http::HttpServer::current();
        if (response.status >= 400) connection.end_after_answer();
        if (!connection.is_last()) return;
        response.headers.erase("Keep-Alive");
        if (!response.has_header("Connection")) response.set_header("Connection", "close");
    }

    void warn_of_others() const {
        if (address_.is_loopback()) return;
        const auto where = address_.to_string();
        log_.warn("console_reachable",
                  "console: listens on " + where +
                      ", which other machines reach, without TLS and passwords",
                  {{"address", where}});
        if (!may_break_) return;
        log_.warn("console_breaks_for_all",
                  "console: everybody who reaches it breaks locks, with the rights of this node",
                  {{"address", where}});
    }

    const pid_t process_ = ::getpid();
    const ConsoleOptions options_;
    http::ListenAddress address_;
    http::Descriptor listening_;
    const console::OwnNames names_;
    const detail::SideLog log_;
    console::EventStreams streams_;
    const bool may_break_;
    std::optional<console::MemberWatch> members_;
    console::ReadApi reads_;
    console::BreakApi breaks_;
    http::HttpServer server_;
    std::mutex closing_;
    std::optional<http::ConnectionThreads> connections_;  // last: they use all of the others
};

void Console::check(const ConsoleOptions& options) {
    const console::OwnNames names{checked_address(options), options.hosts};
    static_cast<void>(names);  // its constructor checks the names
}

Console::Console(Node& node, ConsoleOptions options)
    : impl_{std::make_unique<Impl>(node, std::move(options))} {}

Console::~Console() {
    close();
    if (impl_ && impl_->is_forked()) (void)impl_.release();
}

Console::Console(Console&&) noexcept = default;

Console& Console::operator=(Console&& other) noexcept {
    if (this == &other) return *this;
    close();
    if (impl_ && impl_->is_forked()) (void)impl_.release();
    impl_ = std::move(other.impl_);
    return *this;
}

std::string Console::address() const {
    return impl_->address().to_string();
}

std::string Console::url() const {
    auto shown = impl_->address();
    if (shown.is_any()) shown.host = shown.is_v6() ? "::1" : "127.0.0.1";
    return "http://" + shown.to_string() + "/";
}

void Console::close() noexcept {
    if (impl_ && !impl_->is_forked()) impl_->close();
}

}  // namespace mortise
