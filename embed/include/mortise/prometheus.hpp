// The metrics of nodes as text for Prometheus. docs/monitoring.md explains each of them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <mortise/info.hpp>
#include <mortise/metrics.hpp>
#include <mortise/node.hpp>

#include <mortise/detail/macros_aside.hpp>

namespace mortise {

// The content type of the text, for the answer to an HTTP request.
inline constexpr std::string_view prometheus_content_type =
    "text/plain; version=0.0.4; charset=utf-8";

// What a node says of itself at one time.
struct NodeReading {
    Status status{};
    Metrics metrics{};
};

// The metrics of a node in the text format of Prometheus, version 0.0.4. Each sample has the labels
// `cluster` and `node`. Blocks for an answer of the node, not of the cluster, at most call_timeout;
// after the node has stopped it returns the last numbers. Thread-safe. Throws nothing but
// std::bad_alloc.
[[nodiscard]] std::string prometheus_text(const Node& node);
// The metrics of several nodes, for example of all nodes of this process, as one text. Texts of
// single nodes cannot be joined: a metric may appear in a text once. The nodes must differ in their
// cluster or their id.
[[nodiscard]] std::string prometheus_text(std::span<const NodeReading> nodes);

}  // namespace mortise

#include <mortise/detail/macros_back.hpp>
