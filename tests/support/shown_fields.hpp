// Whether all fields of a struct have their part in what is made of the struct, for example its
// JSON.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <mortise/duration.hpp>
#include <mortise/fencing_token.hpp>
#include <mortise/info.hpp>
#include <mortise/observe.hpp>
#include <mortise/remote.hpp>

namespace mortise::tests {

// Each gives the field another value.
inline void change(bool& field) {
    field = !field;
}
inline void change(std::string& field) {
    field += 'x';
}
inline void change(Duration& field) {
    field = std::chrono::seconds{7};
}
inline void change(FencingToken& field) {
    field = FencingToken::from_raw(field.raw() + 1);
}
inline void change(Position& field) {
    field = Position::from_string("4711.2").value();
}
inline void change(std::error_code& field) {
    field = make_error_code(std::errc::io_error);
}
inline void change(HolderInfo& field) {
    change(field.token);
}
inline void change(Origin& field) {
    change(field.host);
}
inline void change(Status& field) {
    ++field.id;
}
inline void change(TimingOfMember& field) {
    change(field.heartbeat);
}
template <class Number>
requires std::is_arithmetic_v<Number>
void change(Number& field) {
    ++field;
}
template <class Enum>
requires std::is_enum_v<Enum>
void change(Enum& field) {
    field = static_cast<Enum>(static_cast<int>(field) + 1);
}
template <class Item>
void change(std::vector<Item>& field) {
    field.emplace_back();
}
template <class Value>
void change(std::optional<Value>& field) {
    field.emplace();
}

// Changes one field after the other, each of which has to change what `shown` returns. If the
// fields come from a structured binding, a field that is added to the struct does not compile
// before it is named there:
//
//   auto& [node, session] = member;
//   expect_each_shown([&] { return text_of(member); }, node, session);
template <class Shown, class... Fields>
void expect_each_shown(const Shown& shown, Fields&... fields) {
    std::size_t number = 0;
    auto before = shown();
    const auto expect_shown = [&](auto& field) {
        change(field);
        auto after = shown();
        EXPECT_NE(after, before) << "field " << ++number << " has no part in it";
        before = std::move(after);
    };
    (expect_shown(fields), ...);
}

}  // namespace mortise::tests
