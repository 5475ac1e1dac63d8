// A queue of objects that are linked to each other, so that a queue of any length needs no memory.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>

namespace mortise::detail {

// What waits in a queue: in one at a time.
class Queued {
public:
    Queued() = default;
    Queued(const Queued&) = delete;
    Queued& operator=(const Queued&) = delete;
    virtual ~Queued() = default;
    // What a Notifier calls on a thread of its own. `self` is this object.
    virtual void run(const std::shared_ptr<Queued>& /*self*/) {}

private:
    template <class T>
    friend class Queue;
    // guarded by the mutex of its queue
    std::shared_ptr<Queued> next_;
};

// T is a Queued. Not thread-safe.
template <class T>
class Queue {
public:
    class Iterator {
    public:
        using value_type = T;
        using difference_type = std::ptrdiff_t;

        Iterator() = default;
        explicit Iterator(Queued* at) : at_{at} {}
        T& operator*() const { return static_cast<T&>(*at_); }
        T* operator->() const { return &**this; }
        Iterator& operator++() {
            at_ = Queue::next(*at_);
            return *this;
        }
        Iterator operator++(int) { return std::exchange(*this, Iterator{Queue::next(*at_)}); }
        friend bool operator==(const Iterator&, const Iterator&) = default;

    private:
        Queued* at_ = nullptr;
    };

    Queue() = default;
    // Null: none.
    explicit Queue(std::shared_ptr<T> one) {
        if (one) push_back(std::move(one));
    }
    Queue(Queue&& other) noexcept { append(std::move(other)); }
    Queue& operator=(Queue&& other) noexcept {
        auto mine = std::move(*this);  // destroyed when the other is here
        append(std::move(other));
        return *this;
    }
    // One after the other: the destructor of one would destroy all those behind it.
    ~Queue() {
        while (!empty())
            (void)pop_front();
    }

    [[nodiscard]] bool empty() const { return first_ == nullptr; }
    [[nodiscard]] std::size_t size() const { return size_; }
    // This one and pop_front() require that there is one.
    [[nodiscard]] T& front() const { return static_cast<T&>(*first_); }
    [[nodiscard]] Iterator begin() const { return Iterator{first_.get()}; }
    [[nodiscard]] Iterator end() const { return Iterator{}; }

    void push_back(std::shared_ptr<T> one) noexcept {
        auto& place = empty() ? first_ : last_->next_;
        last_ = one.get();
        place = std::move(one);
        ++size_;
    }
    void push_front(std::shared_ptr<T> one) noexcept {
        Queue all{std::move(one)};
        all.append(std::move(*this));
        append(std::move(all));
    }
    [[nodiscard]] std::shared_ptr<T> pop_front() noexcept {
        auto one = std::move(first_);
        first_ = std::move(one->next_);
        --size_;
        return std::static_pointer_cast<T>(std::move(one));
    }
    void append(Queue&& other) noexcept {
        if (other.empty()) return;
        auto& place = empty() ? first_ : last_->next_;
        place = std::move(other.first_);
        last_ = other.last_;
        size_ += std::exchange(other.size_, 0);
    }
    // The first ones, at most so many.
    [[nodiscard]] Queue take(std::size_t max) noexcept {
        if (size() <= max) return std::move(*this);
        Queue taken;
        while (taken.size() < max)
            taken.push_back(pop_front());
        return taken;
    }
    // Those for which is_meant(one) is true.
    template <class IsMeant>
    [[nodiscard]] Queue take_if(const IsMeant& is_meant) {
        Queue all = std::move(*this);
        Queue taken;
        while (!all.empty()) {
            auto one = all.pop_front();
            auto& to = is_meant(*one) ? taken : *this;
            to.push_back(std::move(one));
        }
        return taken;
    }

private:
    static Queued* next(const Queued& one) { return one.next_.get(); }

    std::shared_ptr<Queued> first_;
    Queued* last_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace mortise::detail
