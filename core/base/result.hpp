// A value or an error. The member names are those of std::expected, which replaces it when the
// supported compilers have it.
#pragma once

#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <variant>

#include "core/base/check.hpp"

namespace mortise::core {

// An error of the environment: a code for decisions, and one sentence for a person.
struct Error {
    std::error_code code;
    std::string what;
};

template <class T>
class [[nodiscard]] Result {
public:
    using value_type = T;
    using error_type = Error;

    // NOLINTNEXTLINE(google-explicit-constructor): `return value;` is the point.
    Result(T value) : is_{std::in_place_index<0>, std::move(value)} {}
    // NOLINTNEXTLINE(google-explicit-constructor)
    Result(Error error) : is_{std::in_place_index<1>, std::move(error)} {}

    [[nodiscard]] bool has_value() const { return is_.index() == 0; }
    explicit operator bool() const { return has_value(); }

    // Require a value.
    [[nodiscard]] T& value() & { return get(); }
    [[nodiscard]] const T& value() const& { return get(); }
    [[nodiscard]] T&& value() && { return std::move(get()); }
    T& operator*() & { return get(); }
    const T& operator*() const& { return get(); }
    T&& operator*() && { return std::move(get()); }
    T* operator->() { return &get(); }
    const T* operator->() const { return &get(); }

    // Require an error.
    [[nodiscard]] const Error& error() const& {
        MORTISE_CHECK(!has_value());
        return *std::get_if<1>(&is_);
    }
    [[nodiscard]] Error&& error() && {
        MORTISE_CHECK(!has_value());
        return std::move(*std::get_if<1>(&is_));
    }

    template <class Other>
    [[nodiscard]] T value_or(Other&& other) const& {
        return has_value() ? get() : static_cast<T>(std::forward<Other>(other));
    }

private:
    T& get() {
        MORTISE_CHECK(has_value());
        return *std::get_if<0>(&is_);
    }
    const T& get() const {
        MORTISE_CHECK(has_value());
        return *std::get_if<0>(&is_);
    }

    std::variant<T, Error> is_;
};

template <>
class [[nodiscard]] Result<void> {
public:
    using value_type = void;
    using error_type = Error;

    Result() = default;
    // NOLINTNEXTLINE(google-explicit-constructor): `return error;` is the point.
    Result(Error error) : error_{std::move(error)} {}

    [[nodiscard]] bool has_value() const { return !error_; }
    explicit operator bool() const { return has_value(); }
    void value() const { MORTISE_CHECK(has_value()); }

    // Require an error.
    [[nodiscard]] const Error& error() const& {
        MORTISE_CHECK(error_.has_value());
        return *error_;
    }
    [[nodiscard]] Error&& error() && {
        MORTISE_CHECK(error_.has_value());
        return std::move(*error_);
    }

private:
    std::optional<Error> error_;
};

}  // namespace mortise::core
