// Whose turn it is to begin a handshake: sources take turns, so that one that connects often does
// not keep the others out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <asio/ip/address.hpp>

#include "transport/sockets/address.hpp"

namespace mortise::transport {

class HandshakeTurns {
public:
    static constexpr std::size_t sources_max = 256;

    // The source begins a handshake now. If there are too many sources, the one whose turn is the
    // longest ago is forgotten.
    void took(const asio::ip::address& source) {
        std::erase_if(sources_, [&](const auto& one) { return is_same_source(one, source); });
        if (sources_.size() == sources_max) sources_.erase(sources_.begin());
        sources_.push_back(source);
    }
    // Returns a number that is lower the longer ago the last turn of the source was. Zero: it has
    // had none, as far as is known.
    [[nodiscard]] std::size_t last_of(const asio::ip::address& source) const {
        const auto its = std::ranges::find_if(
            sources_, [&](const auto& one) { return is_same_source(one, source); });
        if (its == sources_.end()) return 0;
        return static_cast<std::size_t>(its - sources_.begin()) + 1;
    }
    [[nodiscard]] std::size_t sources() const { return sources_.size(); }

private:
    std::vector<asio::ip::address> sources_;  // the newest turn is the last
};

}  // namespace mortise::transport
