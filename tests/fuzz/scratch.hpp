// A directory for the files of one input after the other, in memory if possible.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

#include <unistd.h>

namespace mortise::fuzz {

class Scratch {
public:
    Scratch() {
        const bool is_told = std::getenv("TMPDIR") != nullptr;
        std::filesystem::path parent{"/dev/shm"};
        if (is_told || ::access(parent.c_str(), W_OK) != 0)
            parent = std::filesystem::temp_directory_path();
        auto name = (parent / "mortise-fuzz-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error{"no temporary directory"};
        path_ = name;
    }
    ~Scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

// Removed when the target ends normally; run.py removes what a crash leaves.
inline const std::filesystem::path& scratch() {
    static const Scratch directory;
    return directory.path();
}

inline std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

inline void put(const std::filesystem::path& path, std::string_view bytes) {
    std::ofstream file{path, std::ios::binary | std::ios::trunc};
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace mortise::fuzz
