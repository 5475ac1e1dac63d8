// Keeps a node's TLS credentials up to date: reads the files again when they change, and warns
// before a certificate expires.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "embed/host/log_sink.hpp"
#include "embed/threads/event_hub.hpp"
#include "transport/tls/tls_credentials.hpp"
#include <mortise/config.hpp>
#include <mortise/detail/file_stamp.hpp>

namespace mortise::detail {

using SystemTime = std::chrono::system_clock::time_point;

// The remaining time of a certificate.
enum class Expiry { far, days_30, days_7, day_1, expired };
[[nodiscard]] Expiry expiry_at(SystemTime now, SystemTime expires);

// The files with absolute paths, which stay valid when the host changes its working directory.
[[nodiscard]] transport::TlsFiles tls_files(const TlsConfig& tls);
// What is wrong with the files, and what to do about it.
[[nodiscard]] std::string tls_problem(const core::Error& error);
// Loads the files and checks that the certificate names the configured cluster and, if one is
// given, the node. Blocks on the disk.
[[nodiscard]] core::Result<std::shared_ptr<const transport::TlsCredentials>> load_credentials(
    const transport::TlsFiles& files, const std::string& cluster, NodeId node);

// Thread-safe.
class TlsWatch {
public:
    using Credentials = std::shared_ptr<const transport::TlsCredentials>;
    struct Parts {
        NodeLog& log;
        EventHub& events;
        // Called with new credentials, on the thread that read them.
        std::function<void(Credentials)> changed;
    };

    // Reads the files. Throws std::system_error with one line.
    TlsWatch(const Config& config, Parts parts);
    ~TlsWatch() { stop(); }
    TlsWatch(const TlsWatch&) = delete;
    TlsWatch& operator=(const TlsWatch&) = delete;

    // Starts a thread that checks the files every few seconds.
    void start();
    // The thread ends soon; it may be waiting for a disk.
    void begin_stop();
    // Waits for the thread.
    void stop();

    [[nodiscard]] Credentials credentials() const;
    // Reads the files now. If they cannot be used, the former credentials stay.
    core::Result<void> reload();
    // The time until the node's own certificate, or the first of the authorities, expires; zero if
    // one has.
    [[nodiscard]] Duration time_left() const;

private:
    using Stamps = std::array<FileStamp, 4>;

    void run();
    [[nodiscard]] Stamps stamps() const;
    // The files whose stamps differ, in words.
    [[nodiscard]] static std::string changed_between(const Stamps& used, const Stamps& found);
    void reload_if_changed();
    [[nodiscard]] static core::Result<void> is_better(const transport::TlsCredentials& next,
                                                      const transport::TlsCredentials& present);
    void warn_of_expiry();
    void warn(const std::string& what, Expiry& told, SystemTime expires);

    const transport::TlsFiles files_;
    const std::string cluster_;
    const NodeId node_;
    Parts parts_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool stopped_ = false;
    bool renewed_ = false;  // since the thread last checked
    Credentials credentials_;
    std::mutex reloading_;  // one reload at a time; held while the disk is read
    Stamps seen_;           // guarded by reloading_: the stamps of the files in use
    std::string refused_;   // used by the thread: why the present files cannot be used
    // Used by the thread only.
    Expiry warned_certificate_ = Expiry::far;
    Expiry warned_authority_ = Expiry::far;
    std::thread thread_;
};

}  // namespace mortise::detail
