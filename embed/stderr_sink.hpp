// Writes lines to standard error without waiting for its reader. A line that does not fit is
// dropped.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include <spdlog/sinks/base_sink.h>

namespace mortise::detail {

// Thread-safe. Leaves descriptor 2 and its flags as the program made them.
class StderrSink final : public spdlog::sinks::base_sink<std::mutex> {
public:
    // Lines that were dropped.
    [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }

protected:
    void sink_it_(const spdlog::details::log_msg& message) override;
    void flush_() override {}

private:
    std::atomic<std::uint64_t> dropped_{0};
};

}  // namespace mortise::detail
