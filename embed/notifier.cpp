#include "embed/notifier.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "embed/thread_start.hpp"

namespace mortise::detail {

namespace {

// Callbacks that wait for something of their own node would stop it for good if there were few.
constexpr std::size_t threads_max = 512;
constexpr auto patience = std::chrono::milliseconds{10};
constexpr std::size_t idle_kept = 2;                // one to work, one to watch it
constexpr auto idle_max = std::chrono::seconds{1};  // of the others

// Whose thread this is, if a notifier's.
thread_local const Notifier* serving = nullptr;

template <class Task>
void run_guarded(const Task& task) {
    try {
        task();
    } catch (...) {  // theirs; it must not end ours
    }
}

class TaskJob final : public Notifier::Job {
public:
    explicit TaskJob(Notifier::Task task) : task_{std::move(task)} {}
    void run() override { task_(); }

private:
    const Notifier::Task task_;
};

}  // namespace

Notifier::Notifier(std::string name) : name_{std::move(name)} {
    const std::scoped_lock lock{mutex_};
    start_thread();
}

Notifier::~Notifier() {
    stop();
}

bool Notifier::post(Task task) {
    if (generation_.is_forked()) return false;
    return post(std::make_shared<TaskJob>(std::move(task)));
}

bool Notifier::post(std::shared_ptr<Job> job) noexcept {
    if (generation_.is_forked()) return false;
    {
        const std::scoped_lock lock{mutex_};
        if (is_over()) return false;
        auto& place = job->place_;
        if (place.empty()) return true;
        place.front() = std::move(job);
        jobs_.splice(jobs_.end(), place);
    }
    work_.notify_one();
    return true;
}

bool Notifier::is_own_thread() const {
    return serving == this;
}

std::uint64_t Notifier::overruns() const {
    const std::scoped_lock lock{mutex_};
    return overruns_;
}

void Notifier::stop() {
    std::unique_lock lock{mutex_};
    stopping_ = true;
    work_.notify_all();
    threads_.splice(threads_.end(), ended_);
    while (!threads_.empty()) {  // one that runs may start another
        auto thread = std::move(threads_.back());
        threads_.pop_back();
        lock.unlock();
        thread.join();
        lock.lock();
    }
}

void Notifier::start_thread() {
    std::list<std::thread> one(1);  // first: none that was started may be without a place
    one.front() = start_thread_named(name_, [this] { run(); });
    threads_.splice(threads_.end(), one);
    grown_ = std::chrono::steady_clock::now();
}

// The calling thread leaves threads_; another one joins it.
void Notifier::end_thread() {
    const auto is_this = [](const std::thread& one) {
        return one.get_id() == std::this_thread::get_id();
    };
    const auto self = std::ranges::find_if(threads_, is_this);
    if (self != threads_.end()) ended_.splice(ended_.end(), threads_, self);
}

// Keeps one to watch those that work.
void Notifier::grow() {
    if (idle_ != 0 || threads_.size() >= threads_max) return;
    try {
        start_thread();
    } catch (const std::exception&) {  // none to be had: the rest wait for those that there are
    }
}

// One thread works. The others watch it, and one of them goes on with the rest when what it took is
// still running after a moment.
bool Notifier::may_take() const {
    if (jobs_.empty()) return false;
    return running_ == 0 || stopping_ || std::chrono::steady_clock::now() >= last_taken_ + patience;
}

// What runs may post more, and wait for it.
bool Notifier::is_over() const {
    return stopping_ && jobs_.empty() && running_ == 0;
}

// False when there is none, nor will be, or when others wait for it as well: those that a burst of
// slow callbacks asked for leave when it is over.
bool Notifier::wait_for_task(std::unique_lock<std::mutex>& lock) {
    ++idle_;
    bool is_needed = true;
    while (is_needed && !may_take() && !is_over()) {
        if (!jobs_.empty()) {
            work_.wait_until(lock, last_taken_ + patience);
        } else if (idle_ <= idle_kept) {
            work_.wait(lock);
        } else {
            work_.wait_until(lock, grown_ + idle_max);
            const bool is_calm = std::chrono::steady_clock::now() >= grown_ + idle_max;
            is_needed = !is_calm || !jobs_.empty() || idle_ <= idle_kept;
        }
    }
    --idle_;
    return is_needed && !jobs_.empty();
}

void Notifier::run() {
    serving = this;
    std::unique_lock lock{mutex_};
    while (wait_for_task(lock)) {
        auto job = std::move(jobs_.front());
        jobs_.pop_front();
        if (running_++ > 0) ++overruns_;
        last_taken_ = std::chrono::steady_clock::now();
        grow();
        auto ended = std::exchange(ended_, {});
        lock.unlock();
        // Not under the mutex: what a callback left to the end of its thread may post.
        for (auto& thread : ended)
            thread.join();
        run_here(*job);
        job.reset();
        lock.lock();
        --running_;
        if (is_over()) work_.notify_all();
    }
    if (!stopping_) end_thread();
}

bool run_elsewhere(const Notifier::Task& task) noexcept {
    try {
        start_thread_named("mortise-notify", [task] { run_guarded(task); }).detach();
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

bool run_elsewhere(const std::shared_ptr<Notifier::Job>& job) noexcept {
    try {
        start_thread_named("mortise-notify", [job] { run_here(*job); }).detach();
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

void run_here(Notifier::Job& job) noexcept {
    run_guarded([&job] { job.run(); });
}

}  // namespace mortise::detail
