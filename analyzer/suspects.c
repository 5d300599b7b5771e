#include "suspects.h"

#include <errno.h>
#include <stdlib.h>

#include <decode/opcode.h>
#include <flow/reserve.h>
#include <partition/check.h>

#include "suspects_state.h"

enum { UNBOUND = 0x40 }; /* in the opcode: RD, UD and what is not defined */

/* Bytes of recent requests in small pages, as of a million half-connections: the last huge one may be as good as empty. */
#define SMALL ((size_t)16 << 20)

int ft_suspects_create(struct ft_suspects **suspects, struct ft_flow_table *table)
{
	struct ft_suspects *made = calloc(1, sizeof *made);
	size_t records = ft_flow_table_stats(table).capacity;

	if (made == NULL)
		return -ENOMEM;
	made->table = table;
	made->records = ft_flow_at(table, 1);
	made->passages = calloc(1, sizeof *made->passages);
	if (made->passages != NULL &&
	    ft_growth_reserve(&made->growth, records * sizeof *made->recent) == 0 &&
	    ft_suspect_pairs_create(&made->pairs) == 0 &&
	    ft_datagram_senders_create(&made->senders) == 0) {
		made->recent = (struct ft_recent *)(void *)made->growth.memory;
		ft_growth_stay_small(&made->growth, SMALL);
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
	ft_growth_release(&suspects->growth);
	if (suspects->pairs != NULL)
		ft_suspect_pairs_destroy(suspects->pairs);
	if (suspects->senders != NULL)
		ft_datagram_senders_destroy(suspects->senders);
	free(suspects->passages);
	free(suspects);
}

const struct ft_recent *ft_suspects_recent(const struct ft_suspects *suspects,
					   const struct ft_flow *flow)
{
	return ft_recent_of(suspects, flow);
}

void ft_suspects_prefetch(const struct ft_suspects *suspects, const struct ft_flow *flow)
{
	__builtin_prefetch(ft_recent_of(suspects, flow), 1);
}

void ft_suspects_prefetch_new(const struct ft_suspects *suspects, const struct ft_flow_key *key,
			      const struct ft_observed *observed)
{
	ft_suspect_pairs_prefetch(suspects->pairs, key, observed);
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
static uint32_t begin(struct ft_suspects *suspects, struct ft_flow *flow, struct ft_recent *recent,
		      const struct ft_observed *observed, uint32_t what, bool *unseen)
{
	bool probe = is_probe(flow, observed, what);

	ft_growth_upto(&suspects->growth, ft_suspects_number(suspects, flow) * sizeof *recent);
	ft_recent_begin(recent);
	flow->look.style = 0; /* to be learnt */
	if (probe)
		recent->newest |= FT_RECENT_PROBE;
	return ft_suspect_pairs_begun(suspects->pairs, flow, observed, probe, unseen);
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
		ft_look_learn_answer_id(look, observed->ip_id);
		return true;
	}
	if (!ft_look_is_usual(look, observed) || ft_look_id_is_other_style(look, observed->ip_id))
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

/* Those that can be compared. */
static inline void note_answer(const struct ft_suspects *suspects, const struct ft_flow *flow,
			       const struct ft_observed *observed)
{
	if (ft_is_response(observed->opcode))
		ft_suspects_note_response(suspects, ft_suspects_number(suspects, flow), observed);
}

/* Nothing can be held against it: it is learnt. */
static inline bool is_ordinary(const struct ft_suspects *suspects, struct ft_flow *flow,
			       struct ft_recent *recent, const struct ft_observed *observed,
			       uint32_t what)
{
	bool request = (what & ~(uint32_t)ORDINARY_REQUEST) == 0;
	const struct ft_request_print print = ft_request_print_of(observed);

	if (!request && (what & ~(uint32_t)ORDINARY_ANSWER) != FT_STEP_ANSWER)
		return false;
	if (request)
		ft_suspects_note_use(suspects, flow, recent, observed);
	if (request && !follows(flow, recent, observed))
		return false;
	if (!looks_alike(&flow->look, observed, !request))
		return false;
	if (!request) {
		note_answer(suspects, flow, observed);
		return true;
	}
	ft_recent_count(recent, observed->psn, print.word);
	ft_suspects_note_passage(suspects, ft_suspects_number(suspects, flow), observed, &print);
	flow->asked = ft_suspects_moment(observed->ts_ns);
	return true;
}

/* The first of its half-connection, or of another life. */
__attribute__((noinline)) static void take_first(struct ft_suspects *suspects, struct ft_flow *flow,
						 struct ft_recent *recent,
						 const struct ft_observed *observed,
						 const struct ft_step *step,
						 struct ft_suspicion *suspicion)
{
	suspicion->count = begin(suspects, flow, recent, observed, step->what, &suspicion->unseen);
	if (suspicion->count != 0)
		ft_suspicion_hold(suspicion, FT_RULE_SPOOF_QP_SCAN);
	if (suspicion->count != 0 ||
	    !is_ordinary(suspects, flow, recent, observed, step->what & ~(uint32_t)BEGINS))
		ft_suspects_judge(suspects, flow, observed, step, suspicion);
	if ((step->what & FT_STEP_RESTART) != 0)
		ft_passages_begin(suspects->passages, observed->frame);
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

	if ((what & FT_STEP_CNP) != 0)
		return;
	if (!is_bound(observed->opcode)) {
		ft_suspects_judge_datagram(suspects, flow, observed, step, suspicion);
		return;
	}
	recent = ft_recent_of(suspects, flow);
	suspicion->count = 0;
	suspicion->unseen = false;
	if ((what & FT_STEP_RESTART) != 0 || (flow->look.style & FT_LOOK_MET) == 0)
		take_first(suspects, flow, recent, observed, step, suspicion);
	else if (!is_ordinary(suspects, flow, recent, observed, what & ~(uint32_t)BEGINS))
		ft_suspects_judge(suspects, flow, observed, step, suspicion);
}

/* Nothing is odd about it, and nothing is left to learn about its sender but that it goes on so. */
__attribute__((always_inline)) static inline bool goes_on(const struct ft_suspects *suspects,
							  struct ft_flow *flow,
							  const struct ft_observed *observed)
{
	uint32_t moment = ft_suspects_moment(observed->ts_ns), newest, number;
	struct ft_request_print print;
	struct ft_recent *recent;

	if (!ft_look_is_settled(&flow->look, observed, FT_LOOK_SETTLED) ||
	    moment - flow->asked >= FT_SUSPECTS_LONG_AGO)
		return false;
	number = ft_suspects_number(suspects, flow);
	recent = &suspects->recent[number - 1];
	newest = observed->psn << FT_RECENT_PSN_SHIFT | FT_RECENT_SEEN;
	if (!ft_recent_goes_on(recent, newest) || (observed->opcode & UNBOUND) != 0)
		return false;
	flow->asked = moment;
	ft_look_count_id(&flow->look, observed->ip_id);
	ft_look_count(&flow->look);
	print = ft_request_print_of(observed);
	ft_recent_go_on(recent, newest, print.word);
	ft_suspects_note_passage(suspects, number, observed, &print);
	return true;
}

__attribute__((always_inline)) static inline bool answers_on(const struct ft_suspects *suspects,
							     struct ft_flow *flow,
							     const struct ft_observed *observed)
{
	struct ft_sender_look *look = &flow->look;
	bool compared = (look->style & FT_LOOK_REQUESTS) == 0;

	if ((observed->opcode & UNBOUND) != 0)
		return false;
	if (!(compared ? ft_look_is_settled(look, observed, FT_LOOK_SETTLED_ANSWERS)
		       : ft_look_is_between(look, observed)))
		return false;
	if (compared) {
		ft_look_count_id(look, observed->ip_id);
		ft_look_count(look);
	} else {
		ft_look_count_answer_id(look, observed->ip_id);
	}
	note_answer(suspects, flow, observed);
	return true;
}

__attribute__((always_inline)) static inline bool is_usual(const struct ft_suspects *suspects,
							   struct ft_flow *flow,
							   const struct ft_observed *observed,
							   uint32_t what)
{
	if ((what & ~(uint32_t)ORDINARY_REQUEST) == 0)
		return goes_on(suspects, flow, observed);
	return (what & ~(uint32_t)ORDINARY_ANSWER) == FT_STEP_ANSWER &&
	       answers_on(suspects, flow, observed);
}

/* Of nearly every packet this is all. */
__attribute__((always_inline)) static inline void take(struct ft_suspects *suspects,
						       struct ft_flow *flow,
						       const struct ft_observed *observed,
						       const struct ft_step *step,
						       struct ft_suspicion *suspicion)
{
	suspicion->rules = 0;
	if (!is_usual(suspects, flow, observed, step->what))
		look_closely(suspects, flow, observed, step, suspicion);
}

/* It acknowledges what that NAK had refused for good. */
static void hold_outlived(struct ft_suspicion *suspicion, const struct ft_flow *flow,
			  const struct ft_observed *observed, const struct ft_refusal *nak)
{
	if (suspicion->rules == 0) {
		suspicion->strange = 0;
		suspicion->grave = suspicion->unseen = false;
		ft_suspicion_write(suspicion, flow, observed, &flow->look, FT_PSN_NONE);
	}
	suspicion->strange |= FT_STRANGE_REFUSED;
	suspicion->passed = nak->frame;
	suspicion->passed_ns = nak->ts_ns;
	ft_suspicion_hold(suspicion, FT_RULE_SPOOF_NAK_OUTLIVED);
}

/* A NAK that ends a connection was sent lately: perhaps on this one. */
__attribute__((noinline)) static void take_refused(struct ft_suspects *suspects,
						   struct ft_flow *flow,
						   const struct ft_observed *observed,
						   const struct ft_step *step,
						   struct ft_suspicion *suspicion)
{
	uint32_t number = ft_suspects_number(suspects, flow);
	struct ft_refusal nak = { 0 };

	take(suspects, flow, observed, step, suspicion);
	if ((step->what & BEGINS) != 0) {
		ft_refusals_forget(&suspects->refusals, number);
		ft_refusals_forget(&suspects->refusals, flow->peer);
	} else if ((step->what & FT_STEP_ACK) != 0) {
		nak = ft_refusals_outlived(&suspects->refusals, number, observed);
	}
	if (nak.frame != 0)
		hold_outlived(suspicion, flow, observed, &nak);
}

void ft_suspects_step(struct ft_suspects *suspects, struct ft_flow *flow,
		      const struct ft_observed *observed, const struct ft_step *step,
		      struct ft_suspicion *suspicion)
{
	if (__builtin_expect(observed->ts_ns <= suspects->refusals.until_ns, 0))
		take_refused(suspects, flow, observed, step, suspicion);
	else
		take(suspects, flow, observed, step, suspicion);
}
