// A number in a file, and the newest token with which it was written: the resource that a cluster
// of processes shares and a lock protects. Reading and writing are each atomic; the time between
// them is not.
#pragma once

#include <cstdint>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace mortise::tests {

class SharedCounter {
public:
    explicit SharedCounter(const std::string& path)
        : file_{open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)} {
        if (file_ < 0) throw std::system_error{errno, std::generic_category(), path};
    }
    ~SharedCounter() { close(file_); }
    SharedCounter(const SharedCounter&) = delete;
    SharedCounter& operator=(const SharedCounter&) = delete;

    [[nodiscard]] std::int64_t read() {
        const Exclusive lock{file_};
        return load().value;
    }

    // Called by a holder before it reads: from then on older tokens are refused. False if this one
    // is refused.
    bool enter(std::int64_t token) {
        const Exclusive lock{file_};
        const auto content = load();
        if (token < content.token) return false;
        const Content raised{content.value, token};
        return pwrite(file_, &raised, sizeof raised, 0) == sizeof raised;
    }

    // If fenced, returns false and writes nothing if a newer token was seen.
    bool write(std::int64_t value, std::int64_t token, bool fenced) {
        const Exclusive lock{file_};
        if (fenced && token < load().token) return false;
        const Content content{value, token};
        return pwrite(file_, &content, sizeof content, 0) == sizeof content;
    }

private:
    struct Content {
        std::int64_t value = 0;
        std::int64_t token = 0;
    };
    struct Exclusive {
        explicit Exclusive(int f) : file{f} { flock(file, LOCK_EX); }
        ~Exclusive() { flock(file, LOCK_UN); }
        Exclusive(const Exclusive&) = delete;
        Exclusive& operator=(const Exclusive&) = delete;
        int file;
    };

    Content load() {
        Content content;
        if (pread(file_, &content, sizeof content, 0) != sizeof content) return {};
        return content;
    }

    int file_;
};

}  // namespace mortise::tests
