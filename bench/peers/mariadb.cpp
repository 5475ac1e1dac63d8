// Two kinds of locks in MariaDB: GET_LOCK and RELEASE_LOCK, and a row with a unique name that is
// inserted and deleted. Whoever finds the row there tries again after a millisecond.
#include <chrono>
#include <string_view>
#include <thread>

#include <mariadb/errmsg.h>
#include <mariadb/mysql.h>
#include <mariadb/mysqld_error.h>

#include "bench/peers/client.hpp"

namespace mortise::bench {

namespace {

class Connection {
public:
    explicit Connection(const std::string& server) {
        const auto [host, port] = address_of(server);
        constexpr unsigned protocol = MYSQL_PROTOCOL_TCP;
        ::mysql_optionsv(sql_.get(), MYSQL_OPT_PROTOCOL, &protocol);
        if (::mysql_real_connect(sql_.get(), host.c_str(), "root", "", nullptr,
                                 static_cast<unsigned>(port), nullptr, 0) == nullptr)
            fail();
    }

    // The error of the server, or 0.
    unsigned try_to(std::string_view query) {
        if (::mysql_real_query(sql_.get(), query.data(), query.size()) == 0) return 0;
        const auto error = ::mysql_errno(sql_.get());
        if (error >= CR_MIN_ERROR && error <= CR_MAX_ERROR) fail();  // of the client
        return error;
    }
    void run(std::string_view query) {
        if (try_to(query) != 0) fail();
    }
    // The only cell of the answer.
    std::string value(std::string_view query) {
        run(query);
        const std::unique_ptr<MYSQL_RES, decltype([](MYSQL_RES* it) { ::mysql_free_result(it); })>
            result{::mysql_store_result(sql_.get())};
        if (!result) fail();
        const auto row = ::mysql_fetch_row(result.get());
        return row != nullptr && row[0] != nullptr ? row[0] : "NULL";
    }
    [[nodiscard]] std::uint64_t changed() { return ::mysql_affected_rows(sql_.get()); }
    [[noreturn]] void fail() { throw std::runtime_error{::mysql_error(sql_.get())}; }

private:
    std::unique_ptr<MYSQL, decltype([](MYSQL* it) { ::mysql_close(it); })> sql_{
        ::mysql_init(nullptr)};
};

class Lock {
public:
    virtual ~Lock() = default;
    virtual void acquire() = 0;
    virtual void release() = 0;
};

class NamedLock : public Lock {
public:
    NamedLock(const std::string& server, const std::string& name)
        : connection_{server},
          acquire_{"SELECT GET_LOCK('" + name + "', 3600)"},
          release_{"SELECT RELEASE_LOCK('" + name + "')"} {}

    void acquire() override { demand(acquire_); }
    void release() override { demand(release_); }

private:
    void demand(const std::string& query) {
        if (const auto answer = connection_.value(query); answer != "1")
            throw std::runtime_error{query + ": " + answer};
    }

    Connection connection_;
    std::string acquire_;
    std::string release_;
};

class RowLock : public Lock {
public:
    RowLock(const std::string& server, const std::string& name, Retries& retries)
        : connection_{server},
          acquire_{"INSERT INTO bench.held VALUES ('" + name + "')"},
          release_{"DELETE FROM bench.held WHERE name = '" + name + "'"},
          retries_{retries} {}

    void acquire() override { repeat(acquire_); }
    void release() override {
        repeat(release_);
        if (connection_.changed() != 1) throw std::runtime_error{"the row was gone"};
    }

private:
    void repeat(const std::string& query) {
        while (const auto error = connection_.try_to(query)) {
            if (error != ER_DUP_ENTRY && error != ER_LOCK_DEADLOCK && error != ER_LOCK_WAIT_TIMEOUT)
                connection_.fail();
            ++retries_;
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
    }

    Connection connection_;
    std::string acquire_;
    std::string release_;
    Retries& retries_;
};

nlohmann::json run(const std::vector<std::string>& words) {
    const PeerLoad load{words};
    Connection setup{load.addresses.front()};
    setup.run("CREATE DATABASE IF NOT EXISTS bench");
    setup.run(
        "CREATE TABLE IF NOT EXISTS bench.held (name VARBINARY(64) PRIMARY KEY) "
        "ENGINE = InnoDB");
    return peer_load(load, [&](std::size_t caller, Retries& retries) -> std::unique_ptr<Lock> {
        const auto& server = load.server_of(caller);
        if (load.recipe == "row")
            return std::make_unique<RowLock>(server, load.name_of(caller), retries);
        return std::make_unique<NamedLock>(server, load.name_of(caller));
    });
}

}  // namespace

}  // namespace mortise::bench

int main(int argc, char** argv) {
    return mortise::bench::peer_main(argc, argv, mortise::bench::run);
}
