// The exit codes of the program. docs/cli.md documents them; the numbers are those of <sysexits.h>.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace mortise::cli {

enum class ExitCode : int {
    ok = 0,
    failed = 1,  // demo: a promise was broken; break: the name is not held with that token
    usage = 64,  // the command line
    // the data directory is damaged, newer, or another node's; or a certificate or a key is invalid
    data_error = 65,
    no_input = 66,     // the configuration file, a certificate or a key cannot be read
    unavailable = 69,  // no member answers, or no majority
    software = 70,     // an error of this program
    exists = 73,       // a file that must not be overwritten exists
    io_error = 74,
    // the port, the data directory or the lock of `run` is in use, or there is a shortage: try
    // again later
    taken = 75,
    lost = 76,  // run: the lock was lost, or about to be, and the command was ended
    denied = 77,
    config = 78,
    interrupted = 130,  // by SIGINT, if that is not the regular way to end the command
    // the reader of the output is gone: the code that a shell reports for SIGPIPE
    reader_gone = 141,
};

// Ends the program with one line on stderr.
class Failure : public std::runtime_error {
public:
    Failure(ExitCode code, const std::string& line) : std::runtime_error{line}, code_{code} {}
    [[nodiscard]] ExitCode code() const noexcept { return code_; }

private:
    ExitCode code_;
};

// The exit code of a program that ends with this exception.
[[nodiscard]] ExitCode exit_code_of(const std::exception& error);
// Always one line.
[[nodiscard]] std::string line_of(const std::exception& error);

}  // namespace mortise::cli
