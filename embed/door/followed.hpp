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

#include <mortise/detail/file_stamp.hpp>

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
    using Stamps = std::vector<detail::FileStamp>;

    [[nodiscard]] Stamps stamps() const {
        Stamps stamps;
        for (const auto& file : files_)
            stamps.push_back(detail::FileStamp::of(file));
        return stamps;
    }

    // Files are replaced one after the other: those that are of no use are tried again each time.
    void read_again(Stamps now) {
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
    Stamps seen_;  // of the files in use
    std::shared_ptr<const Value> value_;
    std::string told_;
};

}  // namespace mortise::door
