#include "tools/mortise/exit_code.hpp"

#include <string_view>
#include <system_error>

#include <mortise/config.hpp>
#include <mortise/errc.hpp>
#include <mortise/escaped.hpp>

namespace mortise::cli {

namespace {

ExitCode of_call(Errc code) {
    switch (code) {
        case Errc::invalid_argument: return ExitCode::usage;
        case Errc::incompatible: return ExitCode::data_error;
        default: return ExitCode::unavailable;
    }
}

// The storage engine's own category is not part of the public headers, its name is.
ExitCode of_directory(int code) {
    constexpr int locked = 1;
    constexpr int io = 5;
    constexpr int no_space = 6;
    if (code == locked) return ExitCode::taken;
    return code == io || code == no_space ? ExitCode::io_error : ExitCode::data_error;
}

// Asio's category does not translate every code of the system's.
bool is(std::error_code code, std::errc what) {
    return code == what || (std::string_view{code.category().name()} == "asio.system" &&
                            code.value() == static_cast<int>(what));
}

ExitCode of_code(std::error_code code) {
    const std::string_view category = code.category().name();
    if (code.category() == error_category()) return of_call(static_cast<Errc>(code.value()));
    if (category == "mortise.storage") return of_directory(code.value());
    if (is(code, std::errc::address_in_use)) return ExitCode::taken;
    if (is(code, std::errc::address_not_available) || is(code, std::errc::permission_denied))
        return ExitCode::config;
    return ExitCode::io_error;
}

}  // namespace

ExitCode exit_code_of(const std::exception& error) {
    if (const auto* failure = dynamic_cast<const Failure*>(&error)) return failure->code();
    if (const auto* config = dynamic_cast<const ConfigError*>(&error))
        return config->code() == Errc::invalid_argument ? ExitCode::config : ExitCode::no_input;
    if (const auto* system = dynamic_cast<const std::system_error*>(&error))
        return of_code(system->code());
    return ExitCode::software;
}

std::string line_of(const std::exception& error) {
    std::string line = error.what();
    if (const auto* system = dynamic_cast<const std::system_error*>(&error)) {
        // It adds the words of the code to ours, which may end with them already.
        const auto words = ": " + system->code().message();
        if (line.ends_with(words + words)) line.erase(line.size() - words.size());
    }
    return escaped(line);
}

}  // namespace mortise::cli
