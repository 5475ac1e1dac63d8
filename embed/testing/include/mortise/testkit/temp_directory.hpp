#pragma once

#include <filesystem>
#include <string_view>

namespace mortise::testkit {

// A new directory, which is removed with its content when the object is destroyed.
class TempDirectory {
public:
    // Creates "prefix-XXXXXX" in `parent`, or in the system's directory for temporary files. Throws
    // std::system_error.
    explicit TempDirectory(std::string_view prefix, std::filesystem::path parent = {});
    ~TempDirectory();
    TempDirectory(const TempDirectory&) = delete;
    TempDirectory& operator=(const TempDirectory&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
};

}  // namespace mortise::testkit
