// Writes samples in the text format of Prometheus.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <mortise/metrics.hpp>

namespace mortise::detail {

using PrometheusLabels = std::vector<std::pair<std::string_view, std::string>>;

// One metric after the other, each with all of its samples.
class PrometheusWriter {
public:
    enum class Type : std::uint8_t { counter, gauge, histogram };

    // The name is that of the samples, without the suffixes of a histogram. The name and the help
    // are text of this program.
    void begin(std::string_view name, Type type, std::string_view help);
    // The labels of all samples until the next call.
    void set_common(PrometheusLabels labels) { common_ = std::move(labels); }

    void add(std::uint64_t value, const PrometheusLabels& labels = {});
    void add_bool(bool value) { add(value ? 1U : 0U); }
    void add_seconds(Duration value, const PrometheusLabels& labels = {});
    void add(const DurationHistogram& histogram);

    [[nodiscard]] std::string take() { return std::move(text_); }

private:
    void sample(std::string_view suffix, const PrometheusLabels& labels, std::string_view value);

    std::string text_;
    std::string name_;
    PrometheusLabels common_;
};

}  // namespace mortise::detail
