#include "tools/mortise/manual/pages.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mortise::cli {

namespace {

using Codes = std::vector<int>;
using Own = std::map<int, std::string>;

// What a code means, unless the page of the command says something else.
const std::map<int, std::string>& meanings() {
    static const std::map<int, std::string> all{
        {0, "success"},
        {64, "the command line is invalid"},
        {65, "a certificate or a key is damaged, expired or of another authority"},
        {66, "the configuration, a certificate or a key cannot be read"},
        {69, "no member answers, or there is no majority"},
        {70, "a bug in this program: please report it"},
        {73, "a file exists that would have been overwritten"},
        {74, "reading or writing failed"},
        {75, "it is in use: try again later"},
        {77, "no permission"},
        {78, "the configuration is invalid"},
        {130, "interrupted"},
        {141, "the reader of the output closed it early"},
    };
    return all;
}

struct Page {
    std::vector<ExampleDoc> examples;
    Codes codes;
    Own own{};  // differing meanings
};

// The exit codes of commands that only ask the cluster.
const Codes asks{0, 64, 65, 66, 69, 74, 77, 78, 141};
const Codes changes{0, 64, 65, 66, 69, 74, 75, 77, 78};
const Own of_changes{
    {69,
     "no member answers, or there is no majority, or it is unknown whether the change was "
     "made: repeat the command"},
    {75, "the members cannot be changed now: try again later"},
    {77, "no permission: without TLS members are not changed from another machine"},
};

std::map<std::string, Page> pages_of_the_cluster() {
    return {
        {"mortise",
         {{{"mortise demo", "Shows on this machine what it is about, in half a minute."},
           {"mortise run --lock jobs/nightly --wait 0s --peer 10.0.0.1:7401 -- ./nightly.sh",
            "Runs a job on one machine of the cluster at a time."}},
          {0, 64, 70}}},
        {"mortise node",
         {{{"mortise node --config /etc/mortise/mortise.toml", "Runs the node of that file."},
           {"MORTISE_DATA_DIR=/var/lib/mortise mortise node",
            "Runs a cluster of one node that is configured by the environment."}},
          {0, 64, 65, 66, 70, 74, 75, 77, 78},
          {{0, "it was asked to end"},
           {65,
            "the data directory is damaged, or belongs to a later version or another node; or a "
            "certificate is damaged, of another authority or of another node"},
           {74, "the disk or the directory failed, or the node stopped by itself"},
           {75,
            "the port or the data directory is in use by another process, or this machine does not "
            "have the address yet"},
           {77,
            "others than its owner can read a key, or this user may not write the data "
            "directory"}}}},
        {"mortise doctor",
         {{{"mortise doctor --config /etc/mortise/mortise.toml",
            "Examines that configuration and everything that it depends on."},
           {"mortise doctor --json --config mortise.toml", "Prints what it finds as JSON."}},
          {0, 1, 64, 74, 141},
          {{1, "it found an error"}}}},
        {"mortise status",
         {{{"mortise status --peer 10.0.0.1:7401 --peer 10.0.0.2:7401 --peer 10.0.0.3:7401",
            "Asks three members what they know of themselves and of the cluster."},
           {"mortise status --ready --peer 127.0.0.1:7401", "Is the health check of one member."}},
          asks,
          {{69, "no member answers; with --ready: not all answer and are ready"}}}},
    };
}

std::map<std::string, Page> pages_of_the_members() {
    return {
        {"mortise members",
         {{{"mortise members --peer 10.0.0.1:7401",
            "Lists the members, and how far behind the leader each of them is."},
           {"mortise members --json --config mortise.toml",
            "Prints the members as JSON, for a script."}},
          asks}},
        {"mortise members add",
         {{{"mortise members add 4 10.0.0.4:7401 --peer 10.0.0.1:7401",
            "Adds node 4, which runs there with role = \"learner\" and an empty directory."},
           {"mortise members add 4 10.0.0.4:7401 --timeout 1m --peer 10.0.0.1:7401",
            "Waits for a minute if another change is in progress."}},
          changes,
          of_changes}},
        {"mortise members promote",
         {{{"mortise members promote 4 --peer 10.0.0.1:7401",
            "Makes learner 4 a voter when it has caught up."},
           {"mortise members promote 4 --timeout 5m --peer 10.0.0.1:7401",
            "Gives it five minutes for that."}},
          changes,
          of_changes}},
        {"mortise members move",
         {{{"mortise members move 2 10.0.0.9:7401 --peer 10.0.0.1:7401",
            "Tells the others that node 2 listens there now."},
           {"mortise members move 2 127.0.0.1:7502 --peer 127.0.0.1:7401",
            "The same for a port on this machine."}},
          changes,
          of_changes}},
        {"mortise members remove",
         {{{"mortise members remove 3 --peer 10.0.0.1:7401",
            "Removes node 3; its locks expire like those of a dead process."},
           {"mortise members remove 3 --json --peer 10.0.0.1:7401", "Prints the result as JSON."}},
          changes,
          of_changes}},
        {"mortise transfer-leader",
         {{{"mortise transfer-leader 2 --peer 10.0.0.1:7401",
            "Makes node 2 the leader, for example before node 1 is restarted."},
           {"mortise transfer-leader 2 --timeout 30s --peer 10.0.0.1:7401",
            "Waits for up to half a minute until node 2 has caught up."}},
          changes,
          of_changes}},
    };
}

std::map<std::string, Page> pages_of_locks() {
    return {
        {"mortise locks",
         {{{"mortise locks --peer 10.0.0.1:7401", "Lists all locks with holders and waiters."},
           {"mortise locks orders/ --json --peer 10.0.0.1:7401",
            "Prints those whose names begin with orders/ as JSON."}},
          asks}},
        {"mortise inspect",
         {{{"mortise inspect orders/42 --peer 10.0.0.1:7401",
            "Shows who holds orders/42, with which token, and who waits."},
           {"mortise inspect orders/42 --local --peer 10.0.0.3:7401",
            "Shows what that member knows, although it may have no majority."}},
          asks}},
        {"mortise watch",
         {{{"mortise watch orders/ --peer 10.0.0.1:7401 --peer 10.0.0.2:7401",
            "Shows the holds and values of those names, and then each change."},
           {"mortise watch --json --from 4711.2 --peer 10.0.0.1:7401",
            "Prints one JSON object per line, beginning after a position that was printed "
            "before."}},
          {0, 64, 65, 66, 69, 74, 77, 78, 141},
          {{0, "it was interrupted by SIGINT or SIGTERM"}}}},
        {"mortise sessions",
         {{{"mortise sessions --peer 10.0.0.1:7401",
            "Lists the processes that may hold locks, and how long each is still waited for."},
           {"mortise sessions --json --peer 10.0.0.1:7401", "Prints them as JSON."}},
          asks}},
        {"mortise break",
         {{{"mortise break orders/42 --token 17 --reason 'host is dead' --peer 10.0.0.1:7401",
            "Takes the lock away from the holder that `mortise inspect` shows with token 17."},
           {"mortise break orders/42 --token 17 --reason 'host is dead' --now --peer "
            "10.0.0.1:7401",
            "The same without waiting until the former holder cannot use it any more."}},
          {0, 1, 64, 65, 66, 69, 74, 77, 78},
          {{1, "nobody holds the lock with that token"},
           {69,
            "no member answers, or there is no majority, or it is unknown whether the lock was "
            "broken"}}}},
        {"mortise run",
         {{{"mortise run --lock jobs/nightly --wait 0s --peer 10.0.0.1:7401 -- ./nightly.sh",
            "Runs the job unless another machine runs it now."},
           {"mortise run --lock reports --shared --max-hold 1h --grace 30s --config mortise.toml "
            "-- make report",
            "Runs beside other readers, for an hour at most, and asks make to end 30 s before."}},
          {0, 64, 65, 66, 69, 75, 76, 77, 78, 126, 127, 128},
          {{0, "the command ended with 0; other codes of the command are passed on as well"},
           {69, "no member answers, or there is no majority; the command did not run"},
           {75, "others keep the lock for longer than --wait; the command did not run"},
           {76, "the lock was lost, or about to be, and the command was ended"},
           {126, "the command cannot be executed"},
           {127, "the command was not found"},
           {128, "and more: the signal that ended the command, plus 128"}}}},
    };
}

std::map<std::string, Page> pages_of_files() {
    const Codes writes{0, 64, 65, 66, 73, 74, 77};
    return {
        {"mortise cert",
         {{{"mortise cert init --cluster orders", "Creates ca.pem and ca.key in this directory."},
           {"mortise cert issue --node 1 --host node1.example.org",
            "Creates node-1.pem and node-1.key, which ca.key signs."}},
          {0, 64}}},
        {"mortise cert init",
         {{{"mortise cert init --cluster orders", "Creates ca.pem and ca.key in this directory."},
           {"mortise cert init --cluster orders --dir /etc/mortise --days 730",
            "Creates them elsewhere, with a validity of two years."}},
          writes}},
        {"mortise cert issue",
         {{{"mortise cert issue --node 1", "Creates node-1.pem and node-1.key for a voter."},
           {"mortise cert issue --user backup --role client --may acquire:jobs/",
            "Creates a certificate that allows to acquire the locks whose names begin with "
            "jobs/."}},
          writes}},
        {"mortise cert show",
         {{{"mortise cert show node-1.pem", "Describes the certificate in that file."},
           {"mortise cert show node-*.pem --ca ca.pem",
            "Also tells whether this authority has signed them."}},
          {0, 1, 64, 65, 66, 74, 141},
          {{1, "with --ca: a certificate has another signer"}}}},
        {"mortise dump",
         {{{"mortise dump /var/lib/mortise", "Shows what that directory of a stopped node has."},
           {"mortise dump /var/lib/mortise --log --json",
            "Prints it with the entries of its log, as JSON."}},
          {0, 64, 65, 74, 75, 77, 141},
          {{65, "the directory is damaged or of a later version; the rest was shown"},
           {75, "a node that is running uses the directory"}}}},
        {"mortise recover",
         {{{"mortise recover /var/lib/mortise",
            "Makes the member with that directory a cluster of one, after asking for the id of "
            "the cluster."},
           {"mortise recover /var/lib/mortise --no-wait",
            "The same if every program that held a lock has certainly ended."}},
          {0, 64, 65, 66, 74, 75, 77},
          {{64,
            "the command line is invalid, it was not confirmed, or there is nothing to recover"},
           {65, "the directory is damaged, or of a later version"},
           {75, "a node that is running uses the directory"}}}},
    };
}

std::map<std::string, Page> other_pages() {
    return {
        {"mortise demo",
         {{{"mortise demo", "Shows a kill and a partition, and gives a verdict."},
           {"mortise demo --seed 7 --keep-log demo.jsonl",
            "Repeats the choices of seed 7, and keeps what the workers wrote."}},
          {0, 1, 64, 74, 130},
          {{0, "every promise held"},
           {1, "a promise was broken, or an expected event did not happen"}}}},
        {"mortise bench",
         {{{"mortise bench", "Measures for five seconds each what locks cost on this machine."},
           {"mortise bench --seconds 30 --clients 100 --directory /var/lib --json",
            "Measures for longer, with more callers, on the disk of that directory."}},
          {0, 64, 74, 130, 141}}},
        {"mortise completion",
         {{{"source <(mortise completion bash)",
            "Completes commands, options, locks and members in this shell."},
           {"mortise completion fish > ~/.config/fish/completions/mortise.fish",
            "Does so in every new fish."}},
          {0, 64, 74, 141}}},
        {"mortise man",
         {{{"mortise man run | man -l -", "Shows the manual page of `mortise run`."},
           {"mortise man --directory /usr/local/share/man/man1",
            "Writes all pages there: mortise.1, mortise-run.1 and so on."}},
          {0, 64, 74, 141},
          {{74, "a page cannot be written"}}}},
    };
}

const std::map<std::string, Page>& pages() {
    static const auto all = [] {
        auto merged = pages_of_the_cluster();
        for (auto part :
             {pages_of_the_members(), pages_of_locks(), pages_of_files(), other_pages()})
            merged.merge(part);
        return merged;
    }();
    return all;
}

}  // namespace

void add_page(CommandDoc& command) {
    const auto found = pages().find(command.name);
    if (found == pages().end()) return;
    const auto& page = found->second;
    command.examples = page.examples;
    for (const int code : page.codes) {
        const auto own = page.own.find(code);
        command.exit_codes.push_back(
            {code, own != page.own.end() ? own->second : meanings().at(code)});
    }
}

}  // namespace mortise::cli
