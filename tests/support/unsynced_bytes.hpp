// The content of files that are written in place, and what a loss of power would leave of it: what
// was synced, and of what was written since then any part, in any order.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/base/prng.hpp"

namespace mortise::test {

class UnsyncedBytes {
public:
    [[nodiscard]] bool has(const std::string& path) const { return files_.count(path) != 0; }
    // The file must have been empty before its first write.
    void written(const std::string& path, std::uint64_t offset, std::string_view bytes);
    void truncated(const std::string& path, std::uint64_t size);
    void synced(const std::string& path);
    void gone(const std::string& path) { files_.erase(path); }
    // Each sector that was written since the last sync has its old bytes, the new ones, or garbage.
    // The file is as long as it was at the sync, or of a length up to the present one.
    void lose(core::Prng& prng, std::string_view part);

private:
    struct File {
        std::string now;
        std::string durable;
        std::uint64_t dirty_from = 0;
        std::uint64_t dirty_to = 0;
    };

    [[nodiscard]] static std::string remains_of(const File& file, core::Prng& prng);

    std::map<std::string, File> files_;
};

}  // namespace mortise::test
