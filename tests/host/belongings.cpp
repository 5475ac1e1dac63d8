#include "tests/host/belongings.hpp"

#include <array>
#include <cfenv>
#include <clocale>
#include <csignal>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <locale>
#include <new>
#include <sstream>

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

namespace mortise::tests {

namespace {

template <class... Parts>
std::string text_of(const Parts&... parts) {
    std::ostringstream text;
    ((text << parts << ' '), ...);
    return text.str();
}

std::string text_of_set(const sigset_t& set) {
    std::string text;
    for (int number = 1; number < NSIG; ++number)
        if (sigismember(&set, number) == 1) text += std::to_string(number) + ' ';
    return text;
}

std::string disposition(int number) {
    struct sigaction action {};
    if (::sigaction(number, nullptr, &action) != 0) return "none";
    return text_of(reinterpret_cast<const void*>(action.sa_sigaction), action.sa_flags,
                   text_of_set(action.sa_mask));
}

std::string mask() {
    sigset_t set;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &set);
    return text_of_set(set);
}

std::string pending() {
    sigset_t set;
    ::sigpending(&set);
    return text_of_set(set);
}

std::string file_mode_mask() {
    const auto mask = ::umask(0);
    ::umask(mask);
    return text_of(mask);
}

std::string environment() {
    std::string text;
    for (char** each = environ; each != nullptr && *each != nullptr; ++each)
        text += text_of(static_cast<const void*>(*each), *each);
    return text;
}

std::string limits() {
    std::string text;
    for (int each = 0; each < static_cast<int>(RLIM_NLIMITS); ++each) {
        rlimit limit{};
        ::getrlimit(static_cast<__rlimit_resource_t>(each), &limit);
        text += text_of(limit.rlim_cur, limit.rlim_max);
    }
    return text;
}

std::string scheduling() {
    cpu_set_t processors;
    ::sched_getaffinity(0, sizeof processors, &processors);
    return text_of(CPU_COUNT(&processors), ::getpriority(PRIO_PROCESS, 0), ::sched_getscheduler(0),
                   ::prctl(PR_GET_TIMERSLACK));
}

std::string timers() {
    std::string text;
    for (const auto which : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF}) {
        itimerval timer{};
        ::getitimer(which, &timer);
        text += text_of(timer.it_interval.tv_sec, timer.it_interval.tv_usec);
    }
    return text;
}

std::string thread_name() {
    std::array<char, 16> name{};
    ::pthread_getname_np(::pthread_self(), name.data(), name.size());
    return name.data();
}

std::string streams() {
    std::string text;
    for (const auto* each : {&std::cout, &std::clog, &std::cerr})
        text += text_of(static_cast<const void*>(each->rdbuf()), each->flags(), each->precision(),
                        each->width(), each->fill(), each->exceptions(), each->getloc().name());
    return text;
}

std::string alternate_stack() {
    stack_t stack{};
    ::sigaltstack(nullptr, &stack);
    return text_of(stack.ss_sp, stack.ss_size, stack.ss_flags);
}

}  // namespace

Belongings belongings() {
    Belongings all{
        {"mask of signals", mask()},
        {"pending signals", pending()},
        {"umask", file_mode_mask()},
        {"working directory", std::filesystem::current_path().string()},
        {"environment", environment()},
        {"locale of C", std::setlocale(LC_ALL, nullptr)},
        {"locale of C++", std::locale{}.name()},
        {"limits", limits()},
        {"scheduling", scheduling()},
        {"timers", timers()},
        {"name of the thread", thread_name()},
        {"rounding", text_of(std::fegetround(), ::fegetexcept())},
        {"streams", streams()},
        {"alternate stack", alternate_stack()},
        {"dumpable", text_of(::prctl(PR_GET_DUMPABLE))},
        {"death signal",
         [] {
             int number = 0;
             ::prctl(PR_GET_PDEATHSIG, &number);
             return text_of(number);
         }()},
        {"std::terminate", text_of(reinterpret_cast<const void*>(std::get_terminate()))},
        {"operator new's handler", text_of(reinterpret_cast<const void*>(std::get_new_handler()))},
    };
    for (int number = 1; number < NSIG; ++number)
        all["signal " + std::to_string(number)] = disposition(number);
    return all;
}

std::string difference(const Belongings& before, const Belongings& after) {
    std::string text;
    for (const auto& [name, value] : before) {
        const auto& now = after.at(name);
        if (now == value) continue;
        text.append(name).append(": ").append(value).append("-> ").append(now).append("\n");
    }
    return text;
}

}  // namespace mortise::tests
