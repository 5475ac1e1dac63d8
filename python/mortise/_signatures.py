"""The structs and the functions of mortise.h that the package uses, as ctypes needs them."""

from __future__ import annotations

from ctypes import (
    CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64,
    c_void_p)
from typing import Any


class _WithCanceller:
    """Options of a wait."""

    kept: Any = None  # the object whose handle is in `canceller`
    canceller: Any

    def keep(self, canceller: Any) -> None:
        self.kept = canceller
        self.canceller = canceller._handle


class AcquireOptions(_WithCanceller, Structure):
    """mortise_acquire_options; zero is the default of every member."""

    _fields_ = [
        ("size", c_size_t), ("label", c_char_p), ("label_length", c_size_t),
        ("max_hold_ns", c_int64), ("min_hold_ns", c_int64),
        ("progress_timeout_ns", c_int64), ("lock_delay_ns", c_int64), ("mode", c_int32),
        ("priority", c_int32), ("queue_policy", c_int32), ("on_uncertain", c_int32),
        ("caching", c_int32), ("reserved", c_int32), ("canceller", c_void_p),
        ("contended", c_void_p), ("locker", c_void_p)]

    owners: Any = ()  # of the objects whose handles are in the last two


class WaitOptions(_WithCanceller, Structure):
    """mortise_wait_options; zero is the default of every member."""

    _fields_ = [
        ("size", c_size_t), ("label", c_char_p), ("label_length", c_size_t),
        ("canceller", c_void_p)]


class CStatus(Structure):
    """mortise_status."""

    _fields_ = [
        ("size", c_size_t), ("node_id", c_uint64), ("leader_id", c_uint64), ("term", c_uint64),
        ("commit_index", c_uint64), ("applied_index", c_uint64), ("members", c_uint32),
        ("voters", c_uint32), ("is_ready", c_int32), ("is_stopped", c_int32)]


class CPrevious(Structure):
    """mortise_previous."""

    _fields_ = [
        ("size", c_size_t), ("label", c_void_p), ("label_length", c_size_t), ("token", c_int64),
        ("how", c_int32), ("reserved", c_int32)]


class CLogLine(Structure):
    """mortise_log_line."""

    _fields_ = [
        ("size", c_size_t), ("text", c_void_p), ("length", c_size_t), ("dropped", c_uint64),
        ("level", c_int32), ("reserved", c_int32)]


class CPermit(Structure):
    """mortise_permit."""

    _fields_ = [("token", c_int64), ("number", c_uint32), ("reserved", c_uint32)]


class CLockRequest(Structure):
    """mortise_lock_request."""

    _fields_ = [
        ("name", c_char_p), ("name_length", c_size_t), ("mode", c_int32), ("reserved", c_int32)]


class CObserveOptions(Structure):
    """mortise_observe_options; zero is the default of every member."""

    _fields_ = [
        ("size", c_size_t), ("position", c_char_p), ("position_length", c_size_t),
        ("only_this_name", c_int32), ("reserved", c_int32)]


LOST_CALLBACK = CFUNCTYPE(None, c_void_p)
DESTROY_CALLBACK = CFUNCTYPE(None, c_void_p)
LOG_CALLBACK = CFUNCTYPE(None, c_void_p, c_int32, c_void_p, c_size_t)
LEADER_CALLBACK = CFUNCTYPE(None, c_void_p, c_void_p)
ACQUIRED_CALLBACK = CFUNCTYPE(None, c_void_p, c_int, c_void_p, c_void_p)
WAITED_CALLBACK = CFUNCTYPE(None, c_void_p, c_int, c_int, c_void_p)
EVENT_CALLBACK = CFUNCTYPE(None, c_void_p, c_void_p, c_size_t)
CONTENDED_CALLBACK = CFUNCTYPE(None, c_void_p, c_int32, c_size_t, c_void_p, c_size_t)

_OUT = POINTER(c_void_p)  # where a handle or an error goes
_TEXT = [c_char_p, c_size_t]
_ACQUIRE = [c_void_p, *_TEXT, POINTER(AcquireOptions), _OUT, _OUT]
_PERMITS = [c_void_p, c_uint32, POINTER(AcquireOptions), _OUT, _OUT]
_THEN = [ACQUIRED_CALLBACK, c_void_p, DESTROY_CALLBACK, _OUT]
_WAIT_FOR = [c_void_p, c_int64, POINTER(WaitOptions), POINTER(c_int), _OUT]
_THEN_WAITED = [WAITED_CALLBACK, c_void_p, DESTROY_CALLBACK, _OUT]
_SEVERAL = [c_void_p, POINTER(CLockRequest), c_size_t, c_int64, POINTER(AcquireOptions)]
_BREAK = [c_void_p, *_TEXT, c_int64, *_TEXT, _OUT]
_JSON = [_OUT, POINTER(c_size_t), _OUT]

# name: (result, parameters)
SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "version": (c_char_p, []),
    "code_is_retryable": (c_int, [c_int]),
    "error_code": (c_int, [c_void_p]),
    "error_message": (c_void_p, [c_void_p, POINTER(c_size_t)]),
    "error_reason": (c_void_p, [c_void_p, POINTER(c_size_t)]),
    "error_lock_name": (c_void_p, [c_void_p, POINTER(c_size_t)]),
    "error_errno": (c_int, [c_void_p]),
    "error_free": (None, [c_void_p]),
    "bytes_free": (None, [c_void_p]),
    "config_from_file": (c_int, [*_TEXT, _OUT, _OUT]),
    "config_from_string": (c_int, [*_TEXT, _OUT, _OUT]),
    "config_from_environment": (c_int, [_OUT, _OUT]),
    "config_single_node": (c_int, [*_TEXT, _OUT, _OUT]),
    "config_in_memory": (c_int, [_OUT, _OUT]),
    "config_set_log": (c_int, [c_void_p, c_int32, LOG_CALLBACK, c_void_p, DESTROY_CALLBACK, _OUT]),
    "config_queue_log": (c_int, [c_void_p, c_int32, c_size_t, _OUT, _OUT]),
    "config_free": (None, [c_void_p]),
    "log_queue_next": (c_int, [c_void_p, POINTER(CLogLine), _OUT]),
    "log_queue_close": (None, [c_void_p]),
    "log_queue_free": (None, [c_void_p]),
    "node_open": (c_int, [c_void_p, _OUT, _OUT]),
    "node_wait_ready": (c_int, [c_void_p, c_int64, _OUT]),
    "node_id": (c_uint64, [c_void_p]),
    "node_close": (None, [c_void_p]),
    "node_free": (None, [c_void_p]),
    "node_status": (c_int, [c_void_p, POINTER(CStatus), _OUT]),
    "node_acquire": (c_int, _ACQUIRE),
    "node_try_acquire": (c_int, _ACQUIRE),
    "node_acquire_for": (c_int, [*_ACQUIRE[:3], c_int64, *_ACQUIRE[3:]]),
    "node_acquire_async": (c_int, [*_ACQUIRE[:3], c_int64, _ACQUIRE[3], *_THEN]),
    "node_acquire_all_for": (c_int, [*_SEVERAL, _OUT, _OUT]),
    "node_acquire_any_for": (c_int, [*_SEVERAL, _OUT, _OUT]),
    "node_acquire_all_async": (c_int, [*_SEVERAL, *_THEN]),
    "node_acquire_any_async": (c_int, [*_SEVERAL, *_THEN]),
    "node_break_lock": (c_int, _BREAK),
    "node_break_lock_now": (c_int, _BREAK),
    "node_evict": (c_int, [c_void_p, c_uint64, *_TEXT, _OUT]),
    "node_evict_now": (c_int, [c_void_p, c_uint64, *_TEXT, _OUT]),
    "node_request_release": (c_int, [c_void_p, *_TEXT, *_TEXT, _OUT]),
    "node_inspect": (c_int, [c_void_p, *_TEXT, c_int32, *_JSON]),
    "node_list": (c_int, [c_void_p, *_TEXT, *_TEXT, c_size_t, c_int32, *_JSON]),
    "node_sessions": (c_int, [c_void_p, c_int32, *_JSON]),
    "node_observe": (c_int, [c_void_p, *_TEXT, POINTER(CObserveOptions), EVENT_CALLBACK, c_void_p,
                             DESTROY_CALLBACK, _OUT, _OUT]),
    "node_metrics": (c_int, [c_void_p, *_JSON]),
    "node_prometheus": (c_int, [c_void_p, *_JSON]),
    "node_members": (c_int, [c_void_p, *_JSON]),
    "node_add_member": (c_int, [c_void_p, c_uint64, *_TEXT, _OUT]),
    "node_promote_member": (c_int, [c_void_p, c_uint64, _OUT]),
    "node_remove_member": (c_int, [c_void_p, c_uint64, _OUT]),
    "node_move_member": (c_int, [c_void_p, c_uint64, *_TEXT, _OUT]),
    "node_transfer_leadership": (c_int, [c_void_p, c_uint64, _OUT]),
    "contended_new": (c_int, [CONTENDED_CALLBACK, c_void_p, DESTROY_CALLBACK, _OUT, _OUT]),
    "contended_free": (None, [c_void_p]),
    "locker_new": (c_int, [c_void_p, *_TEXT, _OUT, _OUT]),
    "locker_free": (None, [c_void_p]),
    "locker_hold_count": (c_size_t, [c_void_p]),
    "locker_release_all": (c_int, [c_void_p, _OUT]),
    "canceller_new": (c_int, [_OUT, _OUT]),
    "canceller_cancel": (None, [c_void_p]),
    "canceller_free": (None, [c_void_p]),
    "hold_release": (c_int, [c_void_p, _OUT]),
    "hold_unlock": (None, [c_void_p]),
    "hold_free": (None, [c_void_p]),
    "hold_name": (c_void_p, [c_void_p, POINTER(c_size_t)]),
    "hold_mode": (c_int32, [c_void_p]),
    "hold_token": (c_int64, [c_void_p]),
    "hold_valid": (c_int, [c_void_p]),
    "hold_remaining_ns": (c_int64, [c_void_p]),
    "hold_state": (c_int, [c_void_p]),
    "hold_why_lost": (c_int32, [c_void_p]),
    "hold_check": (c_int, [c_void_p, _OUT]),
    "hold_confirm": (c_int, [c_void_p, c_int64, _OUT]),
    "hold_checkpoint": (None, [c_void_p]),
    "hold_on_lost": (c_int, [c_void_p, LOST_CALLBACK, c_void_p, DESTROY_CALLBACK, _OUT]),
    "hold_value": (c_int, [c_void_p, _OUT, POINTER(c_size_t), _OUT]),
    "hold_set_value": (c_int, [c_void_p, *_TEXT, _OUT]),
    "hold_consistent": (c_int, [c_void_p, _OUT]),
    "hold_previous": (c_int, [c_void_p, POINTER(CPrevious), _OUT]),
    "hold_downgrade": (c_int, [c_void_p, c_int32, _OUT]),
    "hold_upgrade_for": (c_int, _WAIT_FOR),
    "hold_upgrade_async": (c_int, [*_WAIT_FOR[:3], *_THEN_WAITED]),
    "hold_parts": (c_size_t, [c_void_p]),
    "hold_part": (c_void_p, [c_void_p, c_size_t]),
    "hold_slots": (c_size_t, [c_void_p, POINTER(c_uint32), c_size_t]),
    "node_remove": (c_int, [c_void_p, *_TEXT, _OUT]),
    "semaphore_new": (c_int, [c_void_p, *_TEXT, c_uint32, _OUT, _OUT]),
    "semaphore_free": (None, [c_void_p]),
    "semaphore_try_acquire": (c_int, _PERMITS),
    "semaphore_acquire_for": (c_int, [*_PERMITS[:2], c_int64, *_PERMITS[2:]]),
    "semaphore_acquire_async": (c_int, [*_PERMITS[:2], c_int64, _PERMITS[2], *_THEN]),
    "semaphore_resize": (c_int, [c_void_p, c_uint32, _OUT]),
    "semaphore_limit": (c_int, [c_void_p, POINTER(c_uint32), _OUT]),
    "rate_limiter_new": (c_int, [c_void_p, *_TEXT, c_uint32, c_int64, _OUT, _OUT]),
    "rate_limiter_free": (None, [c_void_p]),
    "rate_limiter_acquire_for": (c_int, [c_void_p, c_uint32, c_int64, POINTER(AcquireOptions),
                                         POINTER(c_int), POINTER(CPermit), _OUT]),
    "latch_new": (c_int, [c_void_p, *_TEXT, c_int64, _OUT, _OUT]),
    "latch_free": (None, [c_void_p]),
    "latch_count_down": (c_int, [c_void_p, c_int64, _OUT]),
    "latch_try_wait": (c_int, [c_void_p, POINTER(c_int), _OUT]),
    "latch_wait_for": (c_int, _WAIT_FOR),
    "latch_wait_async": (c_int, [*_WAIT_FOR[:3], *_THEN_WAITED]),
    "latch_count_down_async": (c_int, [c_void_p, c_int64, *_THEN_WAITED]),
    "barrier_new": (c_int, [c_void_p, *_TEXT, c_int64, _OUT, _OUT]),
    "barrier_free": (None, [c_void_p]),
    "barrier_arrive_and_wait_for": (c_int, _WAIT_FOR),
    "barrier_arrive_and_wait_async": (c_int, [*_WAIT_FOR[:3], *_THEN_WAITED]),
    "barrier_arrive_and_drop": (c_int, [c_void_p, _OUT]),
    "election_new": (c_int, [c_void_p, *_TEXT, _OUT, _OUT]),
    "election_free": (None, [c_void_p]),
    "election_campaign": (c_int, _ACQUIRE),
    "election_campaign_async": (c_int, [*_ACQUIRE[:4], *_THEN]),
    "election_publish": (c_int, [c_void_p, c_void_p, *_TEXT, _OUT]),
    "election_resign": (c_int, [c_void_p, c_void_p, _OUT]),
    "election_leader": (c_int, [c_void_p, _OUT, _OUT]),
    "election_observe": (c_int, [c_void_p, LEADER_CALLBACK, c_void_p, DESTROY_CALLBACK, _OUT,
                                 _OUT]),
    "leader_node": (c_uint64, [c_void_p]),
    "leader_token": (c_int64, [c_void_p]),
    "leader_value": (c_void_p, [c_void_p, POINTER(c_size_t)]),
    "leader_free": (None, [c_void_p]),
    "observation_free": (None, [c_void_p]),
}
