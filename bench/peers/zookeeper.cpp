// ZooKeeper's lock recipe: each caller creates an ephemeral sequential node, and the lowest one
// holds the lock. Each other caller watches the node before its own.
#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <thread>

#include <zookeeper/zookeeper.h>

#include "bench/peers/client.hpp"

namespace mortise::bench {

namespace {

// Something that the completion thread of the client library reports, once.
class Signal {
public:
    void set() {
        const std::scoped_lock lock{mutex_};
        is_set_ = true;
        changed_.notify_all();
    }
    bool wait(std::chrono::seconds patience) {
        std::unique_lock lock{mutex_};
        return changed_.wait_for(lock, patience, [this] { return is_set_; });
    }
    void reset() {
        const std::scoped_lock lock{mutex_};
        is_set_ = false;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_set_ = false;
};

struct ZooError : std::runtime_error {
    explicit ZooError(int failed) : std::runtime_error{::zerror(failed)}, code{failed} {}
    int code;
};

int demand(int code, int also = ZOK) {
    if (code != ZOK && code != also) throw ZooError{code};
    return code;
}

class ZooLock {
public:
    ZooLock(const std::string& servers, std::string name) : name_{"/" + std::move(name)} {
        // The lease is that of Mortise's default.
        session_.reset(::zookeeper_init(servers.c_str(), on_session, 10'000, nullptr, this, 0));
        if (!session_ || !connected_.wait(std::chrono::seconds{30}))
            throw std::runtime_error{"no session at " + servers};
        create(name_, 0, ZNODEEXISTS);
        // From this the caller knows its node again after a lost connection.
        prefix_ = "x-" + std::to_string(::zoo_client_id(session_.get())->client_id) + "-";
    }

    void acquire() {
        own_ = create(name_ + "/" + prefix_, ZOO_EPHEMERAL | ZOO_SEQUENCE);
        wait_for_turn();
    }
    void release() { demand(::zoo_delete(session_.get(), own_.c_str(), -1)); }

    // Also while no server leads.
    void acquire_at_last() {
        for (bool again = false;; again = true) {
            try {
                if (!again || !find_own()) return acquire();
                return wait_for_turn();
            } catch (const ZooError& error) {
                if (error.code != ZCONNECTIONLOSS && error.code != ZOPERATIONTIMEOUT) throw;
                std::this_thread::sleep_for(std::chrono::milliseconds{5});
            }
        }
    }

private:
    using Children = std::vector<std::string>;

    static void on_session(zhandle_t*, int, int state, const char*, void* self) {
        if (state == ZOO_CONNECTED_STATE) static_cast<ZooLock*>(self)->connected_.set();
    }
    static void on_change(zhandle_t*, int, int, const char*, void* signal) {
        static_cast<Signal*>(signal)->set();
    }

    std::string create(const std::string& path, int flags, int also = ZOK) {
        std::array<char, 256> made{};
        demand(::zoo_create(session_.get(), path.c_str(), nullptr, -1, &ZOO_OPEN_ACL_UNSAFE, flags,
                            made.data(), static_cast<int>(made.size())),
               also);
        return made.data();
    }

    // In the order of their creation: ten digits end each name.
    Children children() {
        String_vector found{};
        demand(::zoo_get_children(session_.get(), name_.c_str(), 0, &found));
        Children sorted{found.data, found.data + found.count};
        ::deallocate_String_vector(&found);
        std::ranges::sort(sorted, {}, [](const auto& it) { return it.substr(it.size() - 10); });
        return sorted;
    }

    bool find_own() {
        for (const auto& child : children()) {
            if (!child.starts_with(prefix_)) continue;
            own_ = name_ + "/" + child;
            return true;
        }
        return false;
    }

    void wait_for_turn() {
        for (;;) {
            const auto sorted = children();
            const auto own = std::ranges::find(sorted, own_.substr(name_.size() + 1));
            if (own == sorted.end()) throw std::runtime_error{"the node of a caller was gone"};
            if (own == sorted.begin()) return;
            changed_.reset();
            // Reading it leaves no watch behind when it is gone already; exists() would.
            int size = 0;
            const auto code = demand(::zoo_wget(session_.get(), (name_ + "/" + own[-1]).c_str(),
                                                on_change, &changed_, nullptr, &size, nullptr),
                                     ZNONODE);
            if (code == ZOK && !changed_.wait(std::chrono::seconds{60}))
                throw std::runtime_error{"a watch did not fire within 60 s"};
        }
    }

    std::string name_;
    std::string prefix_;
    std::string own_;
    Signal connected_;
    Signal changed_;
    std::unique_ptr<zhandle_t, decltype([](zhandle_t* it) { ::zookeeper_close(it); })> session_;
};

// A line for each line that it reads: when an acquire was granted.
nlohmann::json once(const std::string& servers) {
    ZooLock lock{servers, "once"};
    for (std::string line; std::getline(std::cin, line);) {
        lock.acquire_at_last();
        const auto now = Clock::now().time_since_epoch();
        lock.release();
        std::cout << nlohmann::json{{"granted_at_ns", std::chrono::nanoseconds{now}.count()}}
                  << std::endl;
    }
    return {{"failure", ""}};
}

nlohmann::json run(const std::vector<std::string>& words) {
    ::zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    if (words.front() == "once") return once(words.at(1));
    const PeerLoad load{words};
    return peer_load(load, [&](std::size_t caller, Retries&) {
        return std::make_unique<ZooLock>(load.server_of(caller), load.name_of(caller));
    });
}

}  // namespace

}  // namespace mortise::bench

int main(int argc, char** argv) {
    return mortise::bench::peer_main(argc, argv, mortise::bench::run);
}
