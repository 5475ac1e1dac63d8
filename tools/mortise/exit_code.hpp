// How the program ends. docs/cli.md tells the world; the numbers are those of <sysexits.h>.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace mortise::cli {

enum class ExitCode : int {
    ok = 0,
    failed = 1,        // the demonstration found a promise broken; break: not held under that token
    usage = 64,        // the command line
    data_error = 65,   // the data directory is damaged, newer, or another node's; a certificate
                       // or a key is no good
    no_input = 66,     // the configuration file, a certificate or a key cannot be read
    unavailable = 69,  // no member answers, or no majority
    software = 70,     // a mistake of ours
    exists = 73,       // a file that would have been written over
    io_error = 74,
    taken = 75,  // the port or the data directory is in use, or not now: later, perhaps
    denied = 77,
    config = 78,
    interrupted = 130,  // by SIGINT, where that is not the way to end it
    reader_gone = 141,  // whoever read its output went away: what a shell says of SIGPIPE
};

// Ends the program with one line on stderr.
class Failure : public std::runtime_error {
public:
    Failure(ExitCode code, const std::string& line) : std::runtime_error{line}, code_{code} {}
    [[nodiscard]] ExitCode code() const noexcept { return code_; }

private:
    ExitCode code_;
};

// What a program that ends with this exception exits with.
[[nodiscard]] ExitCode exit_code_of(const std::exception& error);
// Never more than one line.
[[nodiscard]] std::string line_of(const std::exception& error);

}  // namespace mortise::cli
