// The number that tells a resource whether the holder who writes to it is the newest one. Of two
// conflicting grants of a name the later has the greater token, for ever. Store the highest that
// was seen beside what is protected, and refuse smaller ones.
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
    // To be stored and sent as it is; 0 for none. Fits the signed integers of databases.
    [[nodiscard]] constexpr std::int64_t raw() const noexcept { return raw_; }
    [[nodiscard]] constexpr bool is_set() const noexcept { return raw_ != 0; }
    // In decimal.
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
