#pragma once

#include <string>
#include <string_view>

namespace mortise::cli {

// Tells the service manager that started this process what it does: lines in a datagram to the
// socket that NOTIFY_SOCKET names, as sd_notify(3) describes (systemd, Type=notify). Without that
// variable every function does nothing. The first message that cannot be sent is reported on
// stderr; the next ones are sent nevertheless. Nothing here waits longer than a second.
class ServiceManager {
public:
    ServiceManager();

    // The node has opened its directory and listens. It may be ready much later, when a majority
    // of the cluster runs: `systemctl start` must not wait for other machines.
    void started();
    // For people who ask for the state of the service; it is sent when it changes.
    void describe(std::string_view status);
    // Between these two the files are read again.
    void reloading();
    void reloaded();
    void stopping();

private:
    void tell(std::string_view lines);
    [[nodiscard]] int send(std::string_view lines) const;

    const std::string socket_;  // empty: nobody wants to know
    std::string described_;
    bool has_failed_ = false;
};

}  // namespace mortise::cli
