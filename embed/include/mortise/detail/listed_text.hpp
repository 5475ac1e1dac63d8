// An element of a braced list of names or keys. Not for use by programs.
#pragma once

#include <concepts>
#include <string_view>

namespace mortise::detail {

// It is made from one text only. A std::string_view would also take {"a", "b"} for the begin and
// the end of one text, and read whatever lies between them.
class ListedText {
public:
    template <class Text>
    requires std::convertible_to<const Text&, std::string_view>
    // NOLINTNEXTLINE(google-explicit-constructor,hicpp-explicit-conversions): a list holds texts
    ListedText(const Text& text) : view_{text} {}

    [[nodiscard]] std::string_view view() const noexcept { return view_; }

private:
    std::string_view view_;
};

}  // namespace mortise::detail
