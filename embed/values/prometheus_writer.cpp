#include "embed/values/prometheus_writer.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <utility>

#include <mortise/escaped.hpp>

namespace mortise::detail {

namespace {

// Independent of the locale, and the shortest text that is the same number.
std::string in_digits(double value) {
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    return {digits.data(), end};
}

double seconds_of(Duration duration) {
    return std::chrono::duration<double>{duration.to_nanoseconds()}.count();
}

// A label may contain any UTF-8; what is none was escaped before.
std::string quoted_label(std::string_view value) {
    std::string text = "\"";
    for (const char c : escaped(value)) {
        if (c == '\\' || c == '"') text += '\\';
        text += c;
    }
    return text + '"';
}

}  // namespace

void PrometheusWriter::begin(std::string_view name, Type type, std::string_view help) {
    constexpr std::array types{"counter", "gauge", "histogram"};
    name_ = name;
    text_ += "# HELP " + name_ + ' ' + std::string{help} + '\n';
    text_ += "# TYPE " + name_ + ' ' + types.at(static_cast<std::size_t>(type)) + '\n';
}

void PrometheusWriter::sample(std::string_view suffix, const PrometheusLabels& labels,
                              std::string_view value) {
    text_.append(name_).append(suffix);
    char before = '{';
    for (const PrometheusLabels* some : {&std::as_const(common_), &labels}) {
        for (const auto& [name, text] : *some) {
            text_.append(1, before).append(name).append(1, '=').append(quoted_label(text));
            before = ',';
        }
    }
    if (before == ',') text_ += '}';
    text_.append(1, ' ').append(value).append(1, '\n');
}

void PrometheusWriter::add(std::uint64_t value, const PrometheusLabels& labels) {
    sample({}, labels, std::to_string(value));
}

void PrometheusWriter::add_seconds(Duration value, const PrometheusLabels& labels) {
    sample({}, labels, in_digits(seconds_of(value)));
}

// The buckets of the text are cumulative, and so is the last one, which is the number of all.
void PrometheusWriter::add(const DurationHistogram& histogram) {
    constexpr double us_per_second = 1e6;
    std::uint64_t so_far = 0;
    for (std::size_t bucket = 0; bucket < histogram.counts.size(); ++bucket) {
        so_far += histogram.counts[bucket];
        const auto bound = DurationHistogram::bound(bucket);
        sample("_bucket", {{"le", bound.is_set() ? in_digits(seconds_of(bound)) : "+Inf"}},
               std::to_string(so_far));
    }
    sample("_sum", {}, in_digits(static_cast<double>(histogram.sum_us) / us_per_second));
    sample("_count", {}, std::to_string(so_far));
}

}  // namespace mortise::detail
