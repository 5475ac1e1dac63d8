/* P8: how long the lock of a dead process can stay taken.
 *
 * The holder dies at time 0 and its last renewal is applied LAG ticks later. Three voters count
 * down TTL ticks from there. Then, in any order and at any time: ELECTIONS leaders are lost,
 * RESTARTS voters restart (each may be the leader), and for SILENCES ticks the leader hears nobody.
 * A tick is: faults, an election that is due, reports, the decision, then the clocks. What a voter
 * counted is saved every SLICE ticks, so a restart takes it back by at most so much (S4).
 * -DDEAD_VOTER: the dead process was voter 0 as well, and stays away.
 */
#define TTL 8                      /* ttl*(1+rho) on the slowest good voter's clock */
#define SLICE 1                    /* ttl/8 */
#define LAG 1                      /* one heartbeat and one commit */
#define ELECTION 2
#define GRACE 1
#ifndef ELECTIONS
#define ELECTIONS 0
#endif
#ifndef RESTARTS
#define RESTARTS 0
#endif
#ifndef SILENCES
#define SILENCES 0
#endif
#define BOUND (TTL + LAG + ELECTIONS*(ELECTION+GRACE) \
               + RESTARTS*(ELECTION+GRACE+SLICE) + SILENCES + 1)
#ifdef DEAD_VOTER
#define UP(v) ((v) != 0)
#else
#define UP(v) (1)
#endif
#ifdef LATE_BATCH                  /* a renewal may wait at the leader for a renewal period */
#define APPLIED_AT (LAG+2)
#else
#define APPLIED_AT LAG
#endif
#define NOBODY 3

byte age, left[3];
byte elections = ELECTIONS, restarts = RESTARTS, silences = SILENCES;
byte leader = 1, election_in, grace;
byte reported;                     /* what this leader heard of */
byte told;                         /* who reported at least once */
byte idle;                         /* voters that hold the session and count nothing */
bool freed, silent;
byte i;

#define MAJORITY(mask) ((mask)==3 || (mask)==5 || (mask)==6 || (mask)==7)
#define SPEND(x) x = ((x) > 0 -> (x)-1 : 0)
#define BIT(mask, v) (((mask) >> (v)) & 1)

inline lose_leader() { leader = NOBODY; election_in = ELECTION; reported = 0 }

inline restart_voter() {
  if :: i = 0 :: i = 1 :: i = 2 fi;
  if
  :: UP(i) && age >= APPLIED_AT ->
#ifdef NO_COUNTDOWN_AFTER_RESTART
       idle = idle | (1 << i);
#elif defined(FORGET_ELAPSED)      /* a restart counts from nothing again */
       left[i] = TTL;
#else
       if :: left[i] + SLICE < TTL -> left[i] = left[i] + SLICE :: else -> left[i] = TTL fi;
#endif
       if :: leader == i -> lose_leader() :: else fi
  :: else
  fi; i = 0
}

inline faults() {
  silent = 0;
  do
  :: elections > 0 && leader != NOBODY -> elections--; lose_leader()
  :: restarts > 0 -> restarts--; restart_voter()
  :: silences > 0 && !silent -> silences--; silent = 1
  :: break
  od
}

inline elect() {
  if
  :: leader == NOBODY && election_in == 0 ->
       if :: UP(0) -> leader = 0 :: leader = 1 :: leader = 2 fi; grace = GRACE;
#ifdef COUNTDOWN_FROM_FAILOVER     /* a new leader starts every lease anew, as etcd did */
       left[0] = TTL; left[1] = TTL; left[2] = TTL;
#endif
       skip
  :: else
  fi
}

inline hear_report() {
#ifdef REPORT_ONCE                 /* told once; nobody repeats what was lost */
  if
  :: !BIT(told, i) -> told = told | (1 << i);
       if :: leader == i || !silent -> reported = reported | (1 << i) :: else fi
  :: else
  fi
#else
  if :: leader == i || !silent -> reported = reported | (1 << i) :: else fi
#endif
}

inline decide() {
  i = 0;
  do
  :: i < 3 -> if :: UP(i) && left[i] == 0 && !BIT(idle, i) -> hear_report() :: else fi; i++
  :: else -> break
  od; i = 0;
  if :: MAJORITY(reported) && grace == 0 && !silent -> freed = 1 :: else fi
}

active proctype world() {
  d_step { left[0] = TTL+APPLIED_AT; left[1] = TTL+APPLIED_AT; left[2] = TTL+APPLIED_AT; }
  do
  :: freed -> break
  :: else -> atomic {
       faults(); elect();
       if :: leader != NOBODY -> decide() :: else fi;
       if
       :: !freed -> d_step {
            age++; SPEND(left[0]); SPEND(left[1]); SPEND(left[2]);
            if :: leader != NOBODY -> SPEND(grace) :: else -> SPEND(election_in) fi }
            assert(age <= BOUND)
       :: else
       fi }
  od
}
