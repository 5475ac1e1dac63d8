#include "core/locks/deadlock/components.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace mortise::core {

namespace {

constexpr auto none = std::numeric_limits<std::size_t>::max();

class Components {
public:
    explicit Components(const Graph& graph)
        : graph_{graph},
          met_(graph.size(), none),
          lowest_(graph.size(), none),
          component_(graph.size(), none) {}

    std::vector<std::size_t> run() && {
        for (std::size_t node = 0; node < graph_.size(); ++node) {
            if (met_[node] == none) walk_from(node);
        }
        return std::move(component_);
    }

private:
    struct Step {
        std::size_t node = 0;
        std::size_t edge = 0;  // the next edge to follow
    };

    void walk_from(std::size_t root) {
        meet(root);
        while (!path_.empty()) {
            auto& [node, edge] = path_.back();
            if (edge < graph_[node].size()) {
                follow(node, graph_[node][edge++]);
            } else {
                leave();
            }
        }
    }

    void meet(std::size_t node) {
        met_[node] = lowest_[node] = count_++;
        open_.push_back(node);
        path_.push_back({node});
    }

    void follow(std::size_t from, std::size_t to) {
        if (met_[to] == none) return meet(to);
        // A node that already has a component cannot lead back here.
        if (component_[to] == none) lowest_[from] = std::min(lowest_[from], met_[to]);
    }

    void leave() {
        const auto node = path_.back().node;
        path_.pop_back();
        if (!path_.empty()) {
            auto& before = lowest_[path_.back().node];
            before = std::min(before, lowest_[node]);
        }
        if (lowest_[node] != met_[node]) return;
        // All nodes met since then lead back to it.
        for (std::size_t member = none; member != node;) {
            member = open_.back();
            open_.pop_back();
            component_[member] = components_;
        }
        ++components_;
    }

    const Graph& graph_;
    std::vector<std::size_t> met_;     // their order of discovery
    std::vector<std::size_t> lowest_;  // the earliest node to which each leads back
    std::vector<std::size_t> component_;
    std::vector<std::size_t> open_;  // met, and without a component yet
    std::vector<Step> path_;
    std::size_t count_ = 0;
    std::size_t components_ = 0;
};

}  // namespace

std::vector<std::size_t> components_of(const Graph& graph) {
    return Components{graph}.run();
}

}  // namespace mortise::core
