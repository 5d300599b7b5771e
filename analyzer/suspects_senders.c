/* Senders of datagrams: a queue pair counts its PSNs up over all that it sends to, and its card has traits of its own. */
#include <errno.h>
#include <string.h>

#include <flow/hash.h>
#include <flow/reserve.h>

#include "suspects_ordinary.h"

enum {
	SETS = 1 << 13,
	WAYS = 4,     /* 32768 senders at once; of a full set, the idlest makes room */
	NEAR = 256,   /* PSNs that datagrams to others may have taken at any time .. */
	PER_US = 128, /* .. and in each microsecond since the last one to here */
	AHEAD_MOST = (1 << 23) - 1,
	CLOSE = 4096,      /* PSNs ahead where no other life of the queue pair is met by chance */
	SURE_MOMENTS = 11, /* more than FT_SUSPECTS_PAUSE_NS: nothing is late for so long */
	ADOPTED = 4,       /* of another sequence, in a row: it is the sender's .. */
	ADOPTED_FOREIGN = 16, /* .. also if they look like another's */
	STRAYS_MOST = 255,
};

#define RECENT_NS UINT64_C(1000000000)

/* each address handle has its own */
#define FROM_HANDLE (FT_STRANGE_TTL | FT_STRANGE_DSCP | FT_STRANGE_PORT)

struct sender {
	_Alignas(64) uint64_t last_ns; /* of the newest in its sequence */
	uint32_t digest;               /* 0: free */
	uint32_t psn : 24;             /* likewise */
	uint32_t went_on : 8;          /* datagrams in sequence, up to FT_SUSPECTS_LEARNT */
	struct ft_sender_look look;
	uint32_t first_psn : 24;
	uint32_t strays : 8;    /* datagrams since then that are not of the sequence */
	uint32_t dest_qp : 24;  /* of the newest */
	uint32_t resumed : 8;   /* 1: the sequence went on behind such */
	uint32_t recent_psn;    /* the newest at .. */
	uint32_t recent_moment; /* .. this moment; some time later it becomes .. */
	/* .. this: what is not behind it, comes too late for any path; FT_PSN_NONE */
	uint32_t sure_psn;
	uint16_t base; /* of its P_Key */
	uint16_t vlan;
};
static_assert(sizeof(struct sender) == 64, "a cache line");

struct ft_datagram_senders {
	struct sender all[SETS * WAYS];
};

/* Pages come as they are used. */
int ft_datagram_senders_create(struct ft_datagram_senders **senders)
{
	void *memory = ft_reserve(sizeof **senders);

	if (memory == NULL)
		return -ENOMEM;
	*senders = memory;
	return 0;
}

void ft_datagram_senders_destroy(struct ft_datagram_senders *senders)
{
	ft_release(senders, sizeof *senders);
}

/* --- where it is --- */

/* Of a source queue pair; what it sends may come in another VLAN than what it gets. */
static uint64_t digest_of(const struct ft_flow_key *key, uint32_t source_qp)
{
	const uint64_t rest[2] = { (uint64_t)source_qp << 32 | key->vni, key->by_lid };

	return ft_hash(rest, sizeof rest, ft_hash(key, offsetof(struct ft_flow_key, dest_qp), 0)) |
	       1;
}

static struct sender *set_of(struct ft_datagram_senders *senders, uint64_t digest)
{
	return &senders->all[(digest >> 32 & (SETS - 1)) * WAYS];
}

/* Known, or in the place of the idlest and all zero but for the digest and the VLAN. */
static struct sender *sender_of(struct ft_datagram_senders *senders, uint64_t digest, uint16_t vlan)
{
	struct sender *set = set_of(senders, digest), *idlest = set;

	for (unsigned way = 0; way < WAYS; way++)
		if (set[way].digest == (uint32_t)digest && set[way].vlan == vlan)
			return &set[way];
	for (unsigned way = 1; way < WAYS; way++)
		if (set[way].last_ns < idlest->last_ns)
			idlest = &set[way];
	*idlest = (struct sender){ .digest = (uint32_t)digest, .vlan = vlan };
	return idlest;
}

bool ft_datagram_senders_know(struct ft_datagram_senders *senders, const struct ft_flow_key *key,
			      uint32_t source_qp)
{
	uint64_t digest = digest_of(key, source_qp);
	const struct sender *set = set_of(senders, digest);
	bool known = false;

	for (unsigned way = 0; way < WAYS; way++)
		known |= set[way].digest == (uint32_t)digest;
	return known;
}

/* --- what is learnt --- */

/* It is this one's from now on. */
static void begin(struct sender *sender, const struct ft_observed *observed)
{
	*sender = (struct sender){
		.last_ns = observed->ts_ns,
		.digest = sender->digest,
		.vlan = sender->vlan,
		.psn = observed->psn & FT_PSN_MOST,
		.first_psn = observed->psn & FT_PSN_MOST,
		.dest_qp = observed->dest_qp & 0xffffff,
		.recent_psn = observed->psn,
		.recent_moment = ft_suspects_moment(observed->ts_ns),
		.sure_psn = FT_PSN_NONE,
		.base = observed->pkey & 0x7fff,
	};
	ft_look_learn(&sender->look, observed, false);
}

/* The sequence goes on with it. */
static void go_on(struct sender *sender, const struct ft_observed *observed)
{
	uint32_t moment = ft_suspects_moment(observed->ts_ns);

	if (moment - sender->recent_moment >= SURE_MOMENTS) {
		sender->sure_psn = sender->recent_psn;
		sender->recent_psn = observed->psn;
		sender->recent_moment = moment;
	}
	sender->psn = observed->psn & FT_PSN_MOST;
	if (observed->ts_ns > sender->last_ns)
		sender->last_ns = observed->ts_ns;
	if (sender->went_on < FT_SUSPECTS_LEARNT)
		sender->went_on++;
}

/* It is the sender's, whichever way it came. */
static void learn(struct sender *sender, const struct ft_observed *observed)
{
	struct ft_sender_look *look = &sender->look;
	uint16_t ip_id = look->ip_id;

	memcpy(look, ft_look_traits(observed), offsetof(struct ft_sender_look, learnt));
	look->ip_id = ip_id;
	ft_look_learn_id(look, observed->ip_id);
	sender->dest_qp = observed->dest_qp & 0xffffff;
	sender->base = observed->pkey & 0x7fff;
}

/* --- what is held against one --- */

enum place { GOES_ON, IS_LATE, IS_ASTRAY };

static uint64_t since(const struct sender *sender, const struct ft_observed *observed)
{
	return observed->ts_ns > sender->last_ns ? observed->ts_ns - sender->last_ns : 0;
}

static int32_t reach(uint64_t since_ns)
{
	uint64_t most = NEAR + since_ns / 1000 * PER_US;

	return most < AHEAD_MOST ? (int32_t)most : AHEAD_MOST;
}

/* The newest PSN that passed so long ago that nothing from before it is still on its way; FT_PSN_NONE: not known. */
static uint32_t sure_psn(const struct sender *sender, const struct ft_observed *observed)
{
	uint32_t moment = ft_suspects_moment(observed->ts_ns);

	if (since(sender, observed) > FT_SUSPECTS_PAUSE_NS)
		return sender->psn;
	return moment - sender->recent_moment >= SURE_MOMENTS ? sender->recent_psn
							      : sender->sure_psn;
}

static enum place place_of(const struct sender *sender, const struct ft_observed *observed)
{
	int32_t ahead = ft_psn_distance(observed->psn, sender->psn);
	uint32_t sure = sure_psn(sender, observed);

	if (ahead > 0)
		return ahead <= reach(since(sender, observed)) ? GOES_ON : IS_ASTRAY;
	if (ahead < -reach(FT_SUSPECTS_PAUSE_NS) ||
	    (sure != FT_PSN_NONE && ft_psn_distance(observed->psn, sure) <= 0))
		return IS_ASTRAY;
	return IS_LATE;
}

/* No router on the way to the tap has put its own MAC address in its place. */
static bool is_from_card(const struct ft_observed *observed, uint8_t ttl)
{
	return (observed->has & FT_OBSERVED_IP) == 0 || ttl == ft_look_ttl_origin(ttl);
}

static bool is_other_card(const struct sender *sender, const struct ft_observed *observed,
			  uint32_t strange)
{
	return (strange & FT_STRANGE_MAC) != 0 && is_from_card(observed, sender->look.ttl) &&
	       is_from_card(observed, observed->ttl);
}

/* Its PSN, and its identification with it, are such as the sender used before: a mirror may lag by any time. */
static bool may_lag(const struct sender *sender, const struct ft_observed *observed)
{
	int32_t behind = ft_psn_distance(sender->psn, observed->psn);

	return behind >= 0 && behind <= ft_psn_distance(sender->psn, sender->first_psn);
}

static uint32_t strange_of(const struct sender *sender, const struct ft_observed *observed,
			   enum place place)
{
	uint32_t strange = ft_look_differences(&sender->look, observed, since(sender, observed));

	if (ft_look_is_hop(strange, &sender->look, observed, place != GOES_ON))
		strange = 0;
	if (observed->dest_qp != sender->dest_qp)
		strange &= ~(uint32_t)FROM_HANDLE;
	if ((observed->pkey & 0x7fff) != sender->base)
		strange |= FT_STRANGE_PKEY;
	return strange | (place == IS_ASTRAY ? FT_STRANGE_PSN : 0);
}

/*
 * In ways that neither a path, nor another address handle of the sender, nor a mirror that lags explains: another card's
 * address, or two things that a queue pair has one of. After a pause it may be another life of the queue pair, whose card is
 * the same.
 */
static bool is_foreign(const struct sender *sender, const struct ft_observed *observed,
		       uint32_t strange)
{
	const uint32_t counters = strange & (FT_STRANGE_PSN | FT_STRANGE_IP_ID);
	const struct ft_sender_look *look = &sender->look;
	bool lags = may_lag(sender, observed) && ft_look_id_may_lag(look, observed->ip_id, true);
	bool other_system = (strange & FT_STRANGE_TTL) != 0 &&
			    ft_look_ttl_origin(look->ttl) != ft_look_ttl_origin(observed->ttl);

	if (is_other_card(sender, observed, strange))
		return counters != 0 || other_system || (strange & FT_STRANGE_PKEY) != 0;
	if (since(sender, observed) > FT_SUSPECTS_PAUSE_NS)
		return false;
	if (other_system)
		return counters != 0 || (strange & FT_STRANGE_PKEY) != 0;
	if ((strange & FT_STRANGE_PKEY) != 0)
		return (strange & FT_STRANGE_PSN) != 0;
	return counters == (FT_STRANGE_PSN | FT_STRANGE_IP_ID) && !lags &&
	       (strange & (FT_STRANGE_MAC | FROM_HANDLE)) != 0;
}

/* One that is not the sender's, as far as it is known: a few in a row, while the sender is silent, are its new life. */
static void see_stray(struct sender *sender, const struct ft_observed *observed, bool foreign)
{
	if (sender->strays < STRAYS_MOST)
		sender->strays++;
	if (sender->strays >= (foreign ? ADOPTED_FOREIGN : ADOPTED) &&
	    since(sender, observed) > FT_SUSPECTS_PAUSE_NS)
		begin(sender, observed);
}

static void see_own(struct sender *sender, const struct ft_observed *observed)
{
	if (sender->strays != 0 && ft_psn_distance(observed->psn, sender->psn) <= CLOSE)
		sender->resumed = 1;
	sender->strays = 0;
	learn(sender, observed);
	go_on(sender, observed);
}

/* Of another card, and nothing else is odd: the sequence goes on with it, but the look stays for a while. */
static void see_other_card(struct sender *sender, const struct ft_observed *observed)
{
	if (sender->strays + 1u >= ADOPTED) {
		see_own(sender, observed);
		return;
	}
	sender->strays++;
	go_on(sender, observed);
}

/* Too little is known yet to hold anything against it. */
static void meet(struct sender *sender, const struct ft_observed *observed, enum place place)
{
	if (place == GOES_ON)
		see_own(sender, observed);
	else if (place == IS_ASTRAY)
		begin(sender, observed);
}

static void judge(struct sender *sender, const struct ft_observed *observed, enum place place,
		  struct ft_sender_verdict *verdict)
{
	bool paused = since(sender, observed) > FT_SUSPECTS_PAUSE_NS;

	verdict->strange = strange_of(sender, observed, place);
	verdict->foreign = is_foreign(sender, observed, verdict->strange);
	verdict->astray = place == IS_ASTRAY && !verdict->foreign && !may_lag(sender, observed) &&
			  (!paused || sender->resumed != 0);
	verdict->comparable = place != GOES_ON && !paused;
	if (verdict->foreign || place == IS_ASTRAY)
		see_stray(sender, observed, verdict->foreign);
	else if (place == GOES_ON && is_other_card(sender, observed, verdict->strange))
		see_other_card(sender, observed);
	else if (place == GOES_ON)
		see_own(sender, observed);
}

struct ft_sender_verdict ft_datagram_senders_step(struct ft_datagram_senders *senders,
						  const struct ft_flow_key *key,
						  const struct ft_observed *observed)
{
	struct sender *sender =
		sender_of(senders, digest_of(key, observed->src_qp), observed->vlan);
	struct ft_sender_verdict verdict = {
		.usual = sender->look,
		.expected_psn = ft_psn_add(sender->psn, 1),
		.usual_base = sender->base,
		.first = sender->last_ns == 0,
	};
	enum place place = place_of(sender, observed);

	if (verdict.first || (place == IS_ASTRAY && since(sender, observed) > RECENT_NS))
		begin(sender, observed);
	else if (sender->went_on < FT_SUSPECTS_LEARNT)
		meet(sender, observed, place);
	else
		judge(sender, observed, place, &verdict);
	if (verdict.first)
		sender_of(senders, digest_of(key, FT_ANY_QP), 0)->last_ns = observed->ts_ns;
	return verdict;
}
