// The members that a client may use, each with a place in a list. Those of a file are fixed; those
// of a name change while the client runs, and their number with them. So a name has a fixed number
// of places, and what it leads to now is spread over them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <asio/io_context.hpp>

#include "core/base/instant.hpp"
#include "embed/runtime/name_lookup.hpp"

namespace mortise::detail {

// How many places the members of that configuration have.
[[nodiscard]] std::size_t places_of(const Config& config);

// Spreads the addresses over the places. An address that has places keeps one at least; if there
// are more addresses than places, those that have one stay.
void spread(std::vector<std::string>& places, const std::vector<std::string>& addresses);

class MemberPlaces {
public:
    // `changed` is called when other addresses were found. References outlive it.
    MemberPlaces(asio::io_context& io, const Config& config, NodeLog& log,
                 std::function<void()> changed);

    [[nodiscard]] std::size_t size() const { return places_.size(); }
    [[nodiscard]] const std::string& at(std::size_t place) const { return places_.at(place); }
    [[nodiscard]] bool has(const std::string& address) const;
    // Looks the name up, if there is one: at most once a second.
    void look_up(core::Instant now);
    void stop() { lookup_.stop(); }

private:
    bool finds_;
    std::vector<std::string> places_;
    std::function<void()> changed_;
    NameLookup lookup_;
    core::Instant next_{};
};

}  // namespace mortise::detail
