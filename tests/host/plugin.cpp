// A plug-in that contains the library and exports none of its symbols.
#include "tests/host/plugin.hpp"

#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <mortise/mortise.hpp>

namespace mortise::tests {

namespace {

std::optional<Node> node;
std::vector<Hold> kept;
std::string error;  // of the last attempt to open

// Empty if there is no node. Several threads may call this at once.
template <class Call>
std::string problem_of(Call call) {
    try {
        call();
        return {};
    } catch (const std::exception& thrown) {
        return thrown.what();
    }
}

template <class Call>
bool succeeds(Call call) {
    return problem_of(std::move(call)).empty();
}

const char* open(Config config) {
    error = problem_of([&] {
        node.reset();
        node.emplace(std::move(config));
    });
    return error.c_str();
}

}  // namespace

extern "C" {

const char* plugin_open(const char* directory) {
    return open(directory == nullptr ? Config::in_memory() : Config::single_node(directory));
}

const char* plugin_join(const char* directory, unsigned id, const char* peers) {
    Config config;
    config.node_id = static_cast<NodeId>(id);
    config.data_dir = directory;
    const auto place = [&] {
        config.peers = parse_peer_list(peers);
        config.listen = config.peers.at(id - 1).address;
    };
    error = problem_of(place);
    if (!error.empty()) return error.c_str();
    return open(std::move(config));
}

std::int64_t plugin_use(const char* name) {
    std::int64_t token = 0;
    const bool done = succeeds([&] {
        AcquireOptions options;
        options.label = "plug-in";
        auto hold = node->acquire(name, options);
        hold.set_value("of the plug-in");
        token = hold.token().raw();
        hold.unlock();
        if (node->list("").size() > 1'000) throw std::runtime_error{"far too many"};
    });
    return done ? token : 0;
}

std::int64_t plugin_try(const char* name) {
    std::optional<Hold> hold;
    const bool done = succeeds([&] { hold = node->try_acquire(name); });
    if (!done) return -1;
    return hold ? hold->token().raw() : 0;
}

void plugin_throw() {
    Hold{}.check();
}

const void* plugin_library() {
    return &error_category();
}

bool plugin_lock(const char* name) {
    return succeeds([&] {
        Mutex mutex{*node, name};
        mutex.lock();
        mutex.unlock();
    });
}

bool plugin_keep(const char* name) {
    return succeeds([&] { kept.push_back(node->acquire(name)); });
}

void plugin_close() {
    kept.clear();
    node.reset();
}

void plugin_forget() {
    // Never destroyed; a leak checker still finds it reachable.
    static auto& forgotten = *new std::vector<Node*>;
    forgotten.push_back(new Node{std::move(*node)});
    node.reset();
}
}

}  // namespace mortise::tests
