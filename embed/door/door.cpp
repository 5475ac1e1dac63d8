#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <sys/resource.h>
#include <unistd.h>

#include "embed/door/api.hpp"
#include "embed/door/followed.hpp"
#include "embed/door/tls.hpp"
#include "embed/http/connection_threads.hpp"
#include "embed/http/http_server.hpp"
#include "embed/http/listen_address.hpp"
#include "embed/http/request_guard.hpp"
#include <mortise/certificates.hpp>
#include <mortise/detail/side_log.hpp>
#include <mortise/errc.hpp>
#include <mortise/escaped.hpp>
#include <mortise/http_door.hpp>

namespace mortise {

namespace {

using door::Refused;
using Handled = httplib::Server::HandlerResponse;

// Descriptors belong to the host: at most half of those that it may have are used here.
std::size_t descriptors_max() {
    rlimit limit{};
    const bool knows = ::getrlimit(RLIMIT_NOFILE, &limit) == 0;
    return knows ? limit.rlim_cur / 2 : std::numeric_limits<std::size_t>::max();
}

std::size_t connections_max() {
    return std::clamp<std::size_t>(descriptors_max() / 8, 8, 128);
}

// The connections have twice theirs: while one closes, the next one has come.
std::size_t streams_max(const HttpDoorOptions& options) {
    constexpr std::size_t least = 8;
    const auto others = 2 * connections_max();
    return std::min(options.streams, std::max(descriptors_max(), others + least) - others);
}

http::ListenAddress checked_address(const HttpDoorOptions& options) {
    auto address = http::ListenAddress::parse(options.listen, "http");
    if (address.is_loopback() || options.allow_remote || options.tls.is_set()) return address;
    throw std::system_error{Errc::invalid_argument,
                            "http: " + escaped(options.listen) +
                                " is not a loopback address, and there is no TLS: everybody who "
                                "reaches it can read what is sent. Set allow_remote "
                                "(--http-remote) if that is intended"};
}

door::Tokens tokens_of(const HttpDoorOptions& options) {
    return options.tokens.empty() ? door::Tokens{} : door::Tokens{options.tokens};
}

// Clients of an HTTPS door reach it by the names in its certificate. A browser does so as well: no
// other web site has it.
std::vector<std::string> names_of(const HttpDoorOptions& options) {
    auto names = options.hosts;
    if (!options.tls.is_set()) return names;
    const auto shown = read_certificates(options.tls.certificate);
    for (const auto& own : shown.front().hosts) {
        if (own.find('*') == std::string::npos) names.push_back(own);
    }
    return names;
}

// The files are read again when they change; the program may have another directory by then.
HttpDoorOptions with_whole_paths(HttpDoorOptions options) {
    auto& tls = options.tls;
    for (auto* const path : {&tls.certificate, &tls.key, &tls.ca, &tls.revoked, &options.tokens}) {
        if (!path->empty()) *path = std::filesystem::absolute(*path);
    }
    return options;
}

std::string_view bearer_of(const std::string& header) {
    constexpr std::string_view scheme = "bearer ";
    const bool is_bearer = http::lower_case(header.substr(0, scheme.size())) == scheme;
    return is_bearer ? std::string_view{header}.substr(scheme.size()) : std::string_view{};
}

}  // namespace

class HttpDoor::Impl {
public:
    Impl(Node& node, HttpDoorOptions options)
        : options_{with_whole_paths(std::move(options))},
          address_{checked_address(options_)},
          tokens_{{options_.tokens},
                  [this] { return tokens_of(options_); },
                  [this](const std::string& why) { warn_of_tokens(why); }},
          cluster_{node.status().cluster},
          listening_{http::listen_on(address_)},
          names_{address_, names_of(options_)},
          log_{options_.log, node.id()},
          sessions_{options_.sessions},
          parked_{std::in_place, http::ParkedLoop::Options{"mortise-http", streams_max(options_),
                                                           [this] { return sessions_.look(); }}},
          api_{node, options_, sessions_, *parked_} {
        set_routes();
        warn_of_others();
        if (options_.tls.is_set()) tls_.emplace(options_.tls);
        http::MakeWire make_wire = http::plain_wire;
        if (tls_)
            make_wire = [this](http::Descriptor socket) { return tls_->wire(std::move(socket)); };
        connections_.emplace(std::move(listening_),
                             http::ConnectionThreads::Options{"mortise-http", connections_max(),
                                                              std::move(make_wire)},
                             [this](http::Connection& connection) { server_.serve(connection); });
    }

    [[nodiscard]] const http::ListenAddress& address() const { return address_; }
    [[nodiscard]] bool has_tls() const { return options_.tls.is_set(); }
    // The threads of the parent do not exist in a child of a fork.
    [[nodiscard]] bool is_forked() const { return ::getpid() != process_; }

    void close() noexcept {
        const std::lock_guard lock{closing_};
        sessions_.close();
        while (has_sessions())
            std::this_thread::sleep_for(std::chrono::milliseconds{10});
        connections_.reset();
        parked_.reset();
    }

private:
    [[nodiscard]] bool has_sessions() noexcept {
        try {
            return sessions_.look();
        } catch (const std::bad_alloc&) {
            return true;
        }
    }

    void set_routes() {
        server_.set_default_headers({{"Cache-Control", "no-store"},
                                     {"X-Content-Type-Options", "nosniff"},
                                     {"Cross-Origin-Resource-Policy", "same-origin"}});
        server_.set_payload_max_length(door::Api::body_bytes_max);
        server_.set_pre_routing_handler([this](const auto& request, auto& response) {
            return route(request, response) ? Handled::Handled : Handled::Unhandled;
        });
        // Only what route() leaves is matched, and that is short.
        server_.Post("/v1/.*", [this](const auto& request, auto& response) {
            const auto found = found_by(request);
            if (found) answer(request, *found, response);
        });
        server_.set_exception_handler([](const auto&, auto& response, auto) {
            http::answer_error(response, {500, "failed", "the door could not answer"});
        });
        server_.set_error_handler([](const auto&, auto& response) { explain(response); });
        server_.set_post_routing_handler([](const auto&, auto& response) { finish(response); });
    }

    // False if the body is to be read first.
    bool route(const httplib::Request& request, httplib::Response& response) {
        try {
            refuse_strangers(request);
            const auto found = found_by(request);
            if (!has_users() && door::is_stream(found->act)) refuse_silent_browsers(request);
            if (request.method == "POST" && http::has_body(request)) {
                if (auto refused =
                        http::content_refusal(request, "a request", door::Api::body_bytes_max))
                    throw Refused{*std::move(refused)};
                (void)caller_of(request);
                return false;
            }
            answer(request, *found, response);
        } catch (const Refused& refused) {
            http::answer_error(response, refused.refusal);
            if (!refused.allowed.empty()) response.set_header("Allow", refused.allowed);
        }
        return true;
    }

    void refuse_strangers(const httplib::Request& request) const {
        if (auto refused = http::host_refusal(request, names_)) throw Refused{*std::move(refused)};
        if (auto refused = http::origin_refusal(request, false)) throw Refused{*std::move(refused)};
        auto refused = has_users() ? std::nullopt : http::referer_refusal(request);
        if (refused) throw Refused{*std::move(refused)};
        if (request.method != "POST" && http::has_body(request))
            throw Refused{{400, "bad_request", "only a POST has a body"}};
    }

    static void refuse_silent_browsers(const httplib::Request& request) {
        if (auto refused = http::silent_browser_refusal(request, "Mortise-Http"))
            throw Refused{*std::move(refused)};
    }

    // Requests have to say whose they are.
    [[nodiscard]] bool has_users() const {
        return options_.tls.is_set() || !options_.tokens.empty();
    }

    // Throws Refused if there is nothing.
    static std::optional<door::Found> found_by(const httplib::Request& request) {
        const auto& target = request.target;
        if (!target.starts_with('/'))
            door::refuse("a request names a path alone, such as /v1/status");
        if (!door::decoded(target.substr(0, target.find('?'))))
            door::refuse("a percent sign is followed by two hexadecimal digits");
        std::string allowed;
        auto found = door::find_route(request.method, target, allowed);
        if (found) return found;
        if (!allowed.empty())
            throw Refused{{405, "bad_method", "this path has the methods " + allowed}, allowed};
        throw Refused{{404, "not_found", "there is nothing at this path; see /v1/openapi.json"}};
    }

    void answer(const httplib::Request& request, const door::Found& found,
                httplib::Response& response) {
        http::HttpServer::current().begin_answer();
        try {
            const auto caller = caller_of(request);
            api_.answer({request, found, caller, BootClock::now()}, response);
        } catch (const Refused& refused) {
            http::answer_error(response, refused.refusal);
        } catch (const LockError& error) {
            http::answer_error(response, error);
        }
    }

    // Throws Refused for somebody who is not known.
    [[nodiscard]] door::Caller caller_of(const httplib::Request& request) {
        if (!has_users()) return {.may_all = true};
        const auto header = request.get_header_value("Authorization");
        const auto token = bearer_of(header);
        if (token.empty()) return caller_by_certificate();
        const auto tokens = tokens_.present();
        if (const auto* const caller = tokens->find(token)) return *caller;
        refuse_unknown("the token is not known here");
    }

    [[noreturn]] static void refuse_unknown(std::string reason) {
        throw Refused{{401, "unauthenticated", std::move(reason)}};
    }

    // Of a user of our cluster, which our authority would accept now. The certificate of a node is
    // for its place in the cluster: a removed one has it still.
    [[nodiscard]] door::Caller caller_by_certificate() {
        const auto& wire = http::HttpServer::current().wire();
        const auto pem = wire.certificate();
        if (pem.empty())
            refuse_unknown("a request has a token, or its connection the certificate of a user");
        const auto info = describe_certificate(pem);
        if (!info.problem.empty() || info.cluster != cluster_)
            refuse_unknown("the certificate is not one of a user of this cluster");
        if (info.node != 0) refuse_unknown("the certificate is that of a node, not of a user");
        if (!tls_->trusts(wire))
            refuse_unknown("the certificate is revoked, has expired or is of another authority");
        return {info.user, false, info.roles, info.rules};
    }

    // httplib refuses what it does not know, such as a further method, without a word.
    static void explain(httplib::Response& response) {
        if (!response.body.empty()) return;
        const auto status = response.status;
        http::answer_error(response,
                           {status, "bad_request", "the request is malformed or too large"});
    }

    // An answer that refuses before the rest of its request was read is the last one.
    static void finish(httplib::Response& response) {
        if (response.status == 401) response.set_header("WWW-Authenticate", "Bearer");
        auto& connection = http::HttpServer::current();
        if (response.status >= 400) connection.end_after_answer();
        if (!connection.is_last()) return;
        response.headers.erase("Keep-Alive");
        if (!response.has_header("Connection")) response.set_header("Connection", "close");
    }

    void warn_of_others() const {
        if (address_.is_loopback() || options_.tls.is_set()) return;
        const auto where = address_.to_string();
        log_.warn("http_reachable",
                  "http: listens on " + where + ", which other machines reach, without TLS",
                  {{"address", where}});
    }

    void warn_of_tokens(const std::string& why) const {
        log_.warn("http_tokens_refused", "http: keeps its former tokens: " + why,
                  {{"reason", why}});
    }

    const pid_t process_ = ::getpid();
    const HttpDoorOptions options_;
    http::ListenAddress address_;
    door::Followed<door::Tokens> tokens_;
    const std::string cluster_;
    std::optional<door::Tls> tls_;
    http::Descriptor listening_;
    const http::OwnNames names_;
    const detail::SideLog log_;
    door::Sessions sessions_;
    std::optional<http::ParkedLoop> parked_;
    door::Api api_;
    http::HttpServer server_;
    std::mutex closing_;
    std::optional<http::ConnectionThreads> connections_;  // last: they use all of the others
};

void HttpDoor::check(const HttpDoorOptions& options) {
    const http::OwnNames names{checked_address(options), names_of(options)};
    static_cast<void>(names);  // its constructor checks the names
    static_cast<void>(tokens_of(options));
    if (options.tls.is_set()) static_cast<void>(door::Tls{options.tls});
}

HttpDoor::HttpDoor(Node& node, HttpDoorOptions options)
    : impl_{std::make_unique<Impl>(node, std::move(options))} {}

HttpDoor::~HttpDoor() {
    close();
    if (impl_ && impl_->is_forked()) (void)impl_.release();
}

HttpDoor::HttpDoor(HttpDoor&&) noexcept = default;

HttpDoor& HttpDoor::operator=(HttpDoor&& other) noexcept {
    if (this == &other) return *this;
    close();
    if (impl_ && impl_->is_forked()) (void)impl_.release();
    impl_ = std::move(other.impl_);
    return *this;
}

std::string HttpDoor::address() const {
    return impl_->address().to_string();
}

std::string HttpDoor::url() const {
    auto shown = impl_->address();
    if (shown.is_any()) shown.host = shown.is_v6() ? "::1" : "127.0.0.1";
    return (impl_->has_tls() ? "https://" : "http://") + shown.to_string();
}

void HttpDoor::close() noexcept {
    if (impl_ && !impl_->is_forked()) impl_->close();
}

}  // namespace mortise
