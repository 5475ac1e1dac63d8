#include <csignal>

#include <fcntl.h>
#include <unistd.h>

#include "tools/mortise/command_line.hpp"

namespace {

// The parent process may have closed these descriptors. The next files that are opened would get
// their numbers, and the output of the program.
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
    // Writing to a closed pipe or socket is reported as an error of the write instead.
    std::signal(SIGPIPE, SIG_IGN);
    // So is writing to a file at its size limit, for example standard error.
    std::signal(SIGXFSZ, SIG_IGN);
    return mortise::cli::run_command_line(argc, argv);
}
