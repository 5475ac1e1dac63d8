// Writes lines to standard error without waiting for its reader. A line that does not fit is
// dropped.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include <spdlog/sinks/base_sink.h>

namespace mortise::detail {

// Thread-safe. Does not change descriptor 2 and its flags.
class StderrSink final : public spdlog::sinks::base_sink<std::mutex> {
public:
    // The number of dropped lines.
    [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }

protected:
    void sink_it_(const spdlog::details::log_msg& message) override;
    void flush_() override {}

private:
    std::atomic<std::uint64_t> dropped_{0};
};

}  // namespace mortise::detail
