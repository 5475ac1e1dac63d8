// Writes a worker's calls as JSON lines: one before a call is made, one when it has returned. A
// process that dies in a call has left the first line; history.py joins the two.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include <mortise/boot_clock.hpp>

namespace mortise::tests {

inline std::int64_t boot_nanoseconds() {
    return BootClock::now().time_since_epoch().count();
}

// A line of JSON, key by key. Texts are not escaped, because all names are our own.
class JsonLine {
public:
    JsonLine& add(std::string_view key, std::string_view text) {
        begin(key);
        text_ += '"';
        text_ += text;
        text_ += '"';
        return *this;
    }
    JsonLine& add(std::string_view key, std::int64_t number) {
        begin(key);
        text_ += std::to_string(number);
        return *this;
    }
    [[nodiscard]] std::string finish() const { return text_ + "}\n"; }

private:
    void begin(std::string_view key) {
        text_ += text_.empty() ? "{\"" : ",\"";
        text_ += key;
        text_ += "\":";
    }

    std::string text_;
};

class HistoryWriter {
public:
    explicit HistoryWriter(const std::string& path)
        : file_{open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)} {
        if (file_ < 0) throw std::system_error{errno, std::generic_category(), path};
    }
    ~HistoryWriter() { close(file_); }
    HistoryWriter(const HistoryWriter&) = delete;
    HistoryWriter& operator=(const HistoryWriter&) = delete;

    // Begins the line of a call; an `end` with the same number follows.
    JsonLine begin(std::int64_t call, std::string_view operation, const std::string& name) {
        JsonLine line;
        line.add("call", call).add("operation", operation).add("name", name);
        return line.add("invoke", boot_nanoseconds());
    }
    JsonLine end(std::int64_t call) {
        JsonLine line;
        return line.add("call", call).add("return", boot_nanoseconds());
    }
    [[nodiscard]] std::int64_t next_call() { return ++calls_; }

    // Uses one write call, so that the lines of several threads do not mix, and so that the line of
    // a call that has begun is complete even if the process is killed.
    void put(const JsonLine& line) {
        const auto text = line.finish();
        if (write(file_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
            throw std::system_error{errno, std::generic_category(), "history"};
    }

private:
    int file_;
    std::atomic<std::int64_t> calls_{0};
};

}  // namespace mortise::tests
