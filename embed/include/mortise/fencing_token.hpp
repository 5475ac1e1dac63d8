// A number by which a resource recognizes writes of a former holder. For two conflicting grants of
// a name the later one has the greater token, for ever. Store the largest token seen beside the
// protected data, and refuse smaller ones.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

namespace mortise {

class FencingToken {
public:
    constexpr FencingToken() = default;  // none

    [[nodiscard]] static constexpr FencingToken from_raw(std::int64_t raw) noexcept {
        return FencingToken{raw};
    }
    // For storing and sending; 0 means none. Fits the signed integers of databases.
    [[nodiscard]] constexpr std::int64_t raw() const noexcept { return raw_; }
    [[nodiscard]] constexpr bool is_set() const noexcept { return raw_ != 0; }
    // The number in decimal.
    [[nodiscard]] std::string to_string() const;

    friend constexpr bool operator==(FencingToken, FencingToken) = default;
    friend constexpr auto operator<=>(FencingToken, FencingToken) = default;

private:
    constexpr explicit FencingToken(std::int64_t raw) : raw_{raw} {}

    std::int64_t raw_ = 0;
};

[[nodiscard]] std::string to_string(FencingToken token);
std::ostream& operator<<(std::ostream& out, FencingToken token);

}  // namespace mortise

template <>
struct std::hash<mortise::FencingToken> {
    std::size_t operator()(mortise::FencingToken token) const noexcept {
        return std::hash<std::int64_t>{}(token.raw());
    }
};
