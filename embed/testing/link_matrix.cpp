#include <stdexcept>

#include <mortise/testkit/link_matrix.hpp>

namespace mortise::testkit {

LinkMatrix::LinkMatrix(std::size_t nodes) : nodes_{nodes} {
    for (std::size_t i = 0; i < nodes * nodes; ++i)
        links_.push_back(proxy_.add_link());
}

std::string LinkMatrix::address(std::size_t from, std::size_t to) const {
    return proxy_.address(link(from, to));
}

void LinkMatrix::set_target(std::size_t to, const std::string& target) {
    for (std::size_t from = 0; from < nodes_; ++from)
        proxy_.set_target(link(from, to), target);
}

void LinkMatrix::set_mode(std::size_t node, LinkMode mode) {
    for (std::size_t other = 0; other < nodes_; ++other) {
        if (other == node) continue;
        set_mode(node, other, mode);
        set_mode(other, node, mode);
    }
}

void LinkMatrix::set_mode(std::size_t from, std::size_t to, LinkMode mode) {
    proxy_.set_mode(link(from, to), mode);
}

LinkCounters LinkMatrix::counters(std::size_t from, std::size_t to) const {
    return proxy_.counters(link(from, to));
}

LinkProxy::Link LinkMatrix::link(std::size_t from, std::size_t to) const {
    if (from >= nodes_ || to >= nodes_) throw std::logic_error{"there is no such node"};
    return links_[from * nodes_ + to];
}

}  // namespace mortise::testkit
