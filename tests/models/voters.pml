/* S4, who counts: no Expire before a countdown of a good clock ran out, while the members change.
 *
 * The members go from {0,1,2} over the joint configuration to {1,2,3}, or, with -DGROW, to
 * {0,1,2,3,4}. The clocks of 0 and 3 run away: a minority of each. The leader gathers reports about
 * one renewal; good countdowns run out when the true time reaches TTL.
 */
#define TTL 3
byte now, reported, stage = 1, i;  /* stage: 1 old, 2 joint, 3 new */

#define BIT(v) ((reported >> (v)) & 1)
#define OLD (BIT(0)+BIT(1)+BIT(2))
#ifdef GROW
#define NEW (BIT(0)+BIT(1)+BIT(2)+BIT(3)+BIT(4))
#define NEW_MAJORITY 3
#else
#define NEW (BIT(1)+BIT(2)+BIT(3))
#define NEW_MAJORITY 2
#endif
#define EVERYBODY (BIT(0)+BIT(1)+BIT(2)+BIT(3)+BIT(4))

#ifdef REMOVED_COUNTS              /* who ever reported counts, against the size now in force */
#define ENOUGH (stage == 3 -> EVERYBODY >= NEW_MAJORITY : \
               (stage == 2 -> EVERYBODY >= 2 && EVERYBODY >= NEW_MAJORITY : OLD >= 2))
#elif defined(LEARNER_COUNTS)      /* 3, before it votes */
#define ENOUGH (stage == 3 -> NEW >= NEW_MAJORITY : OLD+BIT(3) >= 2)
#elif defined(OLD_SIZE)            /* the new members against the majority of the old */
#define ENOUGH (stage == 3 -> NEW >= 2 : (stage == 2 -> OLD >= 2 && NEW >= 2 : OLD >= 2))
#elif defined(JOINT_BY_EITHER)     /* one of the two majorities is taken for enough */
#define ENOUGH (stage == 3 -> NEW >= NEW_MAJORITY : \
               (stage == 2 -> EVERYBODY >= 2 : OLD >= 2))
#else
#define ENOUGH (stage == 3 -> NEW >= NEW_MAJORITY : \
               (stage == 2 -> OLD >= 2 && NEW >= NEW_MAJORITY : OLD >= 2))
#endif

active proctype world() {
  do
  :: now < TTL -> now++
  :: stage < 3 -> stage++
  :: atomic { if :: i = 0 :: i = 1 :: i = 2 :: i = 3 :: i = 4 fi;
       if :: i == 0 || i == 3 || now >= TTL -> reported = reported | (1 << i) :: else fi; i = 0 }
  :: atomic { ENOUGH -> assert(now >= TTL); break }
  od
}
