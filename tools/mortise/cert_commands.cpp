// The commands cert init, issue and show: the certificates of a cluster.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include "tools/mortise/cert_text.hpp"
#include "tools/mortise/commands.hpp"
#include "tools/mortise/exit_code.hpp"
#include <mortise/certificates.hpp>
#include <mortise/escaped.hpp>

namespace mortise::cli {

namespace fs = std::filesystem;

namespace {

struct CertInitCommand {
    std::string cluster;
    fs::path directory = ".";
    int days = 3650;
    bool json = false;
};

struct CertIssueCommand {
    std::optional<NodeId> node;  // this or a user
    std::optional<std::string> user;
    std::string cluster;  // empty: that of the authority
    std::vector<std::string> roles;
    std::vector<std::string> hosts;
    std::vector<std::string> rules;  // RIGHT:PREFIX
    fs::path directory = ".";
    int days = 90;
    bool json = false;
};

struct CertShowCommand {
    std::vector<fs::path> files;
    std::optional<fs::path> authorities;
    bool json = false;
};

constexpr mode_t directory_mode = 0700;

std::chrono::sys_seconds now() {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

std::string words(int number) {
    return std::generic_category().message(number);
}

[[noreturn]] void wrong(const std::string& line) {
    throw Failure{ExitCode::usage, line};
}

void need_directory(const fs::path& directory) {
    if (::mkdir(directory.c_str(), directory_mode) == 0 || errno == EEXIST) return;
    throw Failure{ExitCode::io_error, "cannot create " + directory.string() + ": " + words(errno)};
}

// Writes "ca.pem" rather than "./ca.pem".
fs::path file_in(const fs::path& directory, const std::string& name) {
    return directory == "." ? fs::path{name} : directory / name;
}

void need_file(const fs::path& path, const std::string& advice = {}) {
    if (::access(path.c_str(), R_OK) == 0) return;
    const int problem = errno;
    throw Failure{ExitCode::no_input, "cannot open " + path.string() + ": " + words(problem) +
                                          (problem == ENOENT ? advice : "")};
}

// The files that are read were found readable before: what cannot be opened is to be written.
template <class Work>
void write_files(Work work) {
    try {
        work();
    } catch (const CertificateError& error) {
        if (exit_code_of(error) != ExitCode::no_input) throw;
        throw Failure{ExitCode::io_error, error.what()};
    }
}

AccessRole role_of(const std::string& text, bool is_node) {
    const auto role = parse_access_role(text);
    if (!role) {
        wrong("--role: there is no role \"" + text +
              "\"; a node is voter or learner, a user is client, observer or admin");
    }
    const bool is_of_nodes = role == AccessRole::voter || role == AccessRole::learner;
    if (is_of_nodes && !is_node)
        wrong("--role: " + text + " is a role of nodes; a user is client, observer or admin");
    if (!is_of_nodes && is_node)
        wrong("--role: " + text + " is a role of users; a node is voter or learner");
    return *role;
}

AccessRule rule_of(const std::string& text) {
    const auto colon = text.find(':');
    const auto right = parse_access_right(text.substr(0, colon));
    if (!right) {
        wrong("--may: there is no right \"" + text.substr(0, colon) +
              "\"; write acquire:PREFIX, break:PREFIX, observe:PREFIX or members");
    }
    // Without a prefix a rule allows every name, which should not be had by forgetting something.
    if (colon == std::string::npos && *right != AccessRight::members) {
        wrong("--may: write " + text + ":PREFIX; " + text + ": with no prefix means every name");
    }
    return {*right, colon == std::string::npos ? "" : text.substr(colon + 1)};
}

CertificateOptions options_of(const CertIssueCommand& command) {
    if (!command.node && !command.user) wrong("give --node or --user");
    if (command.user && command.roles.empty())
        wrong("--role: a user needs one: client, observer or admin");
    const auto name =
        command.node ? "node-" + std::to_string(*command.node) : "user-" + *command.user;
    CertificateOptions options;
    options.authority_certificate = file_in(command.directory, "ca.pem");
    options.authority_key = file_in(command.directory, "ca.key");
    options.certificate = file_in(command.directory, name + ".pem");
    options.key = file_in(command.directory, name + ".key");
    options.cluster = command.cluster;
    options.node = command.node.value_or(0);
    options.user = command.user.value_or("");
    for (const auto& role : command.roles)
        options.roles.push_back(role_of(role, command.node.has_value()));
    for (const auto& rule : command.rules)
        options.rules.push_back(rule_of(rule));
    options.hosts = command.hosts;
    options.valid_for = std::chrono::days{command.days};
    return options;
}

// An absolute path, because relative paths of a configuration are relative to the working directory
// of the node.
std::string toml_path(const fs::path& path) {
    std::string text = "\"";
    for (const char c : fs::absolute(path).lexically_normal().string()) {
        if (c == '"' || c == '\\') text += '\\';
        text += c;
    }
    return text + '"';
}

// What cert show says of the new certificate, and where its key is.
void print_new(const CertificateInfo& info, const fs::path& file, const fs::path& key) {
    auto form = json_of(ShownCertificate{file, info, {}}, now());
    form["key"] = json_text(key.string());
    print(form);
}

void tell(const CertificateOptions& options, const CertificateInfo& info) {
    std::cout << escaped(options.certificate.string()) << " and " << escaped(options.key.string())
              << " are those of " << owner_of(info) << ", valid until " << utc(info.not_after)
              << ".\n"
              << (info.node != 0 ? "For the mortise.toml of the node:\n\n"
                                 : "For the mortise.toml of the user:\n\n")
              << "[tls]\n"
              << "certificate = " << escaped(toml_path(options.certificate)) << '\n'
              << "key         = " << escaped(toml_path(options.key)) << '\n'
              << "ca          = " << escaped(toml_path(options.authority_certificate)) << '\n';
}

ExitCode run(const CertInitCommand& command) {
    need_directory(command.directory);
    AuthorityOptions options;
    options.cluster = command.cluster;
    options.certificate = file_in(command.directory, "ca.pem");
    options.key = file_in(command.directory, "ca.key");
    options.valid_for = std::chrono::days{command.days};
    write_files([&] { create_authority(options); });
    const auto info = read_certificates(options.certificate).front();
    if (command.json) {
        print_new(info, options.certificate, options.key);
        return ExitCode::ok;
    }
    std::cout << escaped(options.certificate.string()) << " and " << escaped(options.key.string())
              << " are those of the " << owner_of(info) << ", valid until " << utc(info.not_after)
              << ".\n"
              << "Every node needs the first file. Only mortise cert issue needs the second: "
                 "everybody who has it can issue certificates.\n";
    return ExitCode::ok;
}

ExitCode run(const CertIssueCommand& command) {
    const auto options = options_of(command);
    need_file(options.authority_certificate, "; mortise cert init makes an authority");
    need_file(options.authority_key, "; it was made together with the certificate");
    write_files([&] { issue_certificate(options); });
    const auto info = read_certificates(options.certificate).front();
    if (command.json)
        print_new(info, options.certificate, options.key);
    else
        tell(options, info);
    return ExitCode::ok;
}

ExitCode run(const CertShowCommand& command) {
    if (command.authorities) need_file(*command.authorities);
    std::vector<ShownCertificate> all;
    for (const auto& file : command.files) {
        need_file(file);
        for (auto& info : read_certificates(file, command.authorities.value_or(fs::path{})))
            all.push_back({file, std::move(info), command.authorities});
    }
    auto list = Json::array();
    for (const auto& shown : all) {
        if (command.json)
            list.push_back(json_of(shown, now()));
        else
            std::cout << text_of(shown, now());
    }
    if (command.json) print(list);
    const bool all_signed = std::ranges::all_of(
        all, [](const ShownCertificate& shown) { return shown.info.is_signed.value_or(true); });
    return all_signed ? ExitCode::ok : ExitCode::failed;
}

Option days_option(int& days) {
    return option("--days DAYS", number(days, 1, 36500), "How long it is valid");
}

ExitCodes exits_of_writing() {
    return exits({0, 64, 65, 66, 73, 74, 77});
}

Command init_command() {
    const auto self = std::make_shared<CertInitCommand>();
    return {.name = "mortise cert init",
            .purpose = "Create the authority of a cluster",
            .options = {required("--cluster TEXT", value(self->cluster), "The name of the cluster"),
                        option("--dir DIRECTORY", value(self->directory, Kind::directory),
                               "Where to put ca.pem and ca.key"),
                        days_option(self->days), flag("--json", self->json, "Print JSON")},
            .notes = "Everybody who has ca.key can issue certificates.",
            .examples = {{"mortise cert init --cluster orders",
                          "Creates ca.pem and ca.key in this directory."},
                         {"mortise cert init --cluster orders --dir /etc/mortise --days 730",
                          "Creates them elsewhere, with a validity of two years."}},
            .exit_codes = exits_of_writing(),
            .run = [self] { return run(*self); }};
}

Command issue_command() {
    const auto self = std::make_shared<CertIssueCommand>();
    return {
        .name = "mortise cert issue",
        .purpose = "Create a certificate for a node or a user",
        .options = {option("--node ID", number(self->node, 1, UINT64_MAX), "The id of a node"),
                    option("--user NAME", value(self->user), "The name of a person or a program")
                        .excluding("--node"),
                    option("--role ROLE",
                           value(self->roles, Kind::choice,
                                 {"voter", "learner", "client", "observer", "admin"}),
                           "Of a node: voter (without this option) or learner; of a user: client, "
                           "observer or admin, may be repeated"),
                    option("--host HOST", value(self->hosts),
                           "A DNS name or an IP address of the node; may be repeated"),
                    option("--may RIGHT:PREFIX", value(self->rules),
                           "Allow only RIGHT:PREFIX: acquire, break or observe names with this "
                           "prefix; or members; may be repeated"),
                    option("--cluster TEXT", value(self->cluster),
                           "Required if the authority does not name its cluster"),
                    option("--dir DIRECTORY", value(self->directory, Kind::directory),
                           "Where ca.pem and ca.key are, and where the files go"),
                    days_option(self->days), flag("--json", self->json, "Print JSON")},
        .examples = {{"mortise cert issue --node 1",
                      "Creates node-1.pem and node-1.key for a voter."},
                     {"mortise cert issue --user backup --role client --may acquire:jobs/",
                      "Creates a certificate that allows to acquire the locks whose names begin "
                      "with jobs/."}},
        .exit_codes = exits_of_writing(),
        .run = [self] { return run(*self); }};
}

Command show_command() {
    const auto self = std::make_shared<CertShowCommand>();
    return {
        .name = "mortise cert show",
        .purpose = "Describe certificates",
        .arguments = {required("FILE", value(self->files, Kind::file), "PEM")},
        .options = {option("--ca FILE", value(self->authorities, Kind::file),
                           "Show whether an authority in this file signed them"),
                    flag("--json", self->json, "Print JSON")},
        .examples = {{"mortise cert show node-1.pem", "Describes the certificate in that file."},
                     {"mortise cert show node-*.pem --ca ca.pem",
                      "Also tells whether this authority has signed them."}},
        .exit_codes =
            exits({0, 64, 65, 66, 74, 141}, {{1, "with --ca: a certificate has another signer"}}),
        .run = [self] { return run(*self); }};
}

}  // namespace

Command cert_command() {
    return {.name = "mortise cert",
            .purpose = "Create and show the certificates of a cluster",
            .commands = {init_command(), issue_command(), show_command()},
            .notes = "docs/tls.md sets up a cluster with them.",
            .examples = {{"mortise cert init --cluster orders",
                          "Creates ca.pem and ca.key in this directory."},
                         {"mortise cert issue --node 1 --host node1.example.org",
                          "Creates node-1.pem and node-1.key, which ca.key signs."}},
            .exit_codes = exits({0, 64})};
}

}  // namespace mortise::cli
