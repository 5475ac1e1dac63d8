#pragma once

#include <filesystem>
#include <string_view>

namespace mortise::testing {

// A new directory of this process, removed with all it has when the object goes.
class TempDirectory {
public:
    // "prefix-XXXXXX" below `parent`, or below where the system has such things. Throws
    // std::system_error.
    explicit TempDirectory(std::string_view prefix, std::filesystem::path parent = {});
    ~TempDirectory();
    TempDirectory(const TempDirectory&) = delete;
    TempDirectory& operator=(const TempDirectory&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
};

}  // namespace mortise::testing
