/* Prints the sizes of the structs of mortise.h, the places of their members, and all constants, for
 * abi_test.py. It is C11, and every compiler must accept it without a warning. */
#include <mortise.h>
#include <stddef.h>
#include <stdio.h>

#define STRUCT(type) printf("struct %s: %zu bytes\n", #type, sizeof(type))
#define MEMBER(type, member) \
    printf("  %s: %zu bytes at %zu\n", #member, sizeof(((type*)0)->member), offsetof(type, member))
#define CONSTANT(name) printf("%s = %d\n", #name, name)

static void structs(void) {
    STRUCT(mortise_acquire_options);
    MEMBER(mortise_acquire_options, size);
    MEMBER(mortise_acquire_options, label);
    MEMBER(mortise_acquire_options, label_length);
    MEMBER(mortise_acquire_options, max_hold_ns);
    MEMBER(mortise_acquire_options, min_hold_ns);
    MEMBER(mortise_acquire_options, progress_timeout_ns);
    MEMBER(mortise_acquire_options, lock_delay_ns);
    MEMBER(mortise_acquire_options, mode);
    MEMBER(mortise_acquire_options, priority);
    MEMBER(mortise_acquire_options, queue_policy);
    MEMBER(mortise_acquire_options, on_uncertain);
    MEMBER(mortise_acquire_options, caching);
    MEMBER(mortise_acquire_options, reserved);
    MEMBER(mortise_acquire_options, canceller);
    MEMBER(mortise_acquire_options, contended);
    MEMBER(mortise_acquire_options, locker);
    STRUCT(mortise_status);
    MEMBER(mortise_status, size);
    MEMBER(mortise_status, node_id);
    MEMBER(mortise_status, leader_id);
    MEMBER(mortise_status, term);
    MEMBER(mortise_status, commit_index);
    MEMBER(mortise_status, applied_index);
    MEMBER(mortise_status, members);
    MEMBER(mortise_status, voters);
    MEMBER(mortise_status, is_ready);
    MEMBER(mortise_status, is_stopped);
    STRUCT(mortise_previous);
    MEMBER(mortise_previous, size);
    MEMBER(mortise_previous, label);
    MEMBER(mortise_previous, label_length);
    MEMBER(mortise_previous, token);
    MEMBER(mortise_previous, how);
    MEMBER(mortise_previous, reserved);
    STRUCT(mortise_log_line);
    MEMBER(mortise_log_line, size);
    MEMBER(mortise_log_line, text);
    MEMBER(mortise_log_line, length);
    MEMBER(mortise_log_line, dropped);
    MEMBER(mortise_log_line, level);
    MEMBER(mortise_log_line, reserved);
    STRUCT(mortise_wait_options);
    MEMBER(mortise_wait_options, size);
    MEMBER(mortise_wait_options, label);
    MEMBER(mortise_wait_options, label_length);
    MEMBER(mortise_wait_options, canceller);
    STRUCT(mortise_permit);
    MEMBER(mortise_permit, token);
    MEMBER(mortise_permit, number);
    MEMBER(mortise_permit, reserved);
    STRUCT(mortise_lock_request);
    MEMBER(mortise_lock_request, name);
    MEMBER(mortise_lock_request, name_length);
    MEMBER(mortise_lock_request, mode);
    MEMBER(mortise_lock_request, reserved);
    STRUCT(mortise_observe_options);
    MEMBER(mortise_observe_options, size);
    MEMBER(mortise_observe_options, position);
    MEMBER(mortise_observe_options, position_length);
    MEMBER(mortise_observe_options, only_this_name);
    MEMBER(mortise_observe_options, reserved);
}

static void codes(void) {
    CONSTANT(MORTISE_OK);
    CONSTANT(MORTISE_TIMED_OUT);
    CONSTANT(MORTISE_CANCELLED);
    CONSTANT(MORTISE_SESSION_EXPIRED);
    CONSTANT(MORTISE_LOCK_LOST);
    CONSTANT(MORTISE_NOT_HELD);
    CONSTANT(MORTISE_OUTCOME_UNKNOWN);
    CONSTANT(MORTISE_NO_QUORUM);
    CONSTANT(MORTISE_NOT_READY);
    CONSTANT(MORTISE_DEADLOCK);
    CONSTANT(MORTISE_RESOURCE_EXHAUSTED);
    CONSTANT(MORTISE_INVALID_ARGUMENT);
    CONSTANT(MORTISE_KIND_MISMATCH);
    CONSTANT(MORTISE_STALE_REQUEST);
    CONSTANT(MORTISE_NODE_STOPPED);
    CONSTANT(MORTISE_FORKED);
    CONSTANT(MORTISE_PERMISSION_DENIED);
    CONSTANT(MORTISE_INCOMPATIBLE);
    CONSTANT(MORTISE_DIRECTORY_LOCKED);
    CONSTANT(MORTISE_DIRECTORY_DAMAGED);
    CONSTANT(MORTISE_DIRECTORY_NEWER_FORMAT);
    CONSTANT(MORTISE_DIRECTORY_WRONG_NODE);
    CONSTANT(MORTISE_DIRECTORY_IO);
    CONSTANT(MORTISE_DIRECTORY_NO_SPACE);
    CONSTANT(MORTISE_DIRECTORY_SHORTAGE);
    CONSTANT(MORTISE_DIRECTORY_CLOSED);
    CONSTANT(MORTISE_DIRECTORY_DENIED);
    CONSTANT(MORTISE_DIRECTORY_NOT_A_DIRECTORY);
    CONSTANT(MORTISE_OUT_OF_MEMORY);
    CONSTANT(MORTISE_SYSTEM_ERROR);
    CONSTANT(MORTISE_INTERNAL_ERROR);
}

static void choices(void) {
    CONSTANT(MORTISE_LOG_DEBUG);
    CONSTANT(MORTISE_LOG_INFO);
    CONSTANT(MORTISE_LOG_WARN);
    CONSTANT(MORTISE_LOG_ERROR);
    CONSTANT(MORTISE_LOG_OFF);
    CONSTANT(MORTISE_MODE_EXCLUSIVE);
    CONSTANT(MORTISE_MODE_SHARED);
    CONSTANT(MORTISE_MODE_UPDATE);
    CONSTANT(MORTISE_MODE_INTENT_SHARED);
    CONSTANT(MORTISE_MODE_INTENT_EXCLUSIVE);
    CONSTANT(MORTISE_MODE_SHARED_INTENT_EXCLUSIVE);
    CONSTANT(MORTISE_QUEUE_POLICY_DEFAULT);
    CONSTANT(MORTISE_QUEUE_POLICY_PHASE_FAIR);
    CONSTANT(MORTISE_QUEUE_POLICY_FIFO);
    CONSTANT(MORTISE_QUEUE_POLICY_PREFER_READERS);
    CONSTANT(MORTISE_QUEUE_POLICY_PREFER_WRITERS);
    CONSTANT(MORTISE_ON_UNCERTAIN_LOSE);
    CONSTANT(MORTISE_ON_UNCERTAIN_SUSPEND);
    CONSTANT(MORTISE_CACHING_ADAPTIVE);
    CONSTANT(MORTISE_CACHING_OFF);
    CONSTANT(MORTISE_HOLD_HELD);
    CONSTANT(MORTISE_HOLD_AT_RISK);
    CONSTANT(MORTISE_HOLD_SUSPENDED);
    CONSTANT(MORTISE_HOLD_LOST);
    CONSTANT(MORTISE_HOLD_RELEASED);
    CONSTANT(MORTISE_LOSS_NONE);
    CONSTANT(MORTISE_LOSS_EXPIRED);
    CONSTANT(MORTISE_LOSS_BROKEN);
    CONSTANT(MORTISE_LOSS_NODE_STOPPED);
    CONSTANT(MORTISE_LOSS_FORKED);
    CONSTANT(MORTISE_PREDECESSOR_NONE);
    CONSTANT(MORTISE_PREDECESSOR_CLEAN);
    CONSTANT(MORTISE_PREDECESSOR_EXPIRED);
    CONSTANT(MORTISE_PREDECESSOR_BROKEN);
    CONSTANT(MORTISE_READ_LINEARIZABLE);
    CONSTANT(MORTISE_READ_LOCAL);
}

int main(void) {
    const mortise_acquire_options options = MORTISE_ACQUIRE_OPTIONS_INIT;
    const mortise_wait_options wait = MORTISE_WAIT_OPTIONS_INIT;
    const mortise_observe_options observe = MORTISE_OBSERVE_OPTIONS_INIT;
    structs();
    codes();
    choices();
    return options.size == sizeof options && options.canceller == NULL &&
                   wait.size == sizeof wait && wait.canceller == NULL &&
                   observe.size == sizeof observe && observe.position == NULL
               ? 0
               : 1;
}
