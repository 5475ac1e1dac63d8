#include "embed/host/tls_watch.hpp"

#include <algorithm>
#include <utility>

#include "embed/threads/thread_start.hpp"
#include <mortise/certificates.hpp>

namespace mortise::detail {

namespace {

using namespace std::chrono_literals;

constexpr auto look_every = 5s;

std::string in_words(Expiry expiry) {
    switch (expiry) {
        case Expiry::far: return "is valid for more than 30 days";
        case Expiry::days_30: return "expires within 30 days";
        case Expiry::days_7: return "expires within 7 days";
        case Expiry::day_1: return "expires within a day";
        case Expiry::expired: break;
    }
    return "has expired: new connections that rely on it are refused; issue another one "
           "(mortise cert issue)";
}

}  // namespace

Expiry expiry_at(SystemTime now, SystemTime expires) {
    constexpr auto day = 24h;
    if (expires <= now) return Expiry::expired;
    if (expires <= now + day) return Expiry::day_1;
    if (expires <= now + 7 * day) return Expiry::days_7;
    if (expires <= now + 30 * day) return Expiry::days_30;
    return Expiry::far;
}

std::string tls_problem(const core::Error& error) {
    if (error.code == std::errc::no_such_file_or_directory)
        return error.what + "; mortise cert issue makes the files";
    if (error.code == std::errc::permission_denied)
        return error.what + "; run as its owner, or name a file that this user may read";
    return error.what;
}

transport::TlsFiles tls_files(const TlsConfig& tls) {
    return {std::filesystem::absolute(tls.certificate), std::filesystem::absolute(tls.key),
            std::filesystem::absolute(tls.ca),
            tls.revoked.empty() ? tls.revoked : std::filesystem::absolute(tls.revoked)};
}

core::Result<TlsWatch::Credentials> load_credentials(const transport::TlsFiles& files,
                                                     const std::string& cluster, NodeId node) {
    auto loaded = transport::TlsCredentials::load(files);
    if (!loaded) {
        return core::Error{loaded.error().code, "tls: " + tls_problem(loaded.error())};
    }
    const auto& identity = (*loaded)->identity();
    const bool fits =
        identity.cluster == cluster && (node == 0 || identity.node == core::NodeId{node});
    if (fits) return loaded;
    const auto wanted =
        (node == 0 ? "" : "node " + std::to_string(node) + " of ") + "cluster " + cluster;
    return core::Error{std::make_error_code(std::errc::bad_message),
                       "tls.certificate: " + files.certificate.string() + " is that of " +
                           identity.name() + " of cluster " + identity.cluster + ", not of " +
                           wanted +
                           ": name the files of this node, or issue them (mortise cert "
                           "issue)"};
}

TlsWatch::TlsWatch(const Config& config, Parts parts)
    : files_{tls_files(config.tls)},
      cluster_{config.cluster},
      node_{config.own_id()},
      parts_{std::move(parts)},
      seen_{stamps()} {
    auto loaded = load_credentials(files_, cluster_, node_);
    if (!loaded) throw CertificateError{loaded.error().code, loaded.error().what};
    credentials_ = std::move(*loaded);
}

void TlsWatch::start() {
    thread_ = start_thread_named("mortise-tls", [this] { run(); });
}

void TlsWatch::begin_stop() {
    {
        const std::scoped_lock lock{mutex_};
        stopped_ = true;
    }
    changed_.notify_all();
}

void TlsWatch::stop() {
    begin_stop();
    if (thread_.joinable()) thread_.join();
}

TlsWatch::Credentials TlsWatch::credentials() const {
    const std::scoped_lock lock{mutex_};
    return credentials_;
}

core::Result<void> TlsWatch::reload() {
    const std::scoped_lock reloading{reloading_};
    const auto found = stamps();
    auto loaded = load_credentials(files_, cluster_, node_);
    if (!loaded) return std::move(loaded).error();
    if (auto better = is_better(**loaded, *credentials()); !better) return better;
    const auto changed = changed_between(seen_, found);
    seen_ = found;
    const bool has_other_rights = (*loaded)->identity().access != credentials()->identity().access;
    {
        const std::scoped_lock lock{mutex_};
        credentials_ = *loaded;
        renewed_ = true;
    }
    changed_.notify_all();
    parts_.log.info("certificates_changed", "uses its new " + changed);
    if (has_other_rights)
        parts_.log.warn("certificate_rights_changed",
                        "the new certificate has other roles or rules than the former one: "
                        "they take effect at the next start of this node");
    parts_.changed(std::move(*loaded));
    return {};
}

core::Result<void> TlsWatch::is_better(const transport::TlsCredentials& next,
                                       const transport::TlsCredentials& present) {
    const auto now = std::chrono::system_clock::now();
    if (next.certificate_expires() > now || present.certificate_expires() <= now) return {};
    return core::Error{std::make_error_code(std::errc::bad_message),
                       "tls.certificate: it has expired, and the present one has not"};
}

Duration TlsWatch::time_left() const {
    const auto now = credentials();
    const auto expires = std::min(now->certificate_expires(), now->authority_expires());
    return std::max<Duration>(Duration::zero(), expires - std::chrono::system_clock::now());
}

// A missing thread or a brief lack of memory is no reason to stop the node.
void TlsWatch::run() {
    while (true) {
        try {
            reload_if_changed();
            warn_of_expiry();
        } catch (const std::exception& error) {
            parts_.log.warn("certificates_unwatched",
                            std::string{"cannot watch the certificates: "} + error.what(),
                            {{"reason", error.what()}});
        }
        std::unique_lock lock{mutex_};
        changed_.wait_for(lock, look_every, [this] { return stopped_ || renewed_; });
        if (stopped_) return;
        if (std::exchange(renewed_, false)) warned_certificate_ = warned_authority_ = Expiry::far;
    }
}

TlsWatch::Stamps TlsWatch::stamps() const {
    return {FileStamp::of(files_.certificate), FileStamp::of(files_.key),
            FileStamp::of(files_.authorities), FileStamp::of(files_.revoked)};
}

// The list of revoked certificates is the last file.
std::string TlsWatch::changed_between(const Stamps& used, const Stamps& found) {
    const std::string list = "list of revoked certificates";
    if (used.back() == found.back()) return "certificates";
    const bool has_others = !std::equal(used.begin(), used.end() - 1, found.begin());
    return has_others ? "certificates and " + list : list;
}

// Files are replaced one after the other, so an error may be temporary: unusable files are tried
// again each time, and reported once.
void TlsWatch::reload_if_changed() {
    std::string changed;
    {
        const std::scoped_lock reloading{reloading_};
        const auto found = stamps();
        if (found == seen_) return;
        changed = changed_between(seen_, found);
    }
    const auto reloaded = reload();
    const auto problem = reloaded ? std::string{} : reloaded.error().what;
    if (!problem.empty() && problem != refused_)
        parts_.log.warn("certificates_refused", "keeps its former " + changed + ": " + problem,
                        {{"reason", problem}});
    refused_ = problem;
}

void TlsWatch::warn_of_expiry() {
    const auto now = credentials();
    warn("this node's certificate", warned_certificate_, now->certificate_expires());
    warn("an authority in tls.ca", warned_authority_, now->authority_expires());
}

void TlsWatch::warn(const std::string& what, Expiry& told, SystemTime expires) {
    const auto expiry = expiry_at(std::chrono::system_clock::now(), expires);
    if (expiry <= told) return;
    told = expiry;
    const auto text = what + " " + in_words(expiry);
    parts_.log.write(expiry >= Expiry::day_1 ? LogLevel::error : LogLevel::warn,
                     "certificate_expires", text, {{"certificate", what}});
    parts_.events.publish({.kind = NodeEvent::Kind::certificate_expires, .text = text});
}

}  // namespace mortise::detail
