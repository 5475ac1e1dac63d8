// Reads the text format of Prometheus, version 0.0.4, and refuses what breaks its rules. It is
// written from the description of the format, not from the code that writes it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mortise::tests {

struct PrometheusSample {
    std::string name;  // with the suffix of a histogram
    std::map<std::string, std::string> labels;
    double value = 0;
};

struct PrometheusMetric {
    std::string help;
    std::string type;
    std::vector<PrometheusSample> samples;
};

using PrometheusMetrics = std::map<std::string, PrometheusMetric>;

// Throws std::runtime_error with the number of the line and what is wrong.
[[nodiscard]] PrometheusMetrics read_prometheus(std::string_view text);
// The value of the only sample with these labels, among others. Throws std::runtime_error.
[[nodiscard]] double value_of(const PrometheusMetrics& metrics, const std::string& sample,
                              const std::map<std::string, std::string>& labels = {});

}  // namespace mortise::tests
