#include <csignal>

#include <fcntl.h>
#include <unistd.h>

#include "tools/mortise/command_line.hpp"

namespace {

// Whoever started this may have closed them. The next files to be opened would get their numbers,
// and what is printed.
void open_standard_descriptors() {
    int descriptor = 0;
    do {
        descriptor = ::open("/dev/null", O_RDWR);
    } while (descriptor >= 0 && descriptor <= STDERR_FILENO);
    if (descriptor > STDERR_FILENO) ::close(descriptor);
}

}  // namespace

int main(int argc, char** argv) {
    open_standard_descriptors();
    // A reader that went away is an error of the write, here and in sockets.
    std::signal(SIGPIPE, SIG_IGN);
    // So is a file that must not grow, of standard error for example.
    std::signal(SIGXFSZ, SIG_IGN);
    return mortise::cli::run_command_line(argc, argv);
}
