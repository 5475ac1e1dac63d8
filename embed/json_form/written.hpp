// JSON that is only written. It has what Fields uses of nlohmann's, and needs no memory to be
// destroyed, so a program that runs out of memory goes on.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "embed/json_form/plain_text.hpp"

namespace mortise::json_form {

class Written {
public:
    struct Member;
    class Place;

    // NOLINTBEGIN(google-explicit-constructor,hicpp-explicit-conversions): as with nlohmann
    Written(std::nullptr_t) : text_{"null"} {}
    template <std::integral Number>
    Written(Number number) {
        if constexpr (std::same_as<Number, bool>)
            text_ = number ? "true" : "false";
        else
            text_ = std::to_string(number);
    }
    // The text is valid UTF-8.
    Written(std::string_view text) { write(text); }
    Written(const std::string& text) : Written{std::string_view{text}} {}
    template <std::integral Number>
    Written(const std::vector<Number>& numbers) : Written{array()} {
        for (const auto number : numbers)
            push_back(number);
    }
    Written(std::initializer_list<Member> members);
    // NOLINTEND(google-explicit-constructor,hicpp-explicit-conversions)

    [[nodiscard]] static Written array() { return Written{Raw{"[]"}}; }
    [[nodiscard]] static Written object() { return Written{Raw{"{}"}}; }

    // Of an array.
    void push_back(const Written& element) { append(element.text_); }
    // A member that the object does not have yet; it is assigned to once.
    [[nodiscard]] Place operator[](std::string_view key);

    [[nodiscard]] const std::string& text() const& { return text_; }
    [[nodiscard]] std::string text() && { return std::move(text_); }

private:
    struct Raw {
        std::string_view text;
    };
    explicit Written(Raw raw) : text_{raw.text} {}

    // Before the end of the list.
    void append(std::string_view part) {
        const char end = text_.back();
        text_.pop_back();
        if (text_.size() > 1) text_ += ',';
        text_.append(part) += end;
    }
    void add(std::string_view key, const Written& value) {
        append(Written{key}.text_ + ':' + value.text_);
    }
    void write(std::string_view text) {
        text_ = '"';
        for (const char each : text)
            write(each);
        text_ += '"';
    }
    void write(char each) {
        const auto byte = static_cast<unsigned char>(each);
        if (each == '"' || each == '\\') {
            (text_ += '\\') += each;
        } else if (byte < 0x20) {
            ((text_ += "\\u00") += hex_digits[byte >> 4U]) += hex_digits[byte & 15U];
        } else {
            text_ += each;
        }
    }

    std::string text_;
};

struct Written::Member {
    std::string_view key;
    Written value;
};

// Where a member goes.
class Written::Place {
public:
    void operator=(const Written& value) && { object_.add(key_, value); }

private:
    friend class Written;
    Place(Written& object, std::string_view key) : object_{object}, key_{key} {}

    Written& object_;
    const std::string_view key_;
};

inline Written::Written(std::initializer_list<Member> members) : Written{object()} {
    for (const auto& [key, value] : members)
        add(key, value);
}

inline Written::Place Written::operator[](std::string_view key) {
    return {*this, key};
}

}  // namespace mortise::json_form
