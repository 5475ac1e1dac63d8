// A payment provider calls back twice for one order. The order must be paid once, and the flow
// engine must be told once. On a real MariaDB, whose socket is the argument; with_mariadb.py starts
// one.
//
// Which way to prefer:
// - If all of it is one transaction of one database, without a lock: WHERE status = 0. The row
//   itself decides, the second caller changes nothing, and nothing else can go wrong.
// - If it is more than that, with a lock: other stores, calls to other services, work that is not
//   to be begun twice, or a second caller that is to wait for the result of the first.
// - Whatever is written under a lock carries the token, because the holder may be paused for longer
//   than its lease, and cannot know it when it writes.
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <mariadb/mysql.h>

#include "processes.hpp"

using namespace std::chrono_literals;

namespace {

class Database {
public:
    explicit Database(const std::string& socket) {
        // With this flag an UPDATE counts the rows that it finds, also those that it leaves alike.
        if (::mysql_real_connect(sql_.get(), nullptr, "root", "", "story", 0, socket.c_str(),
                                 CLIENT_FOUND_ROWS) == nullptr)
            fail();
    }

    // Returns how many rows it found. The statements here have only numbers of our own in them;
    // what comes from outside would be a parameter.
    std::uint64_t run(const std::string& statement) {
        if (::mysql_real_query(sql_.get(), statement.data(), statement.size()) != 0) fail();
        return ::mysql_affected_rows(sql_.get());
    }
    int number(const std::string& query) {
        run(query);
        const std::unique_ptr<MYSQL_RES, decltype([](MYSQL_RES* it) { ::mysql_free_result(it); })>
            result{::mysql_store_result(sql_.get())};
        const auto row = result ? ::mysql_fetch_row(result.get()) : nullptr;
        if (row == nullptr || row[0] == nullptr) fail();
        return std::stoi(row[0]);
    }

private:
    [[noreturn]] void fail() { throw std::runtime_error{::mysql_error(sql_.get())}; }

    std::unique_ptr<MYSQL, decltype([](MYSQL* it) { ::mysql_close(it); })> sql_{
        ::mysql_init(nullptr)};
};

// The outbox is what the flow engine is told, by a job of its own. It is written in the transaction
// of the order, so neither is there without the other.
void make_tables(Database database) {
    database.run(
        "CREATE TABLE orders (id INT PRIMARY KEY, status INT NOT NULL DEFAULT 0,"
        " fence BIGINT NOT NULL DEFAULT 0)");
    database.run("CREATE TABLE outbox (order_id INT)");
    database.run("INSERT INTO orders (id) VALUES (1), (2), (3), (4)");
}

int paid(Database& database, int order) {
    return database.number("SELECT status FROM orders WHERE id = " + std::to_string(order));
}

int times_told(Database& database, int order) {
    return database.number("SELECT COUNT(*) FROM outbox WHERE order_id = " + std::to_string(order));
}

// Where something may happen to a handler.
struct Moments {
    std::function<void(const mortise::Hold&)> before_writing = [](const auto&) {};
    std::function<void(const mortise::Hold&)> before_commit = [](const auto&) {};
};

// Handles a callback under a lock. True if this call has paid the order.
bool pay_under_lock(mortise::Node& node, Database& database, int order,
                    const Moments& moments = {}) {
    const auto id = std::to_string(order);
    const auto hold = node.acquire("order/" + id);
    const auto token = to_string(hold.token());
    // First the fence, then the reading. If the fence came with the write alone, a late write of an
    // older holder could still come between our reading and our write.
    const auto mine = " WHERE id = " + id + " AND fence <= " + token;
    if (database.run("UPDATE orders SET fence = " + token + mine) == 0) return false;
    if (paid(database, order) != 0) return false;  // the other callback was first
    moments.before_writing(hold);

    database.run("BEGIN");
    const bool found = database.run("UPDATE orders SET status = 1" + mine) == 1;
    database.run("INSERT INTO outbox VALUES (" + id + ")");
    moments.before_commit(hold);
    // Without the lock the work may be only half of what it seems: better none of it.
    const bool commits = found && !hold.failure();
    database.run(commits ? "COMMIT" : "ROLLBACK");
    return commits;
}

// Handles a callback without a lock.
bool pay_idempotently(Database& database, int order) {
    const auto id = std::to_string(order);
    database.run("BEGIN");
    const bool first =
        database.run("UPDATE orders SET status = 1 WHERE id = " + id + " AND status = 0") == 1;
    if (first) database.run("INSERT INTO outbox VALUES (" + id + ")");
    database.run(first ? "COMMIT" : "ROLLBACK");
    return first;
}

// How many of eight callbacks at the same moment have paid.
int eight_callbacks(const std::string& socket, const std::function<bool(Database&)>& pay) {
    std::atomic<int> have_paid = 0;
    std::vector<std::jthread> callbacks;
    for (int i = 0; i < 8; ++i)
        callbacks.emplace_back([&] {
            Database database{socket};
            if (pay(database)) ++have_paid;
        });
    callbacks.clear();  // waits for them
    return have_paid;
}

// Prints how it went, and returns whether that many have paid, and the engine was told as often.
bool report(const char* what, Database& database, int order, int have_paid, int should) {
    const int status = paid(database, order);
    const int told = times_told(database, order);
    std::printf("%-46s paid by %d, status %d, told %d time(s)\n", what, have_paid, status, told);
    return have_paid == should && status == should && told == should;
}

// The process that is stopped between reading and writing: 0 if its write was refused.
int paused_handler(const story::Members& members, const std::string& socket) {
    mortise::Node node{members.config(2)};
    Database database{socket};
    if (!story::is_ready(node)) return 2;
    return pay_under_lock(node, database, 1,
                          {.before_writing = [](const auto&) { std::raise(SIGSTOP); }});
}

// The first callback is stopped when it has read that the order is not paid. The second one waits
// until the lease of the first has ended.
bool with_a_paused_holder(mortise::Node& node, Database& database, story::Child& first) {
    if (!first.wait_stopped()) return false;
    const int have_paid = pay_under_lock(node, database, 1) ? 1 : 0;
    first.go_on();
    const bool refused = first.result() == 0;
    return report(refused ? "a paused holder is refused by the fence:" : "a paused holder:",
                  database, 1, have_paid, 1) &&
           refused;
}

// The lock is lost between the write and the commit: here an operator takes it away.
bool with_a_loss(mortise::Node& node, Database& database) {
    const auto take_away = [&node](const mortise::Hold& hold) {
        node.break_lock(hold.name(), hold.token(), "for the story");
        while (hold.valid())
            std::this_thread::sleep_for(1ms);
    };
    const bool has_paid = pay_under_lock(node, database, 2, {.before_commit = take_away});
    return report("lost before the commit, so rolled back:", database, 2, has_paid ? 1 : 0, 0);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    const std::string socket = argv[1];
    make_tables(Database{socket});
    const story::Members members;
    const story::Child third{[&] { return story::be_a_member(members, 3); }};
    story::Child first{[&] { return paused_handler(members, socket); }};
    mortise::Node node{members.config(1)};
    Database database{socket};
    if (!story::is_ready(node)) return 1;

    bool good = with_a_paused_holder(node, database, first);
    good = with_a_loss(node, database) && good;
    int have_paid =
        eight_callbacks(socket, [&](Database& own) { return pay_under_lock(node, own, 3); });
    good = report("eight callbacks, with the lock:", database, 3, have_paid, 1) && good;
    have_paid = eight_callbacks(socket, [](Database& own) { return pay_idempotently(own, 4); });
    good =
        report("eight callbacks, WHERE status = 0 and no lock:", database, 4, have_paid, 1) && good;
    return good ? 0 : 1;
}
