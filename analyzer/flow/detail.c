#include <flow/detail.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <flow/reserve.h>

#define TS_UNKNOWN UINT64_MAX
#define UD_SEND    0x64 /* SEND Only; with immediate data 0x65 */

enum { NAK_CODE = 0x1f };

struct ft_details {
	struct ft_detail *records;
	struct ft_unclaimed *unclaimed; /* by record, too; few come into use */
	struct ft_withheld *withheld;   /* likewise */
	uint32_t capacity;
};

static size_t records_bytes(uint32_t capacity)
{
	return (size_t)capacity * sizeof(struct ft_detail);
}

static size_t unclaimed_bytes(uint32_t capacity)
{
	return (size_t)capacity * sizeof(struct ft_unclaimed);
}

static size_t withheld_bytes(uint32_t capacity)
{
	return (size_t)capacity * sizeof(struct ft_withheld);
}

int ft_details_create(struct ft_details **details, uint32_t capacity)
{
	struct ft_details *made;

	if (capacity == 0)
		return -EINVAL;
	made = malloc(sizeof *made);
	if (made == NULL)
		return -ENOMEM;
	made->capacity = capacity;
	made->records = ft_reserve(records_bytes(capacity));
	made->unclaimed = ft_reserve(unclaimed_bytes(capacity));
	made->withheld = ft_reserve(withheld_bytes(capacity));
	if (made->records == NULL || made->unclaimed == NULL || made->withheld == NULL) {
		ft_details_destroy(made);
		return -ENOMEM;
	}
	*details = made;
	return 0;
}

void ft_details_destroy(struct ft_details *details)
{
	if (details == NULL)
		return;
	ft_release(details->withheld, withheld_bytes(details->capacity));
	ft_release(details->unclaimed, unclaimed_bytes(details->capacity));
	ft_release(details->records, records_bytes(details->capacity));
	free(details);
}

struct ft_detail *ft_details_of(const struct ft_details *details, uint32_t number)
{
	assert(number >= 1 && number <= details->capacity);
	return &details->records[number - 1];
}

void ft_details_clear(struct ft_details *details, uint32_t number)
{
	struct ft_detail *detail = ft_details_of(details, number);

	if (detail->aside) {
		details->unclaimed[number - 1] = (struct ft_unclaimed){ 0 };
		details->withheld[number - 1] = (struct ft_withheld){ 0 };
	}
	*detail = (struct ft_detail){ 0 };
}

static void begin(struct ft_detail *detail, const struct ft_observed *observed)
{
	detail->first_frame = observed->frame;
	detail->first_ns = detail->last_ns = observed->ts_ns;
	detail->vlan = observed->vlan;
	detail->psn_first = detail->psn_last = FT_PSN_NONE;
	if (detail->placed)
		return;
	detail->src_endpoint = detail->src_tenant = FT_DETAIL_NOBODY;
	detail->dst_endpoint = detail->dst_tenant = FT_DETAIL_NOBODY;
}

/* Opcodes for which no slot is left go uncounted: more than a transport has, so nobody's traffic. */
static void count_opcode(struct ft_detail *detail, uint8_t opcode)
{
	unsigned at = 0;

	while (at < detail->opcode_count &&
	       (detail->opcodes[at] != opcode || detail->opcode_packets[at] == UINT32_MAX))
		at++;
	if (at == FT_DETAIL_OPCODES)
		return;
	if (at == detail->opcode_count) {
		detail->opcodes[at] = opcode;
		detail->opcode_count++;
	}
	detail->opcode_packets[at]++;
}

static void count_bth(struct ft_detail *detail, const struct ft_observed *observed)
{
	ft_detail_note_pkey(detail, observed->pkey, (observed->has & FT_OBSERVED_BAD_ICRC) != 0);
	if (detail->psn_first == FT_PSN_NONE)
		detail->psn_first = observed->psn;
	detail->psn_last = observed->psn;
	detail->cnps += ft_is_notice(observed);
	count_opcode(detail, observed->opcode);
}

static void count_answer(struct ft_detail *detail, uint8_t syndrome, const struct ft_step *step)
{
	unsigned code = syndrome & NAK_CODE;

	detail->acks += (step->what & FT_STEP_ACK) != 0;
	detail->rnr_naks += (step->what & FT_STEP_RNR) != 0;
	if ((step->what & FT_STEP_NAK) != 0 && code < FT_DETAIL_NAKS)
		detail->naks[code]++;
	if (step->rtt_ns != 0)
		ft_spread_add(&detail->rtts,
			      step->rtt_ns < UINT32_MAX ? (uint32_t)step->rtt_ns : UINT32_MAX, 1);
}

/* Packets that the transport sent again, or that came late. */
static void count_order(struct ft_detail *detail, uint32_t what)
{
	bool lost = (what & FT_STEP_FABRIC_LOST) != 0;

	detail->fabric_lost += lost;
	detail->retransmitted +=
		(what & FT_STEP_RETRANSMITTED) != 0 && (what & FT_STEP_WITHHELD) == 0 && !lost;
	detail->reordered += (what & FT_STEP_REORDERED) != 0;
}

static void count_message(struct ft_detail *detail, enum ft_message_kind kind, uint32_t bytes)
{
	detail->messages[kind]++;
	if (bytes != FT_LENGTH_UNKNOWN)
		ft_spread_add(&detail->sizes, bytes, 1);
}

/* The management queue pairs, which the tracker leaves alone: every datagram is a message. */
static void count_datagram(struct ft_detail *detail, const struct ft_observed *observed)
{
	if ((observed->has & FT_OBSERVED_BAD_ICRC) == 0 && (observed->opcode & 0xfe) == UD_SEND)
		count_message(detail, FT_MESSAGE_SEND, observed->payload);
}

/* An atomic operation is on 8 bytes, which no packet carries as payload. */
static uint32_t message_bytes(const struct ft_step *step)
{
	return step->message_kind == FT_MESSAGE_ATOMIC ? 8 : step->message_bytes;
}

static void put_aside(struct ft_unclaimed *kept, const struct ft_step *step)
{
	kept->messages[step->message_kind]++;
	if (message_bytes(step) != FT_LENGTH_UNKNOWN)
		ft_spread_add(&kept->sizes, message_bytes(step), 1);
}

void ft_details_keep(struct ft_details *details, uint32_t number, const struct ft_step *step)
{
	ft_details_of(details, number)->aside = 1;
	put_aside(&details->unclaimed[number - 1], step);
}

const struct ft_unclaimed *ft_details_unclaimed(const struct ft_details *details, uint32_t number)
{
	return ft_details_of(details, number)->aside ? &details->unclaimed[number - 1] : NULL;
}

/* It counts when it is told what it was. */
static void withhold(struct ft_details *details, uint32_t number, const struct ft_step *step)
{
	struct ft_withheld *withheld = &details->withheld[number - 1];

	ft_details_of(details, number)->aside = 1;
	withheld->packets++;
	if ((step->what & FT_STEP_MESSAGE) != 0)
		put_aside(&withheld->completed, step);
}

void ft_details_tell(struct ft_details *details, uint32_t number, bool again)
{
	struct ft_detail *detail = ft_details_of(details, number);
	struct ft_withheld *withheld = &details->withheld[number - 1];

	if (!detail->aside)
		return;
	if (again) {
		detail->retransmitted += withheld->packets;
	} else {
		for (unsigned kind = 0; kind < FT_MESSAGE_KINDS; kind++)
			detail->messages[kind] += withheld->completed.messages[kind];
		ft_spread_merge(&detail->sizes, &withheld->completed.sizes);
	}
	*withheld = (struct ft_withheld){ 0 };
}

uint64_t ft_details_withheld(const struct ft_details *details, uint32_t number)
{
	return ft_details_of(details, number)->aside ? details->withheld[number - 1].packets : 0;
}

static void count_open(struct ft_detail *detail, uint32_t psns)
{
	if (__builtin_add_overflow(detail->gaps_open, psns, &detail->gaps_open))
		detail->gaps_open = UINT32_MAX;
}

/* What the packet proved of this half-connection or the other one. */
static void count_proved(struct ft_details *details, uint32_t number, const struct ft_step *step)
{
	if ((step->what & FT_STEP_WITHHELD) != 0)
		withhold(details, number, step);
	else if ((step->what & FT_STEP_MESSAGE) != 0 && step->message_flow != 0)
		count_message(ft_details_of(details, step->message_flow),
			      (enum ft_message_kind)step->message_kind, message_bytes(step));
	if (step->mirror_lost != 0 && step->lost_flow != 0)
		ft_details_of(details, step->lost_flow)->mirror_lost += step->mirror_lost;
	if (step->open != 0)
		count_open(ft_details_of(details, step->lost_flow), step->open);
	if (step->answers_lost != 0 && step->answers_flow != 0)
		ft_details_of(details, step->answers_flow)->mirror_lost += step->answers_lost;
}

void ft_details_count(struct ft_details *details, uint32_t number,
		      const struct ft_observed *observed, const struct ft_step *step, bool copy)
{
	struct ft_detail *detail = ft_details_of(details, number);

	if (detail->first_frame == 0)
		begin(detail, observed);
	if (copy) {
		detail->copies++;
		return;
	}
	if (detail->last_ns == TS_UNKNOWN ||
	    (observed->ts_ns != TS_UNKNOWN && observed->ts_ns > detail->last_ns))
		detail->last_ns = observed->ts_ns;
	if ((observed->has & FT_OBSERVED_BTH) != 0)
		count_bth(detail, observed);
	if ((observed->has & FT_OBSERVED_PAYLOAD) != 0)
		detail->payload_bytes += observed->payload;
	detail->ce_marked += ft_is_marked(observed);
	if (observed->dest_qp < 2) {
		count_datagram(detail, observed);
		return;
	}
	count_order(detail, step->what);
	if ((step->what & FT_STEP_ANSWER) != 0)
		count_answer(detail, observed->syndrome, step);
	count_proved(details, number, step);
}
