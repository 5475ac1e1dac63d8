// Observes a cluster from outside, through one member after the other (Remote::observe).
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/observe/observed.hpp"
#include "embed/api/remote_members.hpp"
#include "embed/runtime/unready_members.hpp"
#include <mortise/observe.hpp>

namespace mortise::detail {

class RemoteObserver {
public:
    struct Sinks {
        const EventSink& event;
        const std::function<void(std::string_view address, std::string_view problem)>& moved;
    };

    explicit RemoteObserver(const RemoteMembers& members) : members_{members} {}

    void run(const core::ObservedNames& names, const Position& from, const Sinks& sinks,
             const std::stop_token& stop);

private:
    // Returns why it does not go on with this member.
    [[nodiscard]] core::Error follow(const std::string& address, const core::ObservedNames& names,
                                     const Sinks& sinks, const std::stop_token& stop);
    void take(transport::ObserveReply& reply, const Sinks& sinks);

    RemoteMembers members_;
    core::Position reached_;
    bool has_replied_ = false;  // the member that it follows
    UnreadyMembers unready_;
};

}  // namespace mortise::detail
