// What a stranger may make this node read, keep or walk through. peer.capnp is the protocol.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/locks/limits.hpp"

namespace mortise::transport {

constexpr std::size_t word_bytes = 8;

// Of one frame, header and body, in words (frame_check).
constexpr std::size_t hello_frame_words_max = 512;         // 4 KiB, before hello
constexpr std::size_t peer_frame_words_max = 256U << 10U;  // 2 MiB
// A chunk of a state is 512 KiB of keys and values, most of them so short that their places weigh
// more than they do.
constexpr std::size_t forwarding_frame_words_max = std::size_t{512} << 10U;  // 4 MiB
constexpr std::size_t client_frame_words_max = 256U << 10U;
constexpr std::size_t frame_segments_max = 16;

// For capnp::ReaderOptions: a message is walked through at most four times.
constexpr int nesting_max = 16;
constexpr std::uint64_t traversal_words_max = 4 * forwarding_frame_words_max;

// What this node itself puts into one call; one message is never cut, whatever it weighs.
constexpr std::size_t send_bytes_max = std::size_t{1} << 20U;
constexpr std::size_t send_messages_max = 256;

// Lists that clients have asked for and this node has not answered.
constexpr std::size_t lists_per_client_max = 4;
constexpr std::size_t lists_max = 64;
// Answers that a client has not read. Above the first it is given no more lists, above the second
// it is shown the door.
constexpr std::size_t unread_bytes_congested = std::size_t{2} << 20U;
constexpr std::size_t unread_bytes_max = std::size_t{8} << 20U;

// Of fields, in what is received.
constexpr std::size_t batch_messages_max = 4'096;
constexpr std::size_t voters_max = 64;
constexpr std::size_t entries_max = 16'384;  // of one AppendRequest
constexpr std::size_t run_outs_max = 4'096;
constexpr std::size_t payload_bytes_max = std::size_t{1} << 20U;
constexpr std::size_t rows_max = 65'536;  // of one SnapshotChunk
constexpr std::size_t row_key_bytes_max = 1'024;
constexpr std::size_t row_value_bytes_max = word_bytes * forwarding_frame_words_max;
constexpr std::size_t members_max = 1'024;
constexpr std::size_t address_bytes_max = 512;
constexpr std::size_t text_bytes_max = 256;  // versions, reasons
constexpr std::size_t list_locks_max = 1'024;
constexpr std::size_t list_holders_max = 1'024;  // told of one lock; likewise waiters
constexpr std::size_t watched_max = 1'024;       // sessions of one stream; likewise nonces
constexpr std::size_t outcomes_max = 65'536;     // in one batch
// A log that gains an entry every nanosecond gets there in 146 years. Above it, the next index
// could wrap.
constexpr std::uint64_t log_index_max = std::uint64_t{1} << 62U;

}  // namespace mortise::transport
