#include "tools/mortise/command_line.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <functional>
#include <iostream>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

#include "tools/mortise/commands.hpp"
#include "tools/mortise/manual/command_docs.hpp"
#include "tools/mortise/node_console.hpp"
#include "tools/mortise/say.hpp"
#include "tools/mortise/terminal.hpp"
#include <mortise/escaped.hpp>

namespace mortise::cli {

namespace {

using Chosen = std::function<ExitCode()>;

// The parser would read 010 as 8, and a number that is too large as the largest possible one.
CLI::Validator whole_number(std::uint64_t max) {
    const auto problem = [max](const std::string& text) -> std::string {
        std::uint64_t value = 0;
        const auto* const end = text.data() + text.size();
        const auto read = std::from_chars(text.data(), end, value);
        const bool is_padded = text.size() > 1 && text.front() == '0';
        const bool is_number = read.ec == std::errc{} && read.ptr == end && !is_padded;
        if (is_number && value <= max) return {};
        return "\"" + escaped(text) + "\" is not a whole number from 0 to " + std::to_string(max);
    };
    return {[problem](std::string& text) { return problem(text); }, ""};
}

// An empty time is mostly that of a variable which a script did not set. In a command it would mean
// that the option was left out.
CLI::Validator not_empty() {
    return {[](const std::string& text) -> std::string {
                return text.empty() ? "\"\" is not a duration: write 5s or 250ms" : "";
            },
            ""};
}

class CommandLine {
public:
    CommandLine() {
        app_.set_version_flag("--version", "mortise " MORTISE_VERSION);
        app_.set_help_flag("-h,--help", "Print this page, or that of a command");
        app_.require_subcommand(1);
        app_.formatter(help_formatter());
        app_.footer("`mortise COMMAND --help` describes a command and its exit codes.");
        add_node();
        add_doctor();
        add_status();
        add_members();
        add_locks();
        add_inspect();
        add_watch();
        add_sessions();
        add_break();
        add_run();
        add_cert();
        add_dump();
        add_recover();
        add_demo();
        add_bench();
        add_completion();
        add_man();
        add_member();
    }

    int parse(int argc, char** argv) {
        if (argc > 1) check_command(argv[1]);
        argc = take_words_after_dashes(argc, argv);
        try {
            app_.parse(argc, argv);
        } catch (const CLI::Success& success) {
            return app_.exit(success);
        } catch (const CLI::ExtrasError&) {  // the parser's own message lists them in reverse order
            throw Failure{
                ExitCode::usage,
                "not expected here: " + CLI::detail::join(app_.remaining(true), " ") + see_help()};
        } catch (const CLI::ParseError& error) {
            throw Failure{ExitCode::usage, error.what() + see_help()};
        }
        return static_cast<int>(chosen_());
    }

private:
    // Without this check the parser would ask for a command as if none had been given.
    void check_command(const std::string& word) {
        const auto commands = app_.get_subcommands([](const CLI::App*) { return true; });
        const bool known = std::ranges::any_of(
            commands, [&](const CLI::App* command) { return command->get_name() == word; });
        if (!word.starts_with('-') && !known)
            throw Failure{ExitCode::usage, "no command '" + word + "'; see mortise --help"};
    }
    // The words of another command line stand after "--", for the commands that have one. The
    // parser would change some of them.
    int take_words_after_dashes(int argc, char** argv) {
        const std::string command = argc > 1 ? argv[1] : "";
        auto* const words = command == "run"        ? &run_.command
                            : command == "complete" ? &complete_.words
                                                    : nullptr;
        const auto* const end = argv + argc;
        const auto dashes = std::find(argv, argv + argc, std::string_view{"--"});
        if (words == nullptr || dashes == end) return argc;
        words->assign(dashes + 1, argv + argc);
        return static_cast<int>(dashes - argv);
    }
    // Refers to the help of the command, as far as it was recognized.
    [[nodiscard]] std::string see_help() const {
        std::string path = "mortise";
        for (auto read = app_.get_subcommands(); !read.empty();
             read = read.front()->get_subcommands())
            path += " " + read.front()->get_name();
        return "; see " + path + " --help";
    }
    template <class Command>
    CLI::App* add(const std::string& name, const std::string& does, Command& command) {
        auto* sub = app_.add_subcommand(name, does);
        sub->callback([this, &command] { chosen_ = [&command] { return run(command); }; });
        return sub;
    }
    static void add_access(CLI::App& sub, Access& access) {
        add_members(sub, access);
        sub.add_flag("--json", access.json, "Print JSON");
    }
    // Without --json, for a command whose output is not ours.
    static void add_members(CLI::App& sub, Access& access) {
        auto* peer = sub.add_option("--peer", access.peers, "A member, HOST:PORT; may be repeated")
                         ->take_all()
                         ->allow_extra_args(false);
        sub.add_option("--config", access.config, "A configuration file that names the members")
            ->excludes(peer);
        sub.add_option("--cert", access.tls.certificate, "With TLS: your certificate, a PEM file");
        sub.add_option("--key", access.tls.key, "The key of --cert");
        sub.add_option("--ca", access.tls.ca, "The authorities of the cluster");
        sub.add_option("--timeout", access.timeout, "How long to wait for each member")
            ->capture_default_str();
        sub.footer(
            "Without --peer and --config, MORTISE_PEER_LIST names the members. Without --cert, "
            "[tls] of --config or MORTISE_TLS_CERTIFICATE, _KEY and _CA are used.");
    }

    void add_node() {
        auto* sub =
            add("node", "Run a peer without an application, until SIGINT or SIGTERM", node_);
        sub->add_option("--config", node_.config,
                        "The configuration, TOML; without it the environment (MORTISE_...)");
        sub->footer("docs/configuration.md lists the keys, their defaults and ranges.");
        add_console(*sub);
    }
    // A program without the console knows its options, to say so, and does not show them.
    void add_console(CLI::App& sub) {
        auto* console = sub.add_option("--console", node_.console,
                                       "Serve a web page about the node, ADDRESS:PORT; without an "
                                       "address on 127.0.0.1:7480")
                            ->expected(0, 1)
                            ->default_str("127.0.0.1:7480");
        auto* remote =
            sub.add_flag("--console-remote", node_.console_remote,
                         "Allow an address that other machines reach: there is no password")
                ->needs(console);
        auto* breaking =
            sub.add_flag("--console-break", node_.console_break,
                         "Let the console break locks also there, and if the node has TLS")
                ->needs(console);
        auto* host = add_list(sub, "--console-host", node_.console_hosts,
                              "A further name by which browsers reach it; may be repeated");
        if (has_console()) return;
        for (auto* option : {console, remote, breaking, host})
            option->group("");
    }
    void add_doctor() {
        auto* sub = add("doctor", "Say what prevents a node from working, and what to do", doctor_);
        sub->add_option("--config", doctor_.config,
                        "The configuration, TOML; without it the environment (MORTISE_...)");
        sub->add_flag("--json", doctor_.json, "Print JSON");
        sub->footer("Run it as the user of the node, and on its machine. It changes nothing.");
    }
    void add_status() {
        auto* sub = add("status", "Show the members of a cluster", status_);
        sub->add_flag("--ready", status_.ready,
                      "Exit with 69 unless every member that is named answers and is ready");
        add_access(*sub, status_.access);
    }
    void add_members() {
        auto* members =
            add("members", "List the members, or add, promote, move and remove one", members_);
        add_access(*members, members_.access);
        members->require_subcommand(0, 1);
        auto* add = add_change(*members, "add", "Add a running node as a learner", add_);
        add->add_option("ADDRESS", add_.address, "Where it listens, HOST:PORT")->required();
        add_change(*members, "promote", "Make a learner a voter", promote_);
        auto* move = add_change(*members, "move", "Change the address of a member", move_);
        move->add_option("ADDRESS", move_.address, "Where it listens now, HOST:PORT")->required();
        add_change(*members, "remove", "Remove a member", remove_);
        // The callback of `members` runs after those of its subcommands.
        members->callback([this, members] {
            if (members->get_subcommands().empty()) chosen_ = [this] { return run(members_); };
        });
        add_change(app_, "transfer-leader", "Transfer leadership to a voter", lead_);
        lead_.what = ChangeCommand::What::lead;
        promote_.what = ChangeCommand::What::promote;
        remove_.what = ChangeCommand::What::remove;
        move_.what = ChangeCommand::What::move;
    }
    CLI::App* add_change(CLI::App& parent, const std::string& name, const std::string& does,
                         ChangeCommand& change) {
        auto* sub = parent.add_subcommand(name, does);
        sub->callback([this, &change] { chosen_ = [&change] { return run(change); }; });
        sub->add_option("ID", change.id, "The node")->required()->check(whole_number(UINT64_MAX));
        add_access(*sub, change.access);
        return sub;
    }
    static void add_escaped(CLI::App& sub, bool& escaped, const char* what) {
        sub.add_flag("--escaped", escaped,
                     std::string{what} + " is written with escapes, as listings show it");
    }
    void add_locks() {
        auto* sub = add("locks", "List locks: who holds them, who waits", locks_);
        sub->add_option("PREFIX", locks_.prefix, "Only names with this prefix");
        add_escaped(*sub, locks_.escaped, "PREFIX");
        sub->add_flag("--local", locks_.local, "The member's own state, which may be old");
        add_access(*sub, locks_.access);
    }
    void add_inspect() {
        auto* sub = add("inspect", "Show one lock", inspect_);
        sub->add_option("NAME", inspect_.name, "The lock")->required();
        add_escaped(*sub, inspect_.escaped, "NAME");
        sub->add_flag("--local", inspect_.local, "The member's own state, which may be old");
        add_access(*sub, inspect_.access);
    }
    void add_watch() {
        auto* sub = add("watch", "Show how holds and values are, and each change of them", watch_);
        sub->add_option("PREFIX", watch_.prefix, "Only names with this prefix");
        add_escaped(*sub, watch_.escaped, "PREFIX");
        sub->add_flag("--exact", watch_.one_name, "Only the name that equals PREFIX");
        sub->add_option("--from", watch_.from,
                        "Begin after this position, which was printed before, instead of with the "
                        "present state");
        add_access(*sub, watch_.access);
    }
    void add_sessions() {
        auto* sub = add("sessions", "List the sessions: which processes may hold locks", sessions_);
        sub->add_flag("--local", sessions_.local, "The member's own state, which may be old");
        add_access(*sub, sessions_.access);
    }
    static void add_time(CLI::App& sub, const char* name, std::string& time, const char* does) {
        sub.add_option(name, time, does)->check(not_empty());
    }
    void add_run() {
        auto* sub = add("run", "Run a command while a lock is held", run_);
        sub->add_option("--lock", run_.lock, "The name of the lock")->required();
        add_escaped(*sub, run_.escaped, "The name");
        sub->add_flag("--shared", run_.shared, "Others may hold it in shared mode as well");
        add_time(*sub, "--wait", run_.wait,
                 "How long to wait for the lock, 0s for one attempt (default: no limit)");
        add_time(*sub, "--max-hold", run_.max_hold,
                 "End the command after this time (default: no limit)");
        add_time(*sub, "--min-hold", run_.min_hold,
                 "Keep the name closed for this time from the grant, even if the command "
                 "ends earlier");
        add_time(*sub, "--grace", run_.grace,
                 "How long before the end of the lease the command receives SIGTERM, less "
                 "than half of --ttl (default: a quarter of --ttl)");
        add_time(*sub, "--ttl", run_.ttl,
                 "After how long the lock is free if this machine dies (default: that of "
                 "--config, or 10s)");
        sub->add_option("--label", run_.label,
                        "Shown to others (default: the host, the process and the command)");
        sub->add_option("CMD", run_.misplaced, "The command and its arguments");
        add_members(*sub, run_.access);
        sub->footer(
            "The command finds its lock in MORTISE_LOCK and the fencing token in "
            "MORTISE_FENCING_TOKEN. If the lease cannot be renewed, its process group receives "
            "SIGTERM, and SIGKILL when the lease ends. It is killed with this program, and when "
            "the lock is broken. Signals are passed on. Without --peer and --config, "
            "MORTISE_PEER_LIST names the members.");
    }
    void add_completion() {
        auto* sub = add("completion", "Print a script that completes command lines in a shell",
                        completion_);
        sub->add_option("SHELL", completion_.shell, "The shell")
            ->required()
            ->check(CLI::IsMember({"bash", "zsh", "fish"}));
        sub->footer(
            "It also completes the names of locks and the ids of members, if a member answers at "
            "once.");
        auto* complete = app_.add_subcommand("complete", "");
        complete->group("");
        complete->callback([this] { chosen_ = [this] { return run(complete_, doc_of(app_)); }; });
    }
    void add_man() {
        auto* sub = app_.add_subcommand("man", "Print the manual page of a command");
        sub->callback([this] { chosen_ = [this] { return run(man_, doc_of(app_)); }; });
        auto* command =
            sub->add_option("COMMAND", man_.command, "The command; without it, the program itself");
        sub->add_option("--directory", man_.directory, "Write all pages into this directory")
            ->excludes(command);
    }
    void add_break() {
        auto* sub = add("break", "Take a lock away from its holder", break_);
        sub->add_option("NAME", break_.name, "The lock")->required();
        add_escaped(*sub, break_.escaped, "NAME");
        sub->add_option("--token", break_.token, "The holder's token; mortise inspect shows it")
            ->required()
            ->check(whole_number(INT64_MAX));
        sub->add_option("--reason", break_.reason, "Shown in logs and events")->required();
        sub->add_flag("--now", break_.now,
                      "Do not wait for the holder's node: two may hold it for a while");
        add_access(*sub, break_.access);
    }
    void add_cert() {
        auto* cert = app_.add_subcommand("cert", "Create and show the certificates of a cluster");
        cert->require_subcommand(1);
        cert->footer("docs/tls.md sets up a cluster with them.");
        add_cert_init(*cert);
        add_cert_issue(*cert);
        add_cert_show(*cert);
    }
    template <class Command>
    CLI::App* add_to(CLI::App& parent, const std::string& name, const std::string& does,
                     Command& command) {
        auto* sub = parent.add_subcommand(name, does);
        sub->callback([this, &command] { chosen_ = [&command] { return run(command); }; });
        return sub;
    }
    static void add_days(CLI::App& sub, int& days) {
        sub.add_option("--days", days, "How long it is valid")
            ->check(CLI::Range(1, 36500))
            ->capture_default_str();
    }
    static CLI::Option* add_list(CLI::App& sub, const std::string& name,
                                 std::vector<std::string>& list, const std::string& does) {
        return sub.add_option(name, list, does)->take_all()->allow_extra_args(false);
    }
    void add_cert_init(CLI::App& cert) {
        auto* sub = add_to(cert, "init", "Create the authority of a cluster", cert_init_);
        sub->add_option("--cluster", cert_init_.cluster, "The name of the cluster")->required();
        sub->add_option("--dir", cert_init_.directory, "Where to put ca.pem and ca.key")
            ->capture_default_str();
        add_days(*sub, cert_init_.days);
        sub->add_flag("--json", cert_init_.json, "Print JSON");
        sub->footer("Everybody who has ca.key can issue certificates.");
    }
    void add_cert_issue(CLI::App& cert) {
        auto* sub = add_to(cert, "issue", "Create a certificate for a node or a user", cert_issue_);
        auto* node = sub->add_option("--node", cert_issue_.node, "The id of a node");
        sub->add_option("--user", cert_issue_.user, "The name of a person or a program")
            ->excludes(node);
        add_list(*sub, "--role", cert_issue_.roles,
                 "Of a node: voter (without this option) or learner; of a user: client, observer "
                 "or admin, may be repeated");
        add_list(*sub, "--host", cert_issue_.hosts,
                 "A DNS name or an IP address of the node; may be repeated");
        add_list(*sub, "--may", cert_issue_.rules,
                 "Allow only RIGHT:PREFIX: acquire, break or observe names with this prefix; or "
                 "members; may be repeated");
        sub->add_option("--cluster", cert_issue_.cluster,
                        "Required if the authority does not name its cluster");
        sub->add_option("--dir", cert_issue_.directory,
                        "Where ca.pem and ca.key are, and where the files go")
            ->capture_default_str();
        add_days(*sub, cert_issue_.days);
        sub->add_flag("--json", cert_issue_.json, "Print JSON");
    }
    void add_cert_show(CLI::App& cert) {
        auto* sub = add_to(cert, "show", "Describe certificates", cert_show_);
        sub->add_option("FILE", cert_show_.files, "PEM")->required();
        sub->add_option("--ca", cert_show_.authorities,
                        "Show whether an authority in this file signed them");
        sub->add_flag("--json", cert_show_.json, "Print JSON");
    }
    void add_dump() {
        auto* sub = add("dump", "Show the directory of a node that is not running", dump_);
        sub->add_option("DIRECTORY", dump_.directory, "Its data_dir, or damaged-1 and so on in it")
            ->required();
        sub->add_flag("--log", dump_.entries, "Also show the entries of the log, in words");
        sub->add_option("--at", dump_.at, "The locks as they were after this log index");
        sub->add_flag("--json", dump_.json, "Print JSON");
        sub->footer("It changes nothing there. See docs/backup.md.");
    }
    void add_recover() {
        auto* sub =
            add("recover", "Continue from one directory after the majority was lost", recover_);
        sub->add_option("DIRECTORY", recover_.directory, "The data_dir of a member that is left")
            ->required();
        sub->add_option(
            "--yes-i-lose-what-others-had", recover_.confirmed,
            "The id of its cluster, as mortise dump shows it; without it you are asked");
        sub->add_flag("--no-wait", recover_.no_wait,
                      "No program can believe in a lock any more: all have ended, or the others "
                      "have been down for longer than the TTL");
        sub->add_flag("--json", recover_.json, "Print JSON");
        sub->footer("Read docs/backup.md first. It keeps a copy of the directory within it.");
    }
    void add_demo() {
        auto* sub =
            add("demo", "Three nodes on this machine, a kill and a partition, a verdict", demo_);
        sub->add_option("--seed", demo_.seed, "The seed of the workers' choices")
            ->check(whole_number(UINT64_MAX));
        sub->add_option("--keep-log", demo_.keep_log, "Keep the workers' fenced log in this file");
        sub->footer("It takes about half a minute and leaves nothing behind.");
    }
    void add_bench() {
        auto* sub = add("bench", "Measure a temporary cluster of three on this machine", bench_);
        sub->add_option("--seconds", bench_.seconds, "The time of each measurement")
            ->check(CLI::Range(1, 3600))
            ->capture_default_str();
        sub->add_option("--clients", bench_.clients, "The number of callers on all nodes")
            ->check(CLI::Range(1, 1000))
            ->capture_default_str();
        sub->add_flag("--tls", bench_.tls, "Use TLS between the nodes");
        sub->add_option("--directory", bench_.directory, "A directory on the disk to be measured")
            ->check(CLI::ExistingDirectory);
        sub->add_flag("--json", bench_.json, "Print JSON");
        sub->footer("It cannot put load on a running cluster yet.");
    }
    void add_member() {
        auto* sub = add("member", "", member_);
        sub->group("");
        sub->add_option("ROLE", member_.role)->required();
        sub->add_option("WORDS", member_.words);
    }

    CLI::App app_{"Mortise: locks for a cluster of processes", "mortise"};
    NodeCommand node_;
    DoctorCommand doctor_;
    StatusCommand status_;
    MembersCommand members_;
    ChangeCommand add_;
    ChangeCommand promote_;
    ChangeCommand remove_;
    ChangeCommand move_;
    ChangeCommand lead_;
    LocksCommand locks_;
    InspectCommand inspect_;
    BreakCommand break_;
    WatchCommand watch_;
    SessionsCommand sessions_;
    RunCommand run_;
    CertInitCommand cert_init_;
    CertIssueCommand cert_issue_;
    CertShowCommand cert_show_;
    DumpCommand dump_;
    RecoverCommand recover_;
    DemoCommand demo_;
    BenchCommand bench_;
    CompletionCommand completion_;
    CompleteCommand complete_;
    ManCommand man_;
    MemberCommand member_;
    Chosen chosen_;
};

}  // namespace

int run_command_line(int argc, char** argv) {
    try {
        const int code = CommandLine{}.parse(argc, argv);
        std::cout.flush();
        if (std::cout) return code;
        if (output_has_no_reader()) return static_cast<int>(ExitCode::reader_gone);
        throw Failure{ExitCode::io_error, "cannot write to standard output"};
    } catch (const std::exception& error) {
        say(line_of(error));
        return static_cast<int>(exit_code_of(error));
    }
}

}  // namespace mortise::cli
