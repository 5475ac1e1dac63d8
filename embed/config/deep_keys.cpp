#include "embed/config/deep_keys.hpp"

#include <algorithm>

namespace mortise::detail {

namespace {

// Counts the dots between two characters that cannot be within a key. Values have few dots outside
// of quotes.
class DotCounter {
public:
    explicit DotCounter(std::string_view toml) : rest_{toml} {}

    std::optional<std::size_t> line_of_deep_key() {
        while (!rest_.empty()) {
            step();
            if (dots_ > key_dots_max) return line_;
        }
        return std::nullopt;
    }

private:
    void step() {
        const char c = rest_.front();
        if (c == '"' || c == '\'') return skip_string(c);
        if (c == '#') return skip(std::min(rest_.find('\n'), rest_.size()));
        if (c == '.') ++dots_;
        if (std::string_view{"\n=,[]{}"}.find(c) != std::string_view::npos) dots_ = 0;
        skip(1);
    }

    // A string in one pair of quotation marks ends with its line, also if its end is missing.
    void skip_string(char quote) {
        const char three[] = {quote, quote, quote};
        const bool is_long = rest_.starts_with(std::string_view{three, 3});
        const std::string_view end{three, is_long ? 3U : 1U};
        skip(end.size());
        while (!rest_.empty() && !rest_.starts_with(end)) {
            if (rest_.front() == '\n' && !is_long) return;
            const bool is_escape =
                quote == '"' && (rest_.starts_with("\\\"") || rest_.starts_with("\\\\"));
            skip(is_escape ? 2 : 1);
        }
        skip(end.size());
        while (is_long && rest_.starts_with(quote))  // up to two more belong to the string
            skip(1);
    }

    void skip(std::size_t size) {
        const auto skipped = rest_.substr(0, size);
        line_ += static_cast<std::size_t>(std::ranges::count(skipped, '\n'));
        rest_.remove_prefix(skipped.size());
    }

    std::string_view rest_;
    std::size_t line_ = 1;
    std::size_t dots_ = 0;
};

}  // namespace

std::optional<std::size_t> line_of_deep_key(std::string_view toml) {
    return DotCounter{toml}.line_of_deep_key();
}

}  // namespace mortise::detail
