/* S6, S17-S19: every grant of a live session belongs to a waiting call, a hold or the reaper.
 *
 * One name, a process that asks for it twice (operations 1 and 2, one after the other), a rival
 * (operation 3) that comes and goes. Calls time out, holds are lost locally (the lease ran out, the
 * session lives) or released. What was sent is delivered at any later time, in any order, more than
 * once, or never; answers too. With the session everything of it ends.
 */
#define CALLS 3                    /* operations 1 and 2 of the process; 0 is unused */
#define RIVAL 3
mtype = { unused, waiting, held, reaping, done };

mtype state[CALLS] = unused;
byte holder;                       /* the operation that has the name; 0: nobody */
byte queued, over;                 /* masks by operation: waits there; is finished for good */
byte acquires, cancels, releases;  /* masks: such a message was sent */
byte grants, ends;                 /* masks: such an answer was given */
bool session_over;
byte k;                            /* scratch, zero between steps */

#define BIT(mask, op)  (((mask) >> (op)) & 1)
#define SET(mask, op)  mask = mask | (1 << (op))
#define DROP(mask, op) mask = mask & ~(1 << (op))
#define ANY_CALL       if :: k = 1 :: k = 2 fi
#define DONE           k = 0; accounted_for()

inline accounted_for() {
  assert(session_over || holder == 0 || holder == RIVAL
         || state[holder] == waiting || state[holder] == held || state[holder] == reaping);
  assert(session_over || state[1] != held || holder == 1);
  assert(session_over || state[2] != held || holder == 2)
}

/* --- the cluster */

inline grant(op) { holder = op; DROP(queued, op); SET(grants, op) }

inline free_name() {
  holder = 0;
  if
  :: BIT(queued, 1) -> grant(1)
  :: BIT(queued, 2) -> grant(2)
  :: BIT(queued, RIVAL) -> grant(RIVAL)
  :: else
  fi
}

inline take_acquire(op) {
  if
#ifdef REPEAT_TAKES_EFFECT         /* not exactly once: a delayed copy asks again */
  :: holder == op || BIT(queued, op) -> skip
#else
  :: holder == op || BIT(queued, op) || BIT(over, op) -> skip
#endif
  :: else -> if :: holder == 0 -> grant(op) :: else -> SET(queued, op) fi
  fi
}

inline take_cancel(op) {
  DROP(queued, op); SET(ends, op);
#ifdef CANCEL_LEAVES_NO_TRACE      /* of an acquire that did not arrive yet */
  if :: BIT(grants, op) -> SET(over, op) :: else fi;
#else
  SET(over, op);
#endif
#ifdef CANCEL_KEEPS_THE_GRANT      /* "too late to cancel" */
  skip
#else
  if :: holder == op -> free_name() :: else fi
#endif
}

inline take_release(op) {
  SET(over, op); SET(ends, op);
  if
#ifdef RELEASE_BY_NAME             /* does not name the grant it is about */
  :: holder == 1 || holder == 2 -> free_name()
#else
  :: holder == op -> free_name()
#endif
  :: else
  fi
}

/* --- the process */

inline reap_cancel(op) {
#ifdef TIMEOUT_WITHOUT_REAPER
  state[op] = done
#elif defined(REAPER_SENDS_ONCE)
  state[op] = done; SET(cancels, op)
#else
  state[op] = reaping; SET(cancels, op)
#endif
}

inline reap_release(op) {
#ifdef LOSS_WITHOUT_REAPER         /* local expiry is final, so nothing is left to do */
  state[op] = done
#else
  state[op] = reaping; SET(releases, op)
#endif
}

active proctype world() {
  do
  :: atomic { !session_over -> ANY_CALL;            /* calls */
       if
       :: state[k] == unused && (k == 1 || state[1] == reaping || state[1] == done) ->
            state[k] = waiting; SET(acquires, k)
       :: else
       fi; DONE }
  :: atomic { ANY_CALL;                             /* gives up at its deadline */
       if :: state[k] == waiting -> reap_cancel(k) :: else fi; DONE }
  :: atomic { ANY_CALL;                             /* releases, or the lease ran out */
       if :: state[k] == held -> reap_release(k) :: else fi; DONE }
  :: atomic { ANY_CALL;                             /* learns of its grant */
       if
       :: BIT(grants, k) && state[k] == waiting -> state[k] = held
       :: BIT(grants, k) && state[k] == reaping -> SET(releases, k)
       :: else
       fi; DONE }
  :: atomic { ANY_CALL;                             /* learns that an operation ended */
       if :: BIT(ends, k) && state[k] == reaping -> state[k] = done :: else fi; DONE }

  :: atomic { !session_over -> ANY_CALL;
       if :: BIT(acquires, k) -> take_acquire(k) :: else fi; DONE }
  :: atomic { !session_over -> ANY_CALL;
       if :: BIT(cancels, k) -> take_cancel(k) :: else fi; DONE }
  :: atomic { !session_over -> ANY_CALL;
       if :: BIT(releases, k) -> take_release(k) :: else fi; DONE }
  :: atomic { holder != RIVAL && !BIT(queued, RIVAL) ->
       if :: holder == 0 -> grant(RIVAL) :: else -> SET(queued, RIVAL) fi; DONE }
  :: atomic { holder == RIVAL -> free_name(); DONE }
  :: atomic { !session_over -> session_over = 1; queued = queued & (1 << RIVAL);
       if :: holder == 1 || holder == 2 -> free_name() :: else fi; DONE }
  od
}
