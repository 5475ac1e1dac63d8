#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"
#include "embed/fence/gated_resources.hpp"
#include "embed/host/stay_loaded.hpp"
#include "embed/threads/fork_generation.hpp"
#include "embed/values/one_line.hpp"
#include "storage/base/ignored_signal.hpp"
#include "storage/marks/mark_store.hpp"
#include <mortise/errc.hpp>
#include <mortise/fence_gate.hpp>

namespace mortise {

namespace {

constexpr std::size_t resource_bytes_max = 4096;

[[noreturn]] void fail(const core::Error& error) {
    throw detail::in_one_line(error);
}

// The key of a resource always differs from the keys of its slots.
std::string mark_key(std::string_view resource, const std::uint32_t* slot) {
    core::ByteWriter key;
    key.u8(slot != nullptr ? 1 : 0);
    if (slot != nullptr) key.u32(*slot);
    return key.take() + std::string{resource};
}

}  // namespace

class FenceGate::Impl {
public:
    explicit Impl(std::unique_ptr<storage::MarkStore> marks) : marks_{std::move(marks)} {}

    [[nodiscard]] bool is_forked() const { return generation_.is_forked(); }

    bool admit(const std::string& key, std::int64_t token, const void* body, Call call) {
        const detail::GateVisit visit{resources_, key};
        auto& mark = visit.mark();
        const auto newest = known(key, mark);
        if (token < newest) return false;
        if (token > newest) raise(key, token, mark);
        call(body);
        return true;
    }

private:
    std::int64_t known(const std::string& key, std::optional<std::int64_t>& mark) {
        if (mark) return *mark;
        const storage::IgnoredSignal file_too_large{SIGXFSZ};
        auto stored = marks_->mark(key);
        if (!stored) fail(stored.error());
        return mark.emplace(stored->value_or(0));
    }

    // After an error the mark is whatever the disk has, and no thread is admitted any more.
    void raise(const std::string& key, std::int64_t token, std::optional<std::int64_t>& mark) {
        const storage::IgnoredSignal file_too_large{SIGXFSZ};
        mark.reset();
        if (auto raised = marks_->raise(key, token); !raised) fail(raised.error());
        mark = token;
    }

    detail::ForkGeneration generation_;
    std::unique_ptr<storage::MarkStore> marks_;
    detail::GatedResources resources_;
};

FenceGate FenceGate::open(const std::filesystem::path& directory) {
    detail::stay_loaded();
    const storage::IgnoredSignal file_too_large{SIGXFSZ};
    // An absolute path, since the program may change its working directory later, as daemons do.
    auto marks = storage::MarkStore::open(std::filesystem::absolute(directory));
    if (!marks) fail(marks.error());
    return FenceGate{std::make_unique<Impl>(*std::move(marks))};
}

FenceGate::FenceGate(std::unique_ptr<Impl> impl) noexcept : impl_{std::move(impl)} {}
FenceGate::FenceGate(FenceGate&& other) noexcept = default;

FenceGate& FenceGate::operator=(FenceGate&& other) noexcept {
    if (this == &other) return *this;
    FenceGate former{std::move(*this)};
    impl_ = std::move(other.impl_);
    return *this;
}

// In the child of a fork the database's threads do not exist, so nothing may wait for them.
FenceGate::~FenceGate() {
    if (impl_ && impl_->is_forked()) static_cast<void>(impl_.release());
    const storage::IgnoredSignal file_too_large{SIGXFSZ};
    impl_.reset();
}

bool FenceGate::check(std::string_view resource, FencingToken token) {
    return admit(resource, token, [] {});
}

bool FenceGate::check(std::string_view resource, std::uint32_t slot, FencingToken token) {
    return admit(resource, slot, token, [] {});
}

bool FenceGate::run(std::string_view resource, const std::uint32_t* slot, FencingToken token,
                    const void* body, Call call) {
    if (!impl_ || resource.empty() || resource.size() > resource_bytes_max)
        throw std::system_error{
            make_error_code(Errc::invalid_argument),
            impl_ ? "a FenceGate's resource has 1-4,096 bytes" : "a FenceGate that was moved from"};
    if (impl_->is_forked()) throw std::system_error{make_error_code(Errc::forked), "a FenceGate"};
    if (token.raw() <= 0) return false;
    return impl_->admit(mark_key(resource, slot), token.raw(), body, call);
}

}  // namespace mortise
