// Observes a cluster from outside, through one member after the other (Remote::observe).
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/instant.hpp"
#include "core/observe/observed.hpp"
#include "transport/clients/blocking_member_client.hpp"
#include <mortise/observe.hpp>

namespace mortise::detail {

class RemoteObserver {
public:
    struct Sinks {
        const EventSink& event;
        const std::function<void(std::string_view address, std::string_view problem)>& moved;
    };

    // `patience` is that for one member.
    RemoteObserver(std::vector<std::string> addresses, core::Nanoseconds patience,
                   std::shared_ptr<const transport::TlsCredentials> credentials,
                   std::shared_ptr<transport::EndpointMemory> memory)
        : addresses_{std::move(addresses)},
          patience_{patience},
          credentials_{std::move(credentials)},
          memory_{std::move(memory)} {}

    void run(const core::ObservedNames& names, const Position& from, const Sinks& sinks,
             const std::stop_token& stop);

private:
    // Why it does not go on with a member.
    using Problem = core::Error;

    [[nodiscard]] Problem follow(const std::string& address, const core::ObservedNames& names,
                                 const Sinks& sinks, const std::stop_token& stop);
    void take(transport::ObserveReply& reply, const Sinks& sinks);
    [[nodiscard]] bool is_left(const transport::ObserveReply& reply);

    std::vector<std::string> addresses_;
    core::Nanoseconds patience_;
    std::shared_ptr<const transport::TlsCredentials> credentials_;
    std::shared_ptr<transport::EndpointMemory> memory_;

    core::Position reached_;
    bool has_replied_ = false;      // the member that it follows
    std::size_t left_unready_ = 0;  // members in turn that were not ready
};

}  // namespace mortise::detail
