// Which requests are answered at all: only those that no other web site can have made a browser
// send. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <httplib.h>

#include "embed/console/listen_address.hpp"

namespace mortise::console {

struct Refusal {
    int status = 400;
    std::string_view error;  // a word
    std::string reason;      // a sentence
};

// The names under which the console is reached. A page of another site can give its own name the
// console's address (DNS rebinding), but then its requests carry that name.
class OwnNames {
public:
    // `further` are names or addresses, with or without a port. Throws std::system_error with
    // invalid_argument for one that no browser could send.
    OwnNames(const ListenAddress& address, std::vector<std::string> further);

    // `host` is the value of the header Host, with or without a port.
    [[nodiscard]] bool contain(std::string_view host) const;

private:
    bool is_any_;
    std::vector<std::string> names_;
};

// Empty if the request may be answered.
[[nodiscard]] std::optional<Refusal> refusal(const httplib::Request& request,
                                             const OwnNames& names);
// What is asked of a request that changes something, beyond refusal().
[[nodiscard]] std::optional<Refusal> change_refusal(const httplib::Request& request);

// The longest body of a request.
inline constexpr std::size_t body_bytes_max = 8 << 10U;

}  // namespace mortise::console
