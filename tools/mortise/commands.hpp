// The commands of the command line. Each prints its answer to stdout, and throws if it has none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/mortise/exit_code.hpp"
#include <mortise/config.hpp>
#include <mortise/node_id.hpp>

namespace mortise::cli {

struct NodeCommand {
    std::optional<std::filesystem::path> config;  // not set: the environment
    std::optional<std::string> console;      // where the console listens; not set: there is none
    bool console_remote = false;             // that may be an address of other machines
    bool console_break = false;              // locks may be broken there in any case
    std::vector<std::string> console_hosts;  // further names by which it is reached
};
ExitCode run(const NodeCommand& command);

// Examines a configuration and everything that it depends on, and changes nothing.
struct DoctorCommand {
    std::optional<std::filesystem::path> config;  // not set: the environment
    bool json = false;
};
ExitCode run(const DoctorCommand& command);

// How to reach a cluster, and the form of the output.
struct Access {
    std::vector<std::string> peers{};
    std::optional<std::filesystem::path> config{};
    TlsConfig tls{};  // empty: those of the configuration or of the environment
    std::string timeout = "5s";
    bool json = false;
};

struct StatusCommand {
    Access access;
    bool ready = false;  // a member that is not ready is a failure
};
ExitCode run(const StatusCommand& command);

struct MembersCommand {
    Access access;
};
ExitCode run(const MembersCommand& command);

// Changes wait for a new member to catch up, and for another change in progress.
struct ChangeCommand {
    enum class What { add, promote, remove, move, lead };
    What what = What::add;
    Access access{.timeout = "15s"};
    NodeId id = 0;
    std::string address;  // for add and move
};
ExitCode run(const ChangeCommand& command);

struct LocksCommand {
    Access access;
    std::string prefix;
    bool escaped = false;  // as listings show it, here and below
    bool local = false;
};
ExitCode run(const LocksCommand& command);

struct InspectCommand {
    Access access;
    std::string name;
    bool escaped = false;
    bool local = false;
};
ExitCode run(const InspectCommand& command);

struct BreakCommand {
    Access access{.timeout = "15s"};
    std::string name;
    bool escaped = false;
    std::int64_t token = 0;
    std::string reason;
    bool now = false;
};
ExitCode run(const BreakCommand& command);

// Runs a command while a lock is held.
struct RunCommand {
    Access access{.timeout = "10s"};
    std::string lock;
    bool escaped = false;
    bool shared = false;
    // As typed; empty: not set.
    std::string wait;
    std::string max_hold;
    std::string min_hold;
    std::string grace;
    std::string ttl;
    std::optional<std::string> label;
    std::vector<std::string> command;    // what stands after "--"
    std::vector<std::string> misplaced;  // what stands before it
};
ExitCode run(const RunCommand& command);

// Follows the changes of locks.
struct WatchCommand {
    Access access;
    std::string prefix;
    bool escaped = false;
    bool one_name = false;  // the name that equals the prefix
    std::string from;       // a position; empty: begin with the present state
};
ExitCode run(const WatchCommand& command);

struct SessionsCommand {
    Access access;
    bool local = false;
};
ExitCode run(const SessionsCommand& command);

struct CertInitCommand {
    std::string cluster;
    std::filesystem::path directory = ".";
    int days = 3650;
    bool json = false;
};
ExitCode run(const CertInitCommand& command);

struct CertIssueCommand {
    std::optional<std::string> node;  // this or a user; as typed, like the members below
    std::optional<std::string> user;
    std::string cluster;  // empty: that of the authority
    std::vector<std::string> roles;
    std::vector<std::string> hosts;
    std::vector<std::string> rules;  // RIGHT:PREFIX
    std::filesystem::path directory = ".";
    int days = 90;
    bool json = false;
};
ExitCode run(const CertIssueCommand& command);

struct CertShowCommand {
    std::vector<std::filesystem::path> files;
    std::optional<std::filesystem::path> authorities;
    bool json = false;
};
ExitCode run(const CertShowCommand& command);

// Reads the directory of a node that is not running, and changes nothing.
struct DumpCommand {
    std::filesystem::path directory;
    bool entries = false;             // show the entries of the log, in words
    std::optional<std::uint64_t> at;  // show the locks as of this log index
    bool json = false;
};
ExitCode run(const DumpCommand& command);

// Makes the only member that is left of a cluster the beginning of a new one.
struct RecoverCommand {
    std::filesystem::path directory;
    // The cluster id, as the confirmation of a script; not set: it is read from standard input.
    std::optional<std::string> confirmed;
    bool no_wait = false;  // no program can believe in a lock of the lost members any more
    bool json = false;     // only the result is on standard output, what leads to it is not
};
ExitCode run(const RecoverCommand& command);

struct DemoCommand {
    std::uint64_t seed = 0;          // 0: random
    std::filesystem::path keep_log;  // where to keep the fenced log; empty: it is removed
};
ExitCode run(const DemoCommand& command);

struct BenchCommand {
    std::size_t seconds = 5;  // for each measurement
    std::size_t clients = 32;
    bool tls = false;
    // the directory whose disk is measured; empty: the system's temporary directory
    std::filesystem::path directory;
    bool json = false;
};
ExitCode run(const BenchCommand& command);

struct CommandDoc;

// Prints the script that a shell reads.
struct CompletionCommand {
    std::string shell;
};
ExitCode run(const CompletionCommand& command);

// Completes a command line for these scripts; never typed by a person.
struct CompleteCommand {
    std::vector<std::string> words;  // after the name of the program; the last one is incomplete
};
ExitCode run(const CompleteCommand& command, const CommandDoc& program);

struct ManCommand {
    std::string command;                             // empty: the program itself
    std::optional<std::filesystem::path> directory;  // all pages are written there
};
ExitCode run(const ManCommand& command, const CommandDoc& program);

// A node in a process of its own, controlled by its parent (child_process.hpp); never typed by a
// person.
struct MemberCommand {
    std::string role;
    std::vector<std::string> words;
};
ExitCode run(const MemberCommand& command);

}  // namespace mortise::cli
