// Locks of Redis: SET with NX and PX and a value that nobody else has; a script deletes the key if
// it still has that value. Whoever finds it taken tries again after a millisecond.
#include <chrono>
#include <random>
#include <thread>

#include <hiredis/hiredis.h>

#include "bench/peers/client.hpp"

namespace mortise::bench {

namespace {

constexpr auto compare_and_delete =
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) "
    "else return 0 end";

using Reply = std::unique_ptr<redisReply, decltype([](redisReply* it) { freeReplyObject(it); })>;

class RedisLock {
public:
    RedisLock(const std::string& server, std::string name, Retries& retries)
        : name_{std::move(name)},
          prefix_{std::to_string(std::random_device{}()) + "-" + name_ + "-"},
          retries_{retries} {
        const auto [host, port] = address_of(server);
        context_.reset(redisConnect(host.c_str(), port));
        if (!context_ || context_->err != 0) throw std::runtime_error{"no connection to " + server};
        script_ = ask("SCRIPT LOAD %s", compare_and_delete)->str;
    }

    void acquire() {
        value_ = prefix_ + std::to_string(++number_);
        while (ask("SET %s %s NX PX 10000", name_.c_str(), value_.c_str())->type ==
               REDIS_REPLY_NIL) {
            ++retries_;
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
    }
    void release() {
        if (ask("EVALSHA %s 1 %s %s", script_.c_str(), name_.c_str(), value_.c_str())->integer != 1)
            throw std::runtime_error{"the key had another value at its release"};
    }

private:
    template <class... Words>
    Reply ask(const char* form, Words... words) {
        Reply reply{static_cast<redisReply*>(redisCommand(context_.get(), form, words...))};
        if (!reply) throw std::runtime_error{context_->errstr};
        if (reply->type == REDIS_REPLY_ERROR) throw std::runtime_error{reply->str};
        return reply;
    }

    std::string name_;
    std::string prefix_;
    Retries& retries_;
    std::unique_ptr<redisContext, decltype([](redisContext* it) { redisFree(it); })> context_;
    std::string script_;
    std::string value_;
    std::uint64_t number_ = 0;
};

nlohmann::json run(const std::vector<std::string>& words) {
    const PeerLoad load{words};
    return peer_load(load, [&](std::size_t caller, Retries& retries) {
        return std::make_unique<RedisLock>(load.server_of(caller), load.name_of(caller), retries);
    });
}

}  // namespace

}  // namespace mortise::bench

int main(int argc, char** argv) {
    return mortise::bench::peer_main(argc, argv, mortise::bench::run);
}
