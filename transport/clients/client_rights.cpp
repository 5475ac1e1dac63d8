#include "transport/clients/client_rights.hpp"

namespace mortise::transport {

std::optional<core::Denied> client_denial(const Caller& caller, core::Right right,
                                          std::string_view name) {
    if (caller.identity != nullptr) {
        const auto& access = caller.identity->access;
        if (access.may(right, name)) return std::nullopt;
        return core::denial(caller.identity->name(), access, right, name);
    }
    if (right == core::Right::observe || caller.is_local) return std::nullopt;
    return core::Denied{right == core::Right::members
                            ? "without TLS a cluster is changed from a member's own machine"
                            : "without TLS a lock is broken from a member's own machine"};
}

}  // namespace mortise::transport
