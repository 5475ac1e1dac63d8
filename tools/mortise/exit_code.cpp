#include "tools/mortise/exit_code.hpp"

#include <string_view>
#include <system_error>

#include <mortise/certificates.hpp>
#include <mortise/config.hpp>
#include <mortise/directory_errc.hpp>
#include <mortise/errc.hpp>
#include <mortise/escaped.hpp>
#include <mortise/lock_error.hpp>

namespace mortise::cli {

namespace {

ExitCode of_call(Errc code) {
    switch (code) {
        case Errc::invalid_argument: return ExitCode::usage;
        case Errc::not_ready: return ExitCode::taken;
        case Errc::permission_denied: return ExitCode::denied;
        case Errc::incompatible: return ExitCode::data_error;
        default: return ExitCode::unavailable;
    }
}

ExitCode of_directory(DirectoryErrc code) {
    if (code == DirectoryErrc::locked) return ExitCode::taken;
    if (code == DirectoryErrc::denied) return ExitCode::denied;
    if (code == DirectoryErrc::not_a_directory) return ExitCode::config;
    const bool disk = code == DirectoryErrc::io || code == DirectoryErrc::no_space ||
                      code == DirectoryErrc::shortage || code == DirectoryErrc::closed;
    return disk ? ExitCode::io_error : ExitCode::data_error;
}

ExitCode of_certificate(std::error_code code) {
    if (code == std::errc::invalid_argument) return ExitCode::usage;
    if (code == std::errc::bad_message) return ExitCode::data_error;
    if (code == std::errc::file_exists) return ExitCode::exists;
    if (code == std::errc::operation_not_permitted) return ExitCode::denied;
    const bool is_unreadable = code == std::errc::no_such_file_or_directory ||
                               code == std::errc::permission_denied ||
                               code == std::errc::not_a_directory;
    return is_unreadable ? ExitCode::no_input : ExitCode::io_error;
}

// Asio's category does not translate every code of the system.
bool is(std::error_code code, std::errc what) {
    return code == what || (std::string_view{code.category().name()} == "asio.system" &&
                            code.value() == static_cast<int>(what));
}

ExitCode of_code(std::error_code code) {
    if (code.category() == error_category()) return of_call(static_cast<Errc>(code.value()));
    if (code.category() == directory_category())
        return of_directory(static_cast<DirectoryErrc>(code.value()));
    // An address may come later than the node, as that of a network that is still set up.
    if (is(code, std::errc::address_in_use) || is(code, std::errc::address_not_available))
        return ExitCode::taken;
    if (is(code, std::errc::permission_denied)) return ExitCode::config;
    return ExitCode::io_error;
}

}  // namespace

ExitCode exit_code_of(const std::exception& error) {
    if (const auto* failure = dynamic_cast<const Failure*>(&error)) return failure->code();
    if (const auto* config = dynamic_cast<const ConfigError*>(&error))
        return config->code() == Errc::invalid_argument ? ExitCode::config : ExitCode::no_input;
    if (const auto* certificate = dynamic_cast<const CertificateError*>(&error))
        return of_certificate(certificate->code());
    if (const auto* system = dynamic_cast<const std::system_error*>(&error))
        return of_code(system->code());
    return ExitCode::software;
}

std::string line_of(const std::exception& error) {
    std::string line = error.what();
    const auto* system = dynamic_cast<const std::system_error*>(&error);
    if (system == nullptr) return escaped(line);
    // std::system_error appends the words of the code to ours, which may end with them already or
    // express them better.
    const auto words = ": " + system->code().message();
    const bool says_all = (system->code() == Errc::invalid_argument &&
                           dynamic_cast<const LockError*>(&error) == nullptr) ||
                          system->code().category() == directory_category();
    if (line.ends_with(words + words) || (says_all && line.ends_with(words)))
        line.erase(line.size() - words.size());
    return escaped(line);
}

}  // namespace mortise::cli
