/* What the sender of a half-connection looks like: learnt, and compared. */
#include <string.h>

#include "suspects_ordinary.h"

enum {
	ID_PER_US = 16,   /* and what it may give to other connections in a microsecond */
	ID_FAR = 1 << 15, /* half the range: no telling beyond */
};

#define RECENT_NS UINT64_C(1000000000)
#define LAG_NS    UINT64_C(250000) /* of one mirror behind another */

#define FROM_PATH (FT_STRANGE_MAC | FT_STRANGE_TTL | FT_STRANGE_DSCP | FT_STRANGE_PORT)

static uint32_t differences(const struct ft_sender_look *look, const struct ft_observed *observed)
{
	uint32_t strange = 0;

	if (memcmp(look->smac, observed->smac, sizeof look->smac) != 0)
		strange |= FT_STRANGE_MAC;
	if (look->ttl != observed->ttl)
		strange |= FT_STRANGE_TTL;
	if (look->dscp != observed->dscp)
		strange |= FT_STRANGE_DSCP;
	if (look->sport != observed->sport)
		strange |= FT_STRANGE_PORT;
	return strange;
}

/* Identifications that the sender may have used for other connections meanwhile. */
static uint32_t id_slack(uint64_t elapsed_ns)
{
	uint64_t slack = elapsed_ns / 1000 * ID_PER_US + FT_LOOK_ID_NEAR;

	return slack < ID_FAR ? (uint32_t)slack : ID_FAR;
}

/* An identification that a sender of this settled style would not have used. */
static bool id_is_strange(const struct ft_sender_look *look, uint16_t ip_id, uint64_t elapsed_ns)
{
	uint16_t ahead = (uint16_t)(ip_id - look->ip_id);
	uint16_t behind = (uint16_t)(look->ip_id - ip_id);

	if ((look->style & FT_LOOK_ID_SCORE) != FT_LOOK_ID_SETTLED || ft_look_id_fits(look, ip_id))
		return false;
	if ((look->style & FT_LOOK_ID_CONSTANT) != 0)
		return true;
	return (ahead < behind ? ahead : behind) > id_slack(elapsed_ns);
}

/* By itself; farther from the last one than time explains, and not in another life of the queue pair. */
static bool is_other_style(const struct ft_sender_look *look, const struct ft_observed *observed,
			   const struct ft_look_question *question)
{
	return ft_look_id_is_other_style(look, observed->ip_id) &&
	       look->learnt >= FT_SUSPECTS_LEARNT &&
	       question->since_alike_ns <= FT_SUSPECTS_PAUSE_NS &&
	       id_is_strange(look, observed->ip_id, question->since_packet_ns);
}

unsigned ft_look_ttl_origin(uint8_t ttl)
{
	return ttl <= 64 ? 64 : ttl <= 128 ? 128 : 255;
}

/*
 * A change of path, a second viewpoint behind a router, or spraying changes MAC, TTL, DSCP and port
 * together; none of them makes another system's TTL or another counter of IP identifications.
 */
static bool is_foreign(uint32_t strange, const struct ft_sender_look *look, uint8_t ttl)
{
	uint32_t path = strange & FROM_PATH;

	if ((strange & FT_STRANGE_TTL) != 0 &&
	    ft_look_ttl_origin(look->ttl) != ft_look_ttl_origin(ttl))
		return (strange & ~(uint32_t)FT_STRANGE_TTL) != 0;
	return (strange & FT_STRANGE_IP_ID) != 0 && (path & (path - 1)) != 0;
}

bool ft_look_id_may_lag(const struct ft_sender_look *look, uint16_t ip_id, bool late)
{
	uint16_t behind = (uint16_t)(look->ip_id - ip_id);

	return (look->style & FT_LOOK_ID_CONSTANT) == 0 &&
	       (late ? behind < ID_FAR : behind <= id_slack(LAG_NS));
}

bool ft_look_is_hop(uint32_t strange, const struct ft_sender_look *look,
		    const struct ft_observed *observed, bool late)
{
	const uint32_t hop = FT_STRANGE_MAC | FT_STRANGE_TTL;

	if ((strange & FT_STRANGE_IP_ID) != 0 && !ft_look_id_may_lag(look, observed->ip_id, late))
		return false;
	return (strange & hop) == hop &&
	       (strange & ~(hop | FT_STRANGE_DSCP | FT_STRANGE_IP_ID)) == 0 &&
	       ft_look_ttl_origin(look->ttl) == ft_look_ttl_origin(observed->ttl);
}

uint32_t ft_look_differences(const struct ft_sender_look *look, const struct ft_observed *observed,
			     uint64_t since_ns)
{
	return differences(look, observed) |
	       (id_is_strange(look, observed->ip_id, since_ns) ? FT_STRANGE_IP_ID : 0);
}

/* How this packet differs from a look that is settled. */
static struct ft_look_verdict judge(struct ft_sender_look *look, const struct ft_observed *observed,
				    const struct ft_look_question *question)
{
	struct ft_look_verdict verdict = {
		.strange = ft_look_differences(look, observed, question->since_packet_ns),
	};
	uint32_t all;

	if ((verdict.strange & FT_STRANGE_IP_ID) == 0)
		ft_look_learn_id(look, observed->ip_id);
	all = verdict.strange | question->beside;
	if (ft_look_is_hop(all, look, observed, question->late))
		return (struct ft_look_verdict){ 0 };
	verdict.foreign =
		question->since_alike_ns < RECENT_NS && is_foreign(all, look, observed->ttl);
	verdict.varies = !verdict.foreign;
	return verdict;
}

__attribute__((noinline)) static struct ft_look_verdict meet_stranger(
	struct ft_sender_look *look, const struct ft_observed *observed,
	const struct ft_look_question *question)
{
	struct ft_look_verdict verdict = { 0 };
	bool settled = look->learnt >= FT_SUSPECTS_LEARNT && (look->style & FT_LOOK_PATIENCE) != 0;

	if (settled)
		verdict = judge(look, observed, question);
	if (!settled || (!verdict.foreign && question->since_alike_ns > FT_SUSPECTS_PAUSE_NS)) {
		ft_look_learn(look, observed, question->answer);
		return verdict;
	}
	if (verdict.foreign && (question->beside & FT_STRANGE_PSN) != 0)
		return verdict; /* not of the sequence: however many there are, it is not the sender's look */
	look->learnt--;
	if (verdict.foreign && ft_look_ttl_origin(look->ttl) != ft_look_ttl_origin(observed->ttl))
		return verdict; /* no change of path: to be believed it must outnumber the sender */
	look->learnt--;
	look->style = (uint8_t)(look->style - FT_LOOK_STRANGER);
	return verdict;
}

/*
 * An answer where the look is that of requests. What another path explains, or another class and port, is not told of
 * it; and what the first ones show is how this sender answers.
 */
static struct ft_look_verdict meet_answer(struct ft_sender_look *look,
					  const struct ft_observed *observed,
					  const struct ft_look_question *question)
{
	const uint32_t of_card = FT_STRANGE_MAC | FT_STRANGE_TTL;
	struct ft_look_verdict verdict = { .strange = differences(look, observed) };
	uint32_t fixed = (verdict.strange & of_card) | question->beside;
	bool settled = look->learnt >= FT_SUSPECTS_LEARNT && question->since_alike_ns < RECENT_NS;

	if (id_is_strange(look, observed->ip_id, question->since_packet_ns))
		fixed |= FT_STRANGE_IP_ID;
	verdict.foreign = !question->own_answers &&
			  ft_look_ttl_origin(look->ttl) != ft_look_ttl_origin(observed->ttl) &&
			  is_foreign(fixed, look, observed->ttl);
	if (!verdict.foreign || !settled) {
		ft_look_learn_answer_id(look, observed->ip_id);
		return (struct ft_look_verdict){ .own_answers = verdict.foreign };
	}
	verdict.strange |= fixed;
	return verdict;
}

struct ft_look_verdict ft_look_step(struct ft_sender_look *look, const struct ft_observed *observed,
				    const struct ft_look_question *question,
				    struct ft_sender_look *usual)
{
	bool of_answers = (look->style & FT_LOOK_REQUESTS) == 0;
	struct ft_look_verdict verdict = { 0 };

	*usual = *look;
	if ((look->style & FT_LOOK_MET) == 0 || (of_answers && !question->answer)) {
		ft_look_learn(look, observed, question->answer);
		return verdict;
	}
	if (of_answers != question->answer)
		return meet_answer(look, observed, question);
	if (!ft_look_is_usual(look, observed))
		return meet_stranger(look, observed, question);
	if (is_other_style(look, observed, question))
		verdict = (struct ft_look_verdict){ .strange = FT_STRANGE_IP_ID, .varies = true };
	ft_look_agree(look, observed);
	return verdict;
}
