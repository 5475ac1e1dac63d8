// The payment of payment.cpp on a real PostgreSQL, beside what PostgreSQL offers itself for it: a
// row that is locked by SELECT ... FOR UPDATE, and an advisory lock. The argument is the folder of
// the socket; with_postgres.py starts one.
//
// - FOR UPDATE ends with its transaction, so whoever loses it cannot commit: keep it for work that
// is
//   one transaction. It has no limit either: while its holder is paused, everybody waits.
// - An advisory lock belongs to the connection, and protects nothing by itself. When the server
// ends
//   the connection the lock is free, and its holder goes on: on another connection of its pool it
//   writes what the next holder has written already.
// - A lock of Mortise passes on when the lease of a paused holder ends, and the token that is
//   written with each change keeps the paused one out: WHERE fence <= $1.
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <postgresql/libpq-fe.h>

#include "processes.hpp"

using namespace std::chrono_literals;

namespace {

class Database {
public:
    explicit Database(const std::string& folder)
        : sql_{::PQconnectdb(("host=" + folder + " user=story dbname=story").c_str())} {
        if (::PQstatus(sql_.get()) != CONNECTION_OK) fail();
    }

    // Returns how many rows it changed. The parameters are $1, $2 and so on.
    int run(const char* statement, const std::vector<std::string>& parameters = {}) {
        const auto result = ask(statement, parameters);
        const std::string changed = ::PQcmdTuples(result.get());
        return changed.empty() ? 0 : std::stoi(changed);
    }
    int number(const char* query, const std::vector<std::string>& parameters = {}) {
        const auto result = ask(query, parameters);
        if (::PQntuples(result.get()) != 1) fail();
        return std::stoi(::PQgetvalue(result.get(), 0, 0));
    }
    // False if it failed.
    bool tries(const char* statement, const std::vector<std::string>& parameters = {}) {
        try {
            ask(statement, parameters);
            return true;
        } catch (const std::runtime_error&) {
            return false;
        }
    }
    [[nodiscard]] int process() const { return ::PQbackendPID(sql_.get()); }

private:
    using Result = std::unique_ptr<PGresult, decltype([](PGresult* it) { ::PQclear(it); })>;

    Result ask(const char* statement, const std::vector<std::string>& parameters) {
        std::vector<const char*> values;
        for (const auto& each : parameters)
            values.push_back(each.c_str());
        Result result{::PQexecParams(sql_.get(), statement, static_cast<int>(values.size()),
                                     nullptr, values.data(), nullptr, nullptr, 0)};
        const auto status = ::PQresultStatus(result.get());
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) fail();
        return result;
    }
    [[noreturn]] void fail() { throw std::runtime_error{::PQerrorMessage(sql_.get())}; }

    std::unique_ptr<PGconn, decltype([](PGconn* it) { ::PQfinish(it); })> sql_;
};

// The outbox is what the flow engine is told, by a job of its own.
void make_tables(Database database) {
    database.run(
        "CREATE TABLE orders (id INT PRIMARY KEY, status INT NOT NULL DEFAULT 0,"
        " fence BIGINT NOT NULL DEFAULT 0)");
    database.run("CREATE TABLE outbox (order_id INT)");
    database.run("INSERT INTO orders (id) SELECT generate_series(1, 5)");
}

int paid(Database& database, const std::string& order) {
    return database.number("SELECT status FROM orders WHERE id = $1", {order});
}

int times_told(Database& database, const std::string& order) {
    return database.number("SELECT COUNT(*) FROM outbox WHERE order_id = $1", {order});
}

// Prints how it went, and returns whether it went as it should.
bool report(const char* what, Database& database, const std::string& order, int have_paid,
            int should_be_told) {
    const int told = times_told(database, order);
    std::printf("%-52s paid by %d, told %d time(s)\n", what, have_paid, told);
    return told == should_be_told;
}

// Where something may happen to a handler.
using Moment = std::function<void()>;

// --- with a lock of Mortise ---------------------------------------------------------------------

// True if this call has paid the order.
bool pay_under_lock(
    mortise::Node& node, Database& database, const std::string& order,
    const Moment& before_writing = [] {}) {
    const auto hold = node.acquire("order/" + order);
    const auto token = to_string(hold.token());
    // First the fence, then the reading: see payment.cpp.
    if (database.run("UPDATE orders SET fence = $1 WHERE id = $2 AND fence <= $1",
                     {token, order}) == 0)
        return false;
    if (paid(database, order) != 0) return false;  // the other callback was first
    before_writing();

    database.run("BEGIN");
    const bool found = database.run("UPDATE orders SET status = 1 WHERE id = $2 AND fence <= $1",
                                    {token, order}) == 1;
    database.run("INSERT INTO outbox VALUES ($1)", {order});
    const bool commits = found && !hold.failure();
    database.run(commits ? "COMMIT" : "ROLLBACK");
    return commits;
}

// The process that is stopped between reading and writing: 0 if its write was refused.
int paused_handler(const story::Members& members, const std::string& folder) {
    mortise::Node node{members.config(2)};
    Database database{folder};
    if (!story::is_ready(node)) return 2;
    return pay_under_lock(node, database, "1", [] { std::raise(SIGSTOP); }) ? 1 : 0;
}

bool a_paused_holder(mortise::Node& node, Database& database, story::Child& first) {
    if (!first.wait_stopped()) return false;
    const bool second = pay_under_lock(node, database, "1");
    first.go_on();
    const bool refused = first.result() == 0;
    return report("Mortise, the first is paused and writes late:", database, "1", second ? 1 : 2,
                  1) &&
           second && refused;
}

bool eight_callbacks(mortise::Node& node, Database& database, const std::string& folder) {
    std::atomic<int> have_paid = 0;
    std::vector<std::jthread> callbacks;
    for (int i = 0; i < 8; ++i)
        callbacks.emplace_back([&] {
            Database own{folder};
            if (pay_under_lock(node, own, "2")) ++have_paid;
        });
    callbacks.clear();  // waits for them
    return report("Mortise, eight callbacks:", database, "2", have_paid, 1) && have_paid == 1;
}

// --- with the locks of PostgreSQL ---------------------------------------------------------------

bool pay_with_for_update(Database& database, const std::string& order,
                         const Moment& before_writing) {
    database.run("BEGIN");
    const int status =
        database.number("SELECT status FROM orders WHERE id = $1 FOR UPDATE", {order});
    before_writing();
    if (status == 0) {
        database.run("UPDATE orders SET status = 1 WHERE id = $1", {order});
        database.run("INSERT INTO outbox VALUES ($1)", {order});
    }
    database.run(status == 0 ? "COMMIT" : "ROLLBACK");
    return status == 0;
}

int paused_for_update(const std::string& folder) {
    Database database{folder};
    return pay_with_for_update(database, "3", [] { std::raise(SIGSTOP); }) ? 1 : 0;
}

// Nobody pays while the first is paused; it pays when it goes on. So nothing is done twice, and
// nothing at all until somebody looks.
bool for_update(Database& database, story::Child& first) {
    if (!first.wait_stopped()) return false;
    database.run("SET lock_timeout = '5s'");
    database.run("BEGIN");
    const bool waited = !database.tries("SELECT status FROM orders WHERE id = 3 FOR UPDATE");
    database.run("ROLLBACK");
    std::printf("%-52s %s\n", "FOR UPDATE, the first is paused, the second waits 5 s:",
                waited ? "nobody has paid" : "the second has the row");
    first.go_on();
    const bool has_paid = first.result() == 1;
    return report("FOR UPDATE, the first goes on:", database, "3", has_paid ? 1 : 0, 1) && waited;
}

// Each callback has a connection for its lock, and takes another one from the pool for its work.
bool pay_with_advisory_lock(Database& lock, Database& pool, const std::string& order,
                            const Moment& before_writing) {
    lock.run("SELECT pg_advisory_lock($1)", {order});
    const int status = paid(pool, order);
    before_writing();
    if (status == 0) {
        pool.run("BEGIN");
        pool.run("UPDATE orders SET status = 1 WHERE id = $1", {order});
        pool.run("INSERT INTO outbox VALUES ($1)", {order});
        pool.run("COMMIT");
    }
    lock.tries("SELECT pg_advisory_unlock($1)", {order});  // its answer is ignored, as it mostly is
    return status == 0;
}

// The server ends the connection of the first, as a restart, a failover or an operator does. The
// lock goes to the second, and the first does not know.
bool advisory_lock(Database& database, const std::string& folder) {
    Database lock{folder};
    Database pool{folder};
    int have_paid = 0;
    const auto another_pays = [&] {
        database.run("SELECT pg_terminate_backend($1)", {std::to_string(lock.process())});
        Database lock_of_second{folder};
        Database pool_of_second{folder};
        if (pay_with_advisory_lock(lock_of_second, pool_of_second, "4", [] {})) ++have_paid;
    };
    if (pay_with_advisory_lock(lock, pool, "4", another_pays)) ++have_paid;
    return report("advisory lock, its connection is ended:", database, "4", have_paid, 2);
}

// The same loss under a lock of Mortise: an operator takes it away, and another callback pays.
bool a_lost_lock(mortise::Node& node, Database& database, const std::string& folder) {
    int have_paid = 0;
    const auto another_pays = [&] {
        const auto holder = node.inspect("order/5").holders.at(0);
        node.break_lock("order/5", holder.token, "for the story");
        Database of_second{folder};
        if (pay_under_lock(node, of_second, "5")) ++have_paid;
    };
    if (pay_under_lock(node, database, "5", another_pays)) ++have_paid;
    return report("Mortise, the lock is taken away:", database, "5", have_paid, 1);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    const std::string folder = argv[1];
    make_tables(Database{folder});
    const story::Members members;
    const story::Child third{[&] { return story::be_a_member(members, 3); }};
    story::Child first{[&] { return paused_handler(members, folder); }};
    story::Child in_transaction{[&] { return paused_for_update(folder); }};
    mortise::Node node{members.config(1)};
    Database database{folder};
    if (!story::is_ready(node)) return 1;

    bool good = a_paused_holder(node, database, first);
    good = eight_callbacks(node, database, folder) && good;
    good = a_lost_lock(node, database, folder) && good;
    good = for_update(database, in_transaction) && good;
    good = advisory_lock(database, folder) && good;
    return good ? 0 : 1;
}
