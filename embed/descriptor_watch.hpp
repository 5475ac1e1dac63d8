// Whether the descriptors of a node are still its own. The program may close any of them: daemons
// close all that they find. Then the event loop neither wakes up nor sleeps, the directory may be
// opened by somebody else, and the numbers are soon those of files of the program
// (docs/decisions/0034).
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <asio/io_context.hpp>

#include "embed/guarded.hpp"
#include "storage/descriptors.hpp"

namespace mortise::detail {

// Thread-safe; needs no descriptor.
class DescriptorWatch {
public:
    // Of this loop, from the beginning.
    explicit DescriptorWatch(asio::io_context& io);

    // Until it is removed, which is before it is closed.
    void add(int descriptor);
    void remove(int descriptor);
    // Says whether the directory is still this node's; empty when there is none.
    void set_directory(std::function<bool()> is_held);

    // Looks at all of them: half a microsecond each.
    [[nodiscard]] bool is_whole() const;
    // At what the loop waits with alone.
    [[nodiscard]] bool has_loop() const noexcept { return epoll_.second.seems_at(epoll_.first); }

private:
    using Descriptor = std::pair<int, storage::OpenFile>;
    struct Watched {
        std::vector<Descriptor> descriptors;
        std::function<bool()> is_held;
    };

    Descriptor epoll_;
    Guarded<Watched> watched_;
};

// Likewise for a loop that lives for one call: whether it has its descriptors.
[[nodiscard]] std::function<bool()> watch_loop(asio::io_context& io);

}  // namespace mortise::detail
