#include "suspects.h"

#include <errno.h>
#include <stdlib.h>

#include <capture/frame.h>
#include <decode/opcode.h>
#include <flow/reserve.h>
#include <partition/check.h>

#include "suspects_ordinary.h"

enum {
	SYNDROME_REMOTE_ACCESS = 0x62, /* AETH: NAK 2 */
	YOUNG = 8,                     /* requests on a connection that did little yet */
	UNBOUND = 0x40,                /* in the opcode: RD, UD and what is not defined */
};

#define TIMEOUT_NS UINT64_C(1000000) /* no sender waits less for an answer */

/* The request in a frame of late, in the place of its number. */
struct passage {
	uint32_t half, psn;
	uint64_t frame; /* 0: none */
};

struct ft_suspects {
	struct ft_flow_table *table;
	const struct ft_flow *records; /* the first of them .. */
	struct ft_recent *recent;      /* .. and what lies beside it */
	size_t recent_bytes;
	struct passage *passages;
	struct ft_suspect_pairs *pairs;
};

int ft_suspects_create(struct ft_suspects **suspects, struct ft_flow_table *table)
{
	struct ft_suspects *made = calloc(1, sizeof *made);
	size_t records = ft_flow_table_stats(table).capacity;

	if (made == NULL)
		return -ENOMEM;
	made->table = table;
	made->records = ft_flow_at(table, 1);
	made->recent_bytes = records * sizeof *made->recent;
	made->passages = calloc(FT_SUSPECTS_PASSAGES, sizeof *made->passages);
	made->recent = ft_reserve(made->recent_bytes);
	if (made->passages != NULL && made->recent != NULL &&
	    ft_suspect_pairs_create(&made->pairs) == 0) {
		*suspects = made;
		return 0;
	}
	ft_suspects_destroy(made);
	return -ENOMEM;
}

void ft_suspects_destroy(struct ft_suspects *suspects)
{
	if (suspects == NULL)
		return;
	if (suspects->recent != NULL)
		ft_release(suspects->recent, suspects->recent_bytes);
	if (suspects->pairs != NULL)
		ft_suspect_pairs_destroy(suspects->pairs);
	free(suspects->passages);
	free(suspects);
}

static inline struct ft_recent *recent_of(const struct ft_suspects *suspects,
					  const struct ft_flow *flow)
{
	return &suspects->recent[flow - suspects->records];
}

static inline void note_passage(const struct ft_suspects *suspects, const struct ft_flow *flow,
				const struct ft_observed *observed)
{
	suspects->passages[observed->frame % FT_SUSPECTS_PASSAGES] =
		(struct passage){ (uint32_t)(flow - suspects->records), observed->psn,
				  observed->frame };
}

/*
 * The frame of the request that passed with the PSN of this one; 0: it is not among the last frames of the capture, which
 * is so for any number of workers.
 */
static uint64_t passage_before(const struct ft_suspects *suspects, const struct ft_flow *flow,
			       const struct ft_observed *observed)
{
	uint32_t half = (uint32_t)(flow - suspects->records);
	uint64_t frame = observed->frame;

	for (unsigned back = 1; back <= FT_SUSPECTS_PASSAGES; back++) {
		const struct passage *passage =
			&suspects->passages[(frame - back) % FT_SUSPECTS_PASSAGES];

		if (passage->frame == frame - back && passage->half == half &&
		    passage->psn == observed->psn)
			return passage->frame;
	}
	return 0;
}

const struct ft_recent *ft_suspects_recent(const struct ft_suspects *suspects,
					   const struct ft_flow *flow)
{
	return recent_of(suspects, flow);
}

void ft_suspects_prefetch(const struct ft_suspects *suspects, const struct ft_flow *flow)
{
	__builtin_prefetch(recent_of(suspects, flow), 1);
}

void ft_suspects_prefetch_new(const struct ft_suspects *suspects, const struct ft_flow_key *key,
			      const struct ft_observed *observed)
{
	ft_suspect_pairs_prefetch(suspects->pairs, key, observed);
}

/* One packet and what is known about it. */
struct scene {
	struct ft_suspects *suspects;
	struct ft_flow *flow;
	const struct ft_observed *observed;
	const struct ft_step *step;
	struct ft_recent *recent;
	bool answer;
	uint64_t since_packet_ns; /* on this half-connection */
	uint64_t since_alike_ns;  /* since the request before, or for an answer the answer */
};

static void hold(struct ft_suspicion *suspicion, enum ft_rule rule)
{
	suspicion->rules |= 1u << rule;
}

static void write_suspicion(const struct scene *scene, const struct ft_sender_look *usual,
			    struct ft_suspicion *suspicion)
{
	const struct ft_observed *observed = scene->observed;

	suspicion->frame = observed->frame;
	suspicion->opcode = observed->opcode;
	suspicion->psn = observed->psn;
	suspicion->expected_psn = scene->flow->half.next_psn;
	suspicion->usual = *usual;
	suspicion->seen = ft_look_of(observed);
	suspicion->pkey = observed->pkey;
	suspicion->usual_base = scene->flow->first_base;
}

static uint64_t since_packet(const struct ft_flow *flow, const struct ft_observed *observed)
{
	if (observed->ts_ns == FT_TS_UNKNOWN || flow->last_ns == FT_TS_UNKNOWN)
		return UINT64_MAX;
	return observed->ts_ns > flow->last_ns ? observed->ts_ns - flow->last_ns : 0;
}

/* At least: the moment of the last request is known to about a millisecond. */
static uint64_t since_request(const struct scene *scene)
{
	uint32_t moments = ft_suspects_moment(scene->observed->ts_ns) - scene->flow->asked;
	uint64_t since_ns = 0;

	if ((scene->recent->newest & FT_RECENT_SEEN) != 0 && moments > 1 &&
	    moments < UINT32_MAX / 2)
		since_ns = (uint64_t)(moments - 1) << FT_SUSPECTS_MOMENT_SHIFT;
	return since_ns > scene->since_packet_ns ? since_ns : scene->since_packet_ns;
}

/* A request that begins a message of a connection whose set-up was not seen. */
static bool is_probe(const struct ft_flow *flow, const struct ft_observed *observed, uint32_t what)
{
	const uint32_t acknowledged = 1u << FT_RC | 1u << FT_XRC;
	bool known = (flow->look.style & FT_LOOK_MET) != 0 ||
		     (flow->half.flags & FT_HALF_START_SEEN) != 0;

	return !known && (what & FT_STEP_ANSWER) == 0 &&
	       (acknowledged >> (observed->opcode >> 5) & 1) != 0 &&
	       ft_suspects_begins_message(observed->opcode);
}

/* State is begun anew: nothing before counts. Queue pairs, if it looks like a search for them. */
static uint32_t begin(const struct ft_suspects *suspects, struct ft_flow *flow,
		      struct ft_recent *recent, const struct ft_observed *observed, uint32_t what,
		      bool *unseen)
{
	bool probe = is_probe(flow, observed, what);

	ft_recent_begin(recent);
	flow->look.style = 0; /* to be learnt */
	if (probe)
		recent->newest |= FT_RECENT_PROBE;
	return ft_suspect_pairs_begun(suspects->pairs, flow, observed, probe, unseen);
}

__attribute__((noinline)) static void refused(const struct scene *scene,
					      struct ft_suspicion *suspicion)
{
	const struct ft_suspects *suspects = scene->suspects;
	uint32_t asking = scene->flow->peer != 0 ? scene->flow->peer : scene->flow->half.candidate;
	bool young =
		asking != 0 && (recent_of(suspects, ft_flow_at(suspects->table, asking))->newest &
				FT_RECENT_SEEN) < YOUNG;

	suspicion->count =
		ft_suspect_pairs_refused(suspects->pairs, scene->flow, scene->observed,
					 ft_flow_number(suspects->table, scene->flow), young);
	if (suspicion->count != 0)
		hold(suspicion, FT_RULE_SPOOF_ACCESS_ERRORS);
}

/* The second request: the queue pair is used, not searched for. */
static inline void note_use(const struct ft_suspects *suspects, const struct ft_flow *flow,
			    struct ft_recent *recent, const struct ft_observed *observed)
{
	if ((recent->newest & FT_RECENT_PROBE) == 0 || (recent->newest & FT_RECENT_SEEN) == 0)
		return;
	recent->newest &= ~(uint32_t)FT_RECENT_PROBE;
	ft_suspect_pairs_used(suspects->pairs, flow, observed);
}

/* The path MTU of the connection; 0: not known. */
static uint32_t mtu_of(const struct scene *scene)
{
	const struct ft_half *half = &scene->flow->half;

	if ((half->mtu == 0 || (half->flags & FT_HALF_MTU_GUESSED) != 0) && scene->flow->peer != 0)
		half = &ft_flow_at(scene->suspects->table, scene->flow->peer)->half;
	return (half->flags & FT_HALF_MTU_GUESSED) != 0 ? 0 : half->mtu;
}

static void check_request(const struct scene *scene, struct ft_suspicion *suspicion)
{
	static const uint32_t rules[] = {
		[FT_CONFLICT_PAYLOAD] = 1u << FT_RULE_SPOOF_PAYLOAD_CHANGED,
		[FT_CONFLICT_REQUEST] = 1u << FT_RULE_SPOOF_PSN_CONFLICT,
		[FT_CONFLICT_GRAVE] = 1u << FT_RULE_SPOOF_PSN_CONFLICT,
		[FT_CONFLICT_KNOWN] = 0,
	};
	struct ft_recent *recent = scene->recent;
	bool reported = (suspicion->rules >> FT_RULE_SPOOF_SENDER_CHANGED & 1) != 0;
	bool paused = scene->since_alike_ns > FT_SUSPECTS_PAUSE_NS;
	bool several_traits = (suspicion->strange & (suspicion->strange - 1)) != 0;
	struct ft_request_looks looks = {
		.strange = reported || (several_traits && !paused),
		.reported = reported,
		.paused = paused,
		.prompt = scene->since_alike_ns < TIMEOUT_NS &&
			  (scene->flow->half.flags & FT_HALF_NAKED) == 0,
		.again = (scene->step->what & FT_STEP_RETRANSMITTED) != 0,
		.mtu = mtu_of(scene),
		.next_psn = scene->flow->half.next_psn,
	};
	enum ft_conflict conflict;

	if (scene->since_alike_ns >> FT_SUSPECTS_MOMENT_SHIFT >= FT_SUSPECTS_LONG_AGO)
		ft_recent_forget(recent);
	note_use(scene->suspects, scene->flow, recent, scene->observed);
	conflict = ft_recent_step(recent, scene->observed, &looks);
	scene->flow->asked = ft_suspects_moment(scene->observed->ts_ns);
	if (conflict == FT_CONFLICT_NONE)
		note_passage(scene->suspects, scene->flow, scene->observed);
	if (rules[conflict] == 0)
		return;
	suspicion->passed = passage_before(scene->suspects, scene->flow, scene->observed);
	if (conflict == FT_CONFLICT_GRAVE) /* it says so already */
		suspicion->rules &= ~(1u << FT_RULE_SPOOF_SENDER_VARIES);
	suspicion->rules |= rules[conflict];
	suspicion->strange |= FT_STRANGE_CONTENT;
	suspicion->grave = conflict == FT_CONFLICT_GRAVE;
}

static void check_look(const struct scene *scene, struct ft_suspicion *suspicion,
		       struct ft_sender_look *usual)
{
	struct ft_look_verdict verdict;
	struct ft_look_question question = {
		.answer = scene->answer,
		.own_answers = (scene->recent->newest & FT_RECENT_OWN_ANSWERS) != 0,
		.beside = suspicion->strange,
		.since_packet_ns = scene->since_packet_ns,
		.since_alike_ns = scene->since_alike_ns,
	};

	verdict = ft_look_step(&scene->flow->look, scene->observed, &question, usual);
	suspicion->strange |= verdict.strange;
	if (verdict.own_answers)
		scene->recent->newest |= FT_RECENT_OWN_ANSWERS;
	if (verdict.foreign)
		hold(suspicion, FT_RULE_SPOOF_SENDER_CHANGED);
	else if (verdict.varies)
		hold(suspicion, FT_RULE_SPOOF_SENDER_VARIES);
}

/* What needs no memory but the flow's own. */
static void check_step(const struct scene *scene, struct ft_suspicion *suspicion)
{
	uint32_t what = scene->step->what;
	uint16_t base = scene->flow->first_base;

	if ((what & FT_STEP_UNASKED) != 0) {
		suspicion->strange |= FT_STRANGE_UNASKED;
		hold(suspicion, FT_RULE_SPOOF_UNASKED_RESPONSE);
	}
	if ((what & FT_STEP_OUTSIDE) != 0 && (what & (FT_STEP_ANSWER | FT_STEP_RESTART)) == 0) {
		suspicion->strange |= FT_STRANGE_PSN;
		hold(suspicion, FT_RULE_SPOOF_PSN_WINDOW);
	}
	if (base != FT_FLOW_NO_BASE && base != (scene->observed->pkey & 0x7fff))
		suspicion->strange |= FT_STRANGE_PKEY; /* pkey.changed-on-connection says so */
}

__attribute__((noinline)) static void judge(struct ft_suspects *suspects, struct ft_flow *flow,
					    const struct ft_observed *observed,
					    const struct ft_step *step,
					    struct ft_suspicion *suspicion)
{
	struct scene scene = {
		.suspects = suspects,
		.flow = flow,
		.observed = observed,
		.step = step,
		.recent = recent_of(suspects, flow),
		.answer = (step->what & FT_STEP_ANSWER) != 0,
		.since_packet_ns = since_packet(flow, observed),
	};
	struct ft_sender_look usual;

	suspicion->strange = 0;
	suspicion->grave = false;
	suspicion->passed = 0;
	scene.since_alike_ns = scene.answer ? scene.since_packet_ns : since_request(&scene);
	check_step(&scene, suspicion);
	check_look(&scene, suspicion, &usual);
	if ((step->what & FT_STEP_NAK) != 0 && observed->syndrome == SYNDROME_REMOTE_ACCESS)
		refused(&scene, suspicion);
	if (!scene.answer && (step->what & FT_STEP_OUTSIDE) == 0)
		check_request(&scene, suspicion);
	if (suspicion->rules != 0)
		write_suspicion(&scene, &usual, suspicion);
}

/* Transports that bind a queue pair to one sender: RC, UC, XRC. */
static bool is_bound(uint8_t opcode)
{
	return ((1u << FT_RC | 1u << FT_UC | 1u << FT_XRC) >> (opcode >> 5) & 1) != 0;
}

/* Steps after which the packet need not be looked at but for its sender's look. */
enum {
	ORDINARY_REQUEST = FT_STEP_NEW | FT_STEP_GAP | FT_STEP_MESSAGE,
	ORDINARY_ANSWER = ORDINARY_REQUEST | FT_STEP_ACK | FT_STEP_RNR,
	BEGINS = FT_STEP_RESTART | FT_STEP_ANEW,
};

/* The first of its kind, or as those before it. */
static inline bool looks_alike(struct ft_sender_look *look, const struct ft_observed *observed,
			       bool answer)
{
	bool of_requests = (look->style & FT_LOOK_REQUESTS) != 0;

	if ((look->style & FT_LOOK_MET) == 0 || (!answer && !of_requests)) {
		ft_look_learn(look, observed, answer);
		return true;
	}
	if (answer && of_requests && look->ttl == observed->ttl) {
		ft_look_learn_id(look, observed->ip_id);
		return true;
	}
	if (!ft_look_is_usual(look, observed))
		return false;
	ft_look_agree(look, observed);
	return true;
}

/* The first or next request, soon enough for those before it to count. */
static inline bool follows(const struct ft_flow *flow, const struct ft_recent *recent,
			   const struct ft_observed *observed)
{
	uint32_t since = ft_suspects_moment(observed->ts_ns) - flow->asked;

	return (recent->newest & FT_RECENT_SEEN) == 0 ||
	       (ft_recent_follows(recent, observed->psn) && since < FT_SUSPECTS_LONG_AGO);
}

/* Nothing can be held against it: it is learnt. */
static inline bool is_ordinary(const struct ft_suspects *suspects, struct ft_flow *flow,
			       struct ft_recent *recent, const struct ft_observed *observed,
			       uint32_t what)
{
	bool request = (what & ~(uint32_t)ORDINARY_REQUEST) == 0;

	if (!request && (what & ~(uint32_t)ORDINARY_ANSWER) != FT_STEP_ANSWER)
		return false;
	if (request)
		note_use(suspects, flow, recent, observed);
	if (request && !follows(flow, recent, observed))
		return false;
	if (!looks_alike(&flow->look, observed, !request))
		return false;
	if (!request)
		return true;
	ft_recent_count(recent, observed->psn, ft_recent_word(observed));
	note_passage(suspects, flow, observed);
	flow->asked = ft_suspects_moment(observed->ts_ns);
	return true;
}

/* Of a sender that is not known for long, or odd. */
__attribute__((noinline)) static void look_closely(struct ft_suspects *suspects,
						   struct ft_flow *flow,
						   const struct ft_observed *observed,
						   const struct ft_step *step,
						   struct ft_suspicion *suspicion)
{
	uint32_t what = step->what;
	struct ft_recent *recent;

	if ((what & FT_STEP_CNP) != 0 || !is_bound(observed->opcode))
		return;
	recent = recent_of(suspects, flow);
	suspicion->count = 0;
	suspicion->unseen = false;
	if ((what & FT_STEP_RESTART) != 0 || (flow->look.style & FT_LOOK_MET) == 0)
		suspicion->count =
			begin(suspects, flow, recent, observed, what, &suspicion->unseen);
	if (suspicion->count != 0)
		hold(suspicion, FT_RULE_SPOOF_QP_SCAN);
	else if (is_ordinary(suspects, flow, recent, observed, what & ~(uint32_t)BEGINS))
		return;
	judge(suspects, flow, observed, step, suspicion);
}

/* Nothing is odd about it, and nothing is left to learn about its sender. */
static inline bool goes_on(const struct ft_suspects *suspects, struct ft_flow *flow,
			   const struct ft_observed *observed)
{
	uint32_t moment = ft_suspects_moment(observed->ts_ns), newest;
	struct ft_recent *recent;

	if (!ft_look_is_settled(&flow->look, observed, FT_LOOK_SETTLED) ||
	    moment - flow->asked >= FT_SUSPECTS_LONG_AGO)
		return false;
	recent = recent_of(suspects, flow);
	newest = observed->psn << FT_RECENT_PSN_SHIFT | FT_RECENT_SEEN;
	if (!ft_recent_goes_on(recent, newest) || (observed->opcode & UNBOUND) != 0)
		return false;
	flow->asked = moment;
	flow->look.ip_id = observed->ip_id;
	ft_look_count(&flow->look);
	ft_recent_keep(recent, newest, ft_recent_word(observed));
	note_passage(suspects, flow, observed);
	return true;
}

static inline bool answers_on(struct ft_sender_look *look, const struct ft_observed *observed)
{
	bool compared = (look->style & FT_LOOK_REQUESTS) == 0;

	if ((observed->opcode & UNBOUND) != 0)
		return false;
	if (!(compared ? ft_look_is_settled(look, observed, FT_LOOK_SETTLED_ANSWERS)
		       : ft_look_is_between(look, observed)))
		return false;
	look->ip_id = observed->ip_id;
	if (compared)
		ft_look_count(look);
	return true;
}

static inline bool is_usual(const struct ft_suspects *suspects, struct ft_flow *flow,
			    const struct ft_observed *observed, uint32_t what)
{
	if ((what & ~(uint32_t)ORDINARY_REQUEST) == 0)
		return goes_on(suspects, flow, observed);
	return (what & ~(uint32_t)ORDINARY_ANSWER) == FT_STEP_ANSWER &&
	       answers_on(&flow->look, observed);
}

void ft_suspects_step(struct ft_suspects *suspects, struct ft_flow *flow,
		      const struct ft_observed *observed, const struct ft_step *step,
		      struct ft_suspicion *suspicion)
{
	suspicion->rules = 0;
	if (!is_usual(suspects, flow, observed, step->what))
		look_closely(suspects, flow, observed, step, suspicion);
}
