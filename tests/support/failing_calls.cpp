#include "tests/support/failing_calls.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef __x86_64__

namespace mortise::test {

namespace {

// The filter lets a call pass that has this number in its sixth argument, which none of the calls
// below has: the handler repeats with it what is not to fail.
constexpr std::uint32_t pass = 0x6d6f7274;

enum class Subject : std::uint8_t { descriptor, path, path_in_directory };

struct Watched {
    long number;
    const char* word;
    CallKind kind;  // of an open that creates nothing
    Subject subject;
};

constexpr std::array watched{
    Watched{SYS_openat, "openat", CallKind::open, Subject::path_in_directory},
    Watched{SYS_pread64, "pread", CallKind::read, Subject::descriptor},
    Watched{SYS_newfstatat, "stat", CallKind::look, Subject::path_in_directory},
    Watched{SYS_access, "access", CallKind::look, Subject::path},
    Watched{SYS_getdents64, "readdir", CallKind::list, Subject::descriptor},
    Watched{SYS_pwrite64, "pwrite", CallKind::write, Subject::descriptor},
    Watched{SYS_ftruncate, "ftruncate", CallKind::write, Subject::descriptor},
    Watched{SYS_fallocate, "fallocate", CallKind::write, Subject::descriptor},
    Watched{SYS_fsync, "fsync", CallKind::sync, Subject::descriptor},
    Watched{SYS_fdatasync, "fdatasync", CallKind::sync, Subject::descriptor},
    Watched{SYS_rename, "rename", CallKind::name, Subject::path},
    Watched{SYS_unlink, "unlink", CallKind::name, Subject::path},
    Watched{SYS_mkdir, "mkdir", CallKind::name, Subject::path},
    Watched{SYS_linkat, "linkat", CallKind::name, Subject::path_in_directory},
    Watched{SYS_fchown, "fchown", CallKind::give, Subject::descriptor},
    Watched{SYS_lchown, "lchown", CallKind::give, Subject::path},
};

// What the handler reads; it runs within calls of any thread, and so allocates nothing.
struct Fault {
    std::atomic_flag busy = ATOMIC_FLAG_INIT;
    bool is_armed = false;
    char path[256] = {};
    bool kinds[16] = {};
    std::uint64_t left = 0;
    int error = 0;
    // the call that failed
    const Watched* failed = nullptr;
    char failed_path[512] = {};
};
Fault fault;

struct Call {
    const Watched* what = nullptr;
    CallKind kind = CallKind::open;
    char path[512] = {};
};

long repeat(long number, const greg_t* registers) {
    return ::syscall(number, registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                     registers[REG_R10], registers[REG_R8], pass);
}

void name_descriptor(int descriptor, Call& call) {
    char link[32] = "/proc/self/fd/";
    char digits[12] = {};
    std::size_t count = 0;
    auto left = static_cast<unsigned>(descriptor);
    do {
        digits[count++] = static_cast<char>('0' + left % 10);
        left /= 10;
    } while (left != 0);
    auto* end = link + std::strlen(link);
    while (count > 0)
        *end++ = digits[--count];
    const auto size = ::syscall(SYS_readlinkat, AT_FDCWD, link, call.path, sizeof call.path - 1);
    call.path[size > 0 ? size : 0] = '\0';
}

Call call_of(long number, const greg_t* registers) {
    Call call;
    for (const auto& one : watched)
        if (one.number == number) call.what = &one;
    if (call.what == nullptr) return call;
    call.kind = call.what->kind;
    const bool is_in_directory = call.what->subject == Subject::path_in_directory;
    const auto* path =
        reinterpret_cast<const char*>(is_in_directory ? registers[REG_RSI] : registers[REG_RDI]);
    if (number == SYS_openat && (registers[REG_RDX] & O_CREAT) != 0) call.kind = CallKind::create;
    // A file without a name is created in the directory of that path.
    if (number == SYS_openat && (registers[REG_RDX] & O_TMPFILE) == O_TMPFILE)
        call.kind = CallKind::create;
    const bool has_path = call.what->subject != Subject::descriptor && path != nullptr;
    if (has_path && *path != '\0')
        std::strncpy(call.path, path, sizeof call.path - 1);
    else
        name_descriptor(static_cast<int>(registers[REG_RDI]), call);
    return call;
}

bool is_to_fail(const Call& call) {
    if (!fault.is_armed || call.what == nullptr) return false;
    if (fault.failed != nullptr)
        return call.what == fault.failed && std::strcmp(call.path, fault.failed_path) == 0;
    if (!fault.kinds[static_cast<std::size_t>(call.kind)] ||
        std::strstr(call.path, fault.path) == nullptr)
        return false;
    if (fault.left == 0 || --fault.left > 0) return false;
    fault.failed = call.what;
    std::strncpy(fault.failed_path, call.path, sizeof fault.failed_path - 1);
    return true;
}

void on_call(int /*signal*/, siginfo_t* info, void* context) {
    const int before = errno;
    auto* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    const long number = info->si_syscall;
    const auto call = call_of(number, registers);
    while (fault.busy.test_and_set()) {
    }
    const bool fails = is_to_fail(call);
    const int error = fault.error;
    fault.busy.clear();
    if (fails && error == 0) ::kill(::getpid(), SIGKILL);
    const long result = fails ? -1 : repeat(number, registers);
    registers[REG_RAX] = fails ? -error : result < 0 ? -errno : result;
    errno = before;
}

sock_filter load(std::size_t offset) {
    return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

// For this thread, and those that it starts.
bool trap_calls() {
    std::vector<sock_filter> code{
        load(offsetof(seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        load(offsetof(seccomp_data, nr)),
    };
    auto left = static_cast<std::uint8_t>(watched.size());
    for (const auto& one : watched) {
        code.push_back(
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(one.number), left, 0));
        --left;
    }
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    constexpr auto sixth = offsetof(seccomp_data, args) + 5 * sizeof(std::uint64_t);
    code.push_back(load(sixth));
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, pass, 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP));
    const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
    struct sigaction action {};
    action.sa_sigaction = on_call;
    action.sa_flags = SA_SIGINFO;
    return ::sigaction(SIGSYS, &action, nullptr) == 0 &&
           ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

void arm(const CallFault& wanted) {
    std::strncpy(fault.path, wanted.path.c_str(), sizeof fault.path - 1);
    for (auto& kind : fault.kinds)
        kind = false;
    for (const auto kind : wanted.kinds)
        fault.kinds[static_cast<std::size_t>(kind)] = true;
    fault.left = wanted.at;
    fault.error = wanted.error;
    fault.failed = nullptr;
    fault.failed_path[0] = '\0';
    fault.is_armed = true;
}

}  // namespace

bool with_fault(const CallFault& wanted, const std::function<void()>& body) {
    bool is_possible = false;
    std::thread{[&] {
        is_possible = trap_calls();
        if (!is_possible) return;
        arm(wanted);
        body();
        fault.is_armed = false;
    }}.join();
    return is_possible;
}

std::string failed_call() {
    if (fault.failed == nullptr) return {};
    return std::string{fault.failed->word} + " " + fault.failed_path;
}

}  // namespace mortise::test

#else

namespace mortise::test {

bool with_fault(const CallFault& /*wanted*/, const std::function<void()>& /*body*/) {
    return false;
}
std::string failed_call() {
    return {};
}

}  // namespace mortise::test

#endif
