// What the door answers: each path with its method. docs/openapi.json describes the same, and a
// test compares the two.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mortise::door {

enum class Act : std::uint8_t {
    hold,
    lead,
    leader,
    follow,
    list,
    inspect,
    events,
    status,
    description,
    open_session,
    show_session,
    keep_session,
    end_session,
    acquire,
    show_hold,
    release,
};

// Its answer holds, or goes on.
[[nodiscard]] constexpr bool is_stream(Act act) {
    return act == Act::hold || act == Act::lead || act == Act::follow || act == Act::events;
}

struct Route {
    std::string_view method;
    std::string_view path;  // {name} is the rest, with its slashes; others are one part
    Act act;
};

inline constexpr std::array routes{
    Route{"GET", "/v1/hold/{name}", Act::hold},
    Route{"GET", "/v1/lead/{name}", Act::lead},
    Route{"GET", "/v1/leader/{name}", Act::leader},
    Route{"GET", "/v1/follow/{name}", Act::follow},
    Route{"GET", "/v1/locks", Act::list},
    Route{"GET", "/v1/locks/{name}", Act::inspect},
    Route{"GET", "/v1/events", Act::events},
    Route{"GET", "/v1/status", Act::status},
    Route{"HEAD", "/v1/status", Act::status},  // what looks whether a server is there
    Route{"GET", "/v1/openapi.json", Act::description},
    Route{"POST", "/v1/sessions", Act::open_session},
    Route{"GET", "/v1/sessions/{session}", Act::show_session},
    Route{"DELETE", "/v1/sessions/{session}", Act::end_session},
    Route{"POST", "/v1/sessions/{session}/alive", Act::keep_session},
    Route{"POST", "/v1/sessions/{session}/holds", Act::acquire},
    Route{"GET", "/v1/sessions/{session}/holds/{hold}", Act::show_hold},
    Route{"DELETE", "/v1/sessions/{session}/holds/{hold}", Act::release},
};

struct Found {
    Act act{};
    std::vector<std::string> parts;  // what stands for the {...}, decoded
};

// What a target, the second word of a request, leads to. `allowed` receives the methods of its
// path, such as "GET, DELETE", if it has another one.
[[nodiscard]] std::optional<Found> find_route(std::string_view method, std::string_view target,
                                              std::string& allowed);
// Undoes the encoding with percent signs; empty if it is malformed.
[[nodiscard]] std::optional<std::string> decoded(std::string_view text);

}  // namespace mortise::door
