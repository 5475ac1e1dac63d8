// Checks whether the descriptors of a node are still its own. The program may close any of them:
// daemons close all that they find. Then the event loop neither wakes up nor sleeps, another
// process may open the directory, and the numbers soon belong to files of the program
// (docs/decisions/0034).
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <asio/io_context.hpp>

#include "embed/threads/guarded.hpp"
#include "storage/base/descriptors.hpp"

namespace mortise::detail {

// Thread-safe; uses no descriptor.
class DescriptorWatch {
public:
    // Watches the descriptors of this loop from the beginning.
    explicit DescriptorWatch(asio::io_context& io);

    // The descriptor is watched until it is removed, which must happen before it is closed.
    void add(int descriptor);
    void remove(int descriptor);
    // `is_held` says whether the directory is still this node's; empty if there is none.
    void set_directory(std::function<bool()> is_held);

    // Checks all of them; each takes half a microsecond.
    [[nodiscard]] bool is_whole() const;
    // Checks the descriptor on which the loop waits.
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

// Likewise for a loop that lives for one call: whether it still has its descriptors.
[[nodiscard]] std::function<bool()> watch_loop(asio::io_context& io);

}  // namespace mortise::detail
