// Limits on what a connection, authenticated or not, can make this node read, keep or traverse.
// peer.capnp is the protocol.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/locks/limits.hpp"

namespace mortise::transport {

constexpr std::size_t word_bytes = 8;

// The largest frames, header and body, in words (frame_check).
constexpr std::size_t hello_frame_words_max = 512;         // 4 KiB, before hello
constexpr std::size_t peer_frame_words_max = 256U << 10U;  // 2 MiB
// A chunk of a snapshot has 512 KiB of keys and values; most of them are so short that their
// pointers take more space than they do.
constexpr std::size_t forwarding_frame_words_max = std::size_t{512} << 10U;  // 4 MiB
// A client's requests are short; the answers to it are not.
constexpr std::size_t client_frame_words_max = std::size_t{2} << 10U;    // 16 KiB
constexpr std::size_t answer_frame_words_max = std::size_t{256} << 10U;  // 2 MiB
constexpr std::size_t frame_segments_max = 16;

// For capnp::ReaderOptions: a message is traversed at most four times.
constexpr int nesting_max = 16;
constexpr std::uint64_t traversal_words_max = 4 * forwarding_frame_words_max;

// How much this node puts into one call; a single message is never divided, whatever its size.
constexpr std::size_t send_bytes_max = std::size_t{1} << 20U;
constexpr std::size_t send_messages_max = 256;

// The open questions of one connection (RpcGuard). Our own client stays far below.
constexpr std::size_t questions_max = 64;
constexpr std::size_t own_questions_max = 16;
// 32 KiB for all questions of one client
constexpr std::size_t question_words_max = std::size_t{4} << 10U;

// The messages of client nodes (pieces.hpp): how many bytes a call has, and how many such calls our
// own client has open. The calls to hear are few, and wait for long.
constexpr std::size_t said_bytes_max = std::size_t{8} << 10U;
constexpr std::size_t heard_bytes_max = std::size_t{48} << 10U;
constexpr std::size_t own_says_max = 2;
constexpr std::size_t own_hears = 2;
constexpr std::size_t hears_max = 4;
// Notices that a client node has not heard. One more makes the member close the connection; the
// client comes back and gets the state of its session, which may be longer and does not count here.
// If all clients together have not heard too much, states included, that with the most is closed.
constexpr std::size_t unheard_bytes_max = std::size_t{1} << 20U;
constexpr std::size_t all_unheard_bytes_max = std::size_t{16} << 20U;

// Listings that clients have requested and this node has not answered. One takes up to 1.8 MiB.
constexpr std::size_t lists_per_client_max = 2;
constexpr std::size_t lists_max = 16;
// Unread answers. Above the first limit nothing more is read from that client or peer. Above the
// next one it gets no more listings. Above the last one it is closed, and so is the client with the
// most if all clients together have too many.
constexpr std::size_t unread_bytes_paused = std::size_t{64} << 10U;
constexpr std::size_t peer_unread_bytes_paused = std::size_t{256} << 10U;
constexpr std::size_t unread_bytes_congested = std::size_t{3} << 20U;
constexpr std::size_t unread_bytes_max = std::size_t{4} << 20U;
constexpr std::size_t all_unread_bytes_max = std::size_t{16} << 20U;

// Limits of fields in received messages.
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
constexpr std::size_t why_bytes_max = 1'024;  // why a node is not ready
constexpr std::size_t text_bytes_max = 256;   // for versions and reasons
constexpr std::size_t list_locks_max = 1'024;
constexpr std::size_t list_holders_max = 1'024;  // reported of one lock; likewise waiters
constexpr std::size_t list_origins_max = 2 * list_holders_max;  // of the sessions of both
constexpr std::size_t list_closings_max = 64;  // likewise the reasons why it is closed
constexpr std::size_t observed_max = 1'024;    // in one answer to an observer
// An answer to an observer ends with the event that reaches this size. An event is no longer than
// the description of a lock.
constexpr std::size_t observed_bytes_max = std::size_t{256} << 10U;
constexpr std::size_t list_sessions_max = 256;
constexpr std::size_t hot_names_max = 64;
constexpr std::size_t prefix_views_max = 64;
constexpr std::size_t rate_slots_max = 1'024;

}  // namespace mortise::transport
