#include "transport/sockets/network_values.hpp"

namespace mortise::transport {

void NetworkCounters::count(Refusal refusal) {
    switch (refusal) {
        case Refusal::protocol: ++refused_protocol; return;
        case Refusal::cluster_name:
        case Refusal::wrong_cluster: ++refused_cluster; return;
        case Refusal::identity:
        case Refusal::id_in_use:
        case Refusal::unknown_node:
        case Refusal::wrong_node: ++refused_identity; return;
        case Refusal::stale:
        case Refusal::copied: ++refused_stale; return;
        default: ++refused_other;
    }
}

}  // namespace mortise::transport
