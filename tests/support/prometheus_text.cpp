#include "tests/support/prometheus_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <stdexcept>

namespace mortise::tests {

namespace {

[[noreturn]] void refuse(const std::string& why) {
    throw std::runtime_error{why};
}

bool is_name(std::string_view text, bool with_colons) {
    const auto is_allowed = [&](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || (with_colons && c == ':');
    };
    return !text.empty() && (text[0] < '0' || text[0] > '9') &&
           std::ranges::all_of(text, is_allowed);
}

// Takes the part before the delimiter off `text`, with the delimiter.
std::string take_until(std::string_view& text, std::string_view delimiters) {
    const auto end = text.find_first_of(delimiters);
    if (end == std::string_view::npos) refuse("no " + std::string{delimiters});
    const std::string taken{text.substr(0, end)};
    text.remove_prefix(end);
    return taken;
}

std::string take_quoted(std::string_view& text) {
    std::string value;
    if (!text.starts_with('"')) refuse("a label without a quoted value");
    for (text.remove_prefix(1); !text.empty() && text[0] != '"'; text.remove_prefix(1)) {
        if (text[0] != '\\') {
            value += text[0];
            continue;
        }
        text.remove_prefix(1);
        if (text.empty()) break;
        if (text[0] != '\\' && text[0] != '"' && text[0] != 'n') refuse("an unknown escape");
        value += text[0] == 'n' ? '\n' : text[0];
    }
    if (text.empty()) refuse("a value without an end");
    text.remove_prefix(1);
    return value;
}

std::map<std::string, std::string> take_labels(std::string_view& text) {
    std::map<std::string, std::string> labels;
    for (char before = '{'; text.starts_with(before); before = ',') {
        text.remove_prefix(1);
        const auto name = take_until(text, "=");
        text.remove_prefix(1);
        if (!is_name(name, false)) refuse("no name of a label: " + name);
        if (!labels.emplace(name, take_quoted(text)).second) refuse("a label twice: " + name);
    }
    if (labels.empty()) return labels;
    if (!text.starts_with('}')) refuse("labels without an end");
    text.remove_prefix(1);
    return labels;
}

double number_of(std::string_view text) {
    if (text == "+Inf") return std::numeric_limits<double>::infinity();
    double value = 0;
    const auto* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    if (read.ec != std::errc{} || read.ptr != end) refuse("no number: " + std::string{text});
    return value;
}

PrometheusSample sample_of(std::string_view line) {
    PrometheusSample sample;
    sample.name = take_until(line, "{ ");
    if (!is_name(sample.name, true)) refuse("no name: " + sample.name);
    sample.labels = take_labels(line);
    if (!line.starts_with(' ')) refuse("no blank before the value");
    sample.value = number_of(line.substr(1));
    return sample;
}

class Reader {
public:
    void read(std::string_view line) {
        if (line.starts_with("# HELP ")) return begin(line.substr(7));
        if (line.starts_with("# TYPE ")) return set_type(line.substr(7));
        add(sample_of(line));
    }
    PrometheusMetrics take() {
        if (present_ != nullptr && present_->type.empty()) refuse("a metric without a type");
        return std::move(metrics_);
    }

private:
    // All lines of a metric are together, so it begins once.
    void begin(std::string_view text) {
        if (present_ != nullptr && present_->type.empty()) refuse("a metric without a type");
        name_ = take_until(text, " ");
        if (!is_name(name_, true)) refuse("no name: " + name_);
        const auto [place, is_new] = metrics_.try_emplace(name_);
        if (!is_new) refuse("a metric twice: " + name_);
        present_ = &place->second;
        present_->help = text.substr(1);
        if (present_->help.empty()) refuse("a help without text");
    }
    void set_type(std::string_view text) {
        const auto name = take_until(text, " ");
        if (present_ == nullptr || name != name_) refuse("a type without a help: " + name);
        if (!present_->type.empty()) refuse("a type twice: " + name);
        present_->type = text.substr(1);
        static const std::set<std::string> types{"counter", "gauge", "histogram"};
        if (!types.contains(present_->type)) refuse("an unknown type: " + present_->type);
    }
    void add(PrometheusSample sample) {
        if (present_ == nullptr || present_->type.empty()) refuse("a sample before its type");
        const bool is_histogram = present_->type == "histogram";
        const auto has_suffix = [&](const char* suffix) { return sample.name == name_ + suffix; };
        const bool fits = is_histogram
                              ? has_suffix("_bucket") || has_suffix("_sum") || has_suffix("_count")
                              : sample.name == name_;
        if (!fits) refuse("a sample among those of " + name_ + ": " + sample.name);
        if (has_suffix("_bucket") != sample.labels.contains("le")) refuse("a bucket and its bound");
        if (!samples_.emplace(sample.name, sample.labels).second) refuse("a sample twice");
        present_->samples.push_back(std::move(sample));
    }

    PrometheusMetrics metrics_;
    std::string name_;
    PrometheusMetric* present_ = nullptr;
    std::set<std::pair<std::string, std::map<std::string, std::string>>> samples_;
};

// The buckets of one histogram ascend, in their bounds and in their numbers, and the last one has
// everything.
void check_buckets(const std::string& name, const PrometheusMetric& metric) {
    std::optional<double> bound;
    double so_far = 0;
    for (const auto& sample : metric.samples) {
        if (sample.name == name + "_bucket") {
            const auto next = number_of(sample.labels.at("le"));
            if (bound && next <= *bound) refuse("bounds that do not ascend: " + name);
            if (bound && sample.value < so_far) refuse("buckets that shrink: " + name);
            bound = next;
            so_far = sample.value;
        } else if (sample.name == name + "_count") {
            if (!bound || !std::isinf(*bound)) refuse("no last bucket: " + name);
            if (sample.value != so_far) refuse("a count that is not the last bucket: " + name);
            bound.reset();
        }
    }
    if (bound) refuse("buckets without a count: " + name);
}

}  // namespace

PrometheusMetrics read_prometheus(std::string_view text) {
    Reader reader;
    std::size_t number = 1;
    try {
        for (; !text.empty(); ++number) {
            const auto line = take_until(text, "\n");
            text.remove_prefix(1);
            reader.read(line);
        }
        auto metrics = reader.take();
        for (const auto& [name, metric] : metrics)
            check_buckets(name, metric);
        return metrics;
    } catch (const std::runtime_error& error) {
        refuse("line " + std::to_string(number) + ": " + error.what());
    }
}

double value_of(const PrometheusMetrics& metrics, const std::string& sample,
                const std::map<std::string, std::string>& labels) {
    std::optional<double> found;
    for (const auto& [name, metric] : metrics) {
        for (const auto& one : metric.samples) {
            const bool fits = one.name == sample && std::ranges::all_of(labels, [&](auto& label) {
                                  const auto has = one.labels.find(label.first);
                                  return has != one.labels.end() && has->second == label.second;
                              });
            if (!fits) continue;
            if (found) refuse("several samples: " + sample);
            found = one.value;
        }
    }
    if (!found) refuse("no sample: " + sample);
    return *found;
}

}  // namespace mortise::tests
