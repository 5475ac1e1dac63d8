// What was read from files, and is read again when one of them has changed.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/stat.h>

namespace mortise::door {

// Thread-safe.
template <class Value>
class Followed {
public:
    using Read = std::function<Value()>;  // throws std::system_error for files that are of no use
    using Refused = std::function<void(const std::string& why)>;

    // Throws what `read` throws. Later that leaves the former value, and `refused` is told once.
    Followed(std::vector<std::filesystem::path> files, Read read, Refused refused = {})
        : files_{std::move(files)},
          read_{std::move(read)},
          refused_{std::move(refused)},
          seen_{stamps()},
          value_{std::make_shared<const Value>(read_())} {}

    [[nodiscard]] std::shared_ptr<const Value> present() {
        const std::lock_guard lock{mutex_};
        auto now = stamps();
        if (now != seen_) read_again(std::move(now));
        return value_;
    }

private:
    // What differs after a change.
    struct Stamp {
        dev_t device = 0;
        ino_t inode = 0;
        off_t size = -1;
        timespec modified{};
        timespec changed{};  // also by chmod and chown

        friend bool operator==(const Stamp& one, const Stamp& other) {
            const auto is_same = [](const timespec& a, const timespec& b) {
                return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
            };
            return one.device == other.device && one.inode == other.inode &&
                   one.size == other.size && is_same(one.modified, other.modified) &&
                   is_same(one.changed, other.changed);
        }
    };

    [[nodiscard]] std::vector<Stamp> stamps() const {
        std::vector<Stamp> stamps(files_.size());
        for (std::size_t i = 0; i < files_.size(); ++i) {
            struct stat found {};
            if (::stat(files_[i].c_str(), &found) != 0) continue;
            stamps[i] = {found.st_dev, found.st_ino, found.st_size, found.st_mtim, found.st_ctim};
        }
        return stamps;
    }

    // Files are replaced one after the other: those that are of no use are tried again each time.
    void read_again(std::vector<Stamp> now) {
        try {
            value_ = std::make_shared<const Value>(read_());
            seen_ = std::move(now);
            told_.clear();
        } catch (const std::system_error& error) {
            if (refused_ && told_ != error.what()) refused_(error.what());
            told_ = error.what();
        }
    }

    const std::vector<std::filesystem::path> files_;
    const Read read_;
    const Refused refused_;
    std::mutex mutex_;
    std::vector<Stamp> seen_;  // of the files in use
    std::shared_ptr<const Value> value_;
    std::string told_;
};

}  // namespace mortise::door
