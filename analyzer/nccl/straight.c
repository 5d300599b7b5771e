#include "followed.h"

#include <string.h>

#include <decode/big_endian.h>
#include <decode/brief.h>
#include <decode/little_endian.h>

#include "rota.h"

enum { ADDR_BYTES = 8, PAYLOAD_MOST = 4096 };

static struct ft_nccl_straight_message *message_at(const struct ft_nccl_straight *straight,
						   uint64_t k)
{
	return &straight->messages[k & straight->mask];
}

/* --- clear-to-sends --- */

/* Messages that are over. */
static uint64_t done_of(const struct ft_nccl_straight *straight)
{
	return straight->next - (straight->stage != FT_NCCL_STRAIGHT_IDLE ? 1 : 0);
}

bool ft_nccl_straight_is_next_cts(const struct ft_nccl_straight *straight,
				  const struct ft_observed *observed)
{
	return observed->psn == straight->cts_psn && observed->va == straight->cts_va &&
	       observed->rkey == straight->fifo_rkey && observed->length == straight->entry_bytes &&
	       observed->payload == straight->entry_bytes && straight->cts_left != 0;
}

const uint8_t *ft_nccl_straight_extension(const struct ft_nccl_glimpse *glimpse)
{
	return glimpse->frame->bytes + glimpse->bth_at + FT_BRIEF_BTH_LEN;
}

static inline uint64_t word_of(const uint8_t *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof word);
	return word;
}

/* Where a and b differ, in words of 8 bytes. */
static inline uint64_t differing(const uint8_t *a, const uint8_t *b, uint32_t words)
{
	uint64_t bits = 0;

	for (uint32_t i = 0; i < words; i++)
		bits |= word_of(a + 8 * (size_t)i) ^ word_of(b + 8 * (size_t)i);
	return bits;
}

/*
 * So many bytes, 8 at least: a call to compare them would cost more. As many as families have, or nearly, are compared at once.
 * The last word may overlap the one before it.
 */
static inline bool are_alike(const uint8_t *a, const uint8_t *b, uint32_t bytes)
{
	const uint32_t last = bytes - (uint32_t)sizeof(uint64_t), words = (last + 7) / 8;
	uint64_t bits = word_of(a + last) ^ word_of(b + last);

	switch (words) {
	case 6:
		return (bits | differing(a, b, 6)) == 0;
	case 2:
		return (bits | differing(a, b, 2)) == 0;
	default:
		return (bits | differing(a, b, words)) == 0;
	}
}

const uint8_t *ft_nccl_straight_entry(const struct ft_nccl_straight *straight,
				      const struct ft_nccl_glimpse *glimpse)
{
	uint32_t before = glimpse->bth_at + FT_BRIEF_BTH_LEN + FT_NCCL_STRAIGHT_RETH;
	uint32_t captured = glimpse->frame->captured - before;

	if (captured > straight->entry_bytes)
		captured = straight->entry_bytes;
	return captured == straight->entry_captured ? glimpse->frame->bytes + before : NULL;
}

bool ft_nccl_straight_is_like(const struct ft_nccl_straight *straight, const uint8_t *entry)
{
	return are_alike(entry + ADDR_BYTES, straight->entry + ADDR_BYTES,
			 straight->entry_captured - (uint32_t)ADDR_BYTES);
}

static bool take_cts(struct ft_nccl_straight *straight, const struct ft_nccl_glimpse *glimpse)
{
	const uint8_t *entry;

	if (!ft_nccl_straight_is_next_cts(straight, glimpse->observed) ||
	    straight->newest + 1 - done_of(straight) > straight->mask)
		return false;
	entry = ft_nccl_straight_entry(straight, glimpse);
	if (entry == NULL || !ft_nccl_straight_is_like(straight, entry))
		return false;
	ft_nccl_straight_count_cts(straight);
	*message_at(straight, straight->newest) = (struct ft_nccl_straight_message){
		.va = ft_le64(entry),
		.cts_frame = (uint32_t)glimpse->observed->frame,
	};
	return true;
}

/* --- data --- */

/* The message that comes next is asked for, and this begins to answer. */
static bool is_next_write(const struct ft_nccl_straight *straight,
			  const struct ft_observed *observed)
{
	return straight->stage == FT_NCCL_STRAIGHT_IDLE && observed->psn == straight->data_psn &&
	       straight->next <= straight->newest && observed->rkey == straight->rkey &&
	       observed->va == message_at(straight, straight->next)->va &&
	       observed->length <= straight->length_most;
}

static bool is_length(const struct ft_nccl_straight *straight, const uint8_t *immediate,
		      uint32_t length)
{
	return ft_nccl_straight_says(straight, ft_be32(immediate)) == length;
}

static struct ft_nccl_straight_message *begun_last(const struct ft_nccl_straight *straight)
{
	return message_at(straight, straight->next - 1);
}

static void begin(struct ft_nccl_straight *straight, const struct ft_observed *observed)
{
	struct ft_nccl_straight_message *message = message_at(straight, straight->next);

	message->first_frame = (uint32_t)observed->frame;
	message->first_ts_ns = observed->ts_ns;
	message->written = observed->length;
	message->from = observed->psn;
	straight->next++;
	straight->written += observed->length;
	if (straight->written < observed->length)
		straight->written_more++;
	straight->packets++;
}

/* What is in the middle is not shown. */
static bool take_first(struct ft_nccl_straight *straight, const struct ft_observed *observed)
{
	if (!is_next_write(straight, observed) || straight->pmtu == 0 ||
	    observed->payload != straight->pmtu || observed->length <= observed->payload)
		return false;
	begin(straight, observed);
	straight->data_psn = ft_psn_add(straight->data_psn,
					ft_nccl_straight_packets(straight, observed->length) - 1);
	straight->stage = FT_NCCL_STRAIGHT_WRITING;
	return true;
}

/* The message is over, or waits for its immediate. */
static void end(struct ft_nccl_straight *straight, enum ft_nccl_straight_stage stage)
{
	straight->data_psn = ft_psn_add(straight->data_psn, 1);
	straight->stage = (uint8_t)stage;
}

bool ft_nccl_straight_is_sane(uint32_t payload)
{
	return payload != 0 && payload <= PAYLOAD_MOST && payload % 4 == 0;
}

static inline bool take_last(struct ft_nccl_straight *straight,
			     const struct ft_nccl_glimpse *glimpse, bool has_immediate)
{
	const struct ft_observed *observed = glimpse->observed;

	if (straight->stage != FT_NCCL_STRAIGHT_WRITING || observed->psn != straight->data_psn ||
	    !ft_nccl_straight_is_sane(observed->payload) ||
	    (has_immediate && !is_length(straight, ft_nccl_straight_extension(glimpse),
					 begun_last(straight)->written)))
		return false;
	straight->packets++;
	end(straight, has_immediate ? FT_NCCL_STRAIGHT_IDLE : FT_NCCL_STRAIGHT_WRITTEN);
	return true;
}

static bool take_bare_end(struct ft_nccl_straight *straight, const struct ft_nccl_glimpse *glimpse)
{
	const struct ft_observed *observed = glimpse->observed;

	if (straight->stage != FT_NCCL_STRAIGHT_WRITTEN || !straight->bare ||
	    observed->psn != straight->data_psn || observed->va != 0 || observed->rkey != 0 ||
	    observed->payload != 0 ||
	    !is_length(straight, ft_nccl_straight_extension(glimpse) + FT_NCCL_STRAIGHT_RETH,
		       begun_last(straight)->written))
		return false;
	begun_last(straight)->from |= FT_NCCL_STRAIGHT_BARE;
	straight->packets++;
	end(straight, FT_NCCL_STRAIGHT_IDLE);
	return true;
}

bool ft_nccl_straight_is_to_sizes(const struct ft_nccl_followed *followed, uint64_t va)
{
	const struct ft_nccl_target *sizes = &followed->model.sizes;

	return sizes->is_known && va - sizes->addr < UINT64_C(256) * sizes->slot_bytes;
}

static bool take_only(struct ft_nccl_straight *straight, const struct ft_nccl_glimpse *glimpse)
{
	const struct ft_observed *observed = glimpse->observed;

	if (observed->length == 0)
		return take_bare_end(straight, glimpse);
	if (!is_next_write(straight, observed) || !ft_nccl_straight_is_sane(observed->payload) ||
	    observed->length != observed->payload ||
	    ft_nccl_straight_packets(straight, observed->length) != 1 ||
	    !is_length(straight, ft_nccl_straight_extension(glimpse) + FT_NCCL_STRAIGHT_RETH,
		       observed->length) ||
	    ft_nccl_straight_is_to_sizes(straight->followed, observed->va))
		return false;
	begin(straight, observed);
	end(straight, FT_NCCL_STRAIGHT_IDLE);
	return true;
}

/* --- any --- */

static_assert(offsetof(struct ft_nccl_straight, entry) ==
		      offsetof(struct ft_nccl_straight, cts_va) + FT_NCCL_STRAIGHT_LINE,
	      "fetched together");

/* Clear-to-sends go over the first lane. */
enum ft_nccl_straight_kind ft_nccl_straight_kind(const struct ft_nccl_straight *straight,
						 uint32_t place)
{
	if (place == ft_nccl_straight_place(0, FT_NCCL_AT_SENDER))
		return FT_NCCL_STRAIGHT_CTS;
	if (straight->stage < FT_NCCL_STRAIGHT_SEVERAL)
		return FT_NCCL_STRAIGHT_DATA;
	return straight->stage == FT_NCCL_STRAIGHT_ROTA &&
			       ft_nccl_straight_role(place) == FT_NCCL_AT_RECEIVER
		       ? FT_NCCL_STRAIGHT_OF_ROTA
		       : FT_NCCL_STRAIGHT_LANE;
}

/* clang-format off */
#define FIRST_OF(kind) (FT_NCCL_STRAIGHT_##kind * FT_NCCL_STRAIGHT_PLACES)
#define AT_LANE(i)     offsetof(struct ft_nccl_straight, lanes[i])
#define BOTH_ENDS(i)   { AT_LANE(i), AT_LANE(i) }, { AT_LANE(i), AT_LANE(i) }

/* Clear-to-sends come to the first place alone. */
const struct ft_nccl_straight_reach ft_nccl_straight_reaches[FT_NCCL_STRAIGHT_REACHES] = {
	[FIRST_OF(CTS)] = { offsetof(struct ft_nccl_straight, cts_va),
			    offsetof(struct ft_nccl_straight, entry) },
	[FIRST_OF(LANE)] = BOTH_ENDS(0), BOTH_ENDS(1), BOTH_ENDS(2), BOTH_ENDS(3),
			   BOTH_ENDS(4), BOTH_ENDS(5), BOTH_ENDS(6), BOTH_ENDS(7),
};
static_assert(FT_NCCL_STRAIGHT_LANES == 8, "two places of each");
/* clang-format on */

/* Two addresses of 16 bytes each: calls would cost more. */
static inline bool is_between(const struct ft_flow_key *key, const uint8_t src[16],
			      const uint8_t dst[16])
{
	uint64_t from[2], to[2], a[2], b[2];

	memcpy(from, key->src, sizeof from);
	memcpy(to, key->dst, sizeof to);
	memcpy(a, src, sizeof a);
	memcpy(b, dst, sizeof b);
	return ((from[0] ^ a[0]) | (from[1] ^ a[1]) | (to[0] ^ b[0]) | (to[1] ^ b[1])) == 0;
}

/* Those go straight that are in no overlay. Which end it is, and of which lane, is as good as random: there is no branch on that. */
bool ft_nccl_straight_has(const struct ft_nccl_straight *straight, uint32_t place,
			  const struct ft_flow_key *key)
{
	uint32_t role = ft_nccl_straight_role(place), lane = ft_nccl_straight_lane(place);
	bool is_named =
		ft_nccl_straight_name(key->dest_qp, key->by_lid) == straight->qpns[lane][role];

	bool is_between_them =
		is_between(key, straight->hosts[FT_NCCL_AT_RECEIVER - role], straight->hosts[role]);

	return (is_named & is_between_them & (key->vni == FT_FLOW_NO_VNI)) != 0;
}

/* Where data goes clear-to-sends are acknowledged, too. What was not seen yet is not to be acknowledged. */
static bool take_acknowledgment(struct ft_nccl_straight *straight, bool is_data,
				const struct ft_observed *observed)
{
	uint32_t next = is_data ? straight->cts_psn : straight->data_psn;

	if (observed->payload != 0 || ft_psn_distance(observed->psn, next) >= 0)
		return false;
	if (is_data)
		straight->acked = observed->psn;
	else
		straight->data_acked = true;
	return true;
}

static uintptr_t where(const struct ft_nccl_straight *straight, uint64_t k)
{
	return (uintptr_t)message_at(straight, k);
}

/* Until its end a message is the one that is likely; acknowledgments ask for none. */
static uintptr_t take_data(struct ft_nccl_straight *straight, const struct ft_nccl_glimpse *glimpse)
{
	const struct ft_observed *observed = glimpse->observed;

	switch (observed->opcode) {
	case 0x06:
		return take_first(straight, observed) ? FT_NCCL_STRAIGHT_STAYS : 0;
	case 0x08:
		return take_last(straight, glimpse, false) ? FT_NCCL_STRAIGHT_STAYS : 0;
	case 0x09:
		return take_last(straight, glimpse, true) ? where(straight, straight->next) : 0;
	case 0x0b:
		return take_only(straight, glimpse) ? where(straight, straight->next) : 0;
	case FT_NCCL_ACK:
		return take_acknowledgment(straight, true, observed) ? FT_NCCL_STRAIGHT_STAYS : 0;
	default:
		return 0;
	}
}

static uintptr_t take_answer(struct ft_nccl_straight *straight,
			     const struct ft_nccl_glimpse *glimpse)
{
	const struct ft_observed *observed = glimpse->observed;

	if (observed->opcode == 0x0a)
		return take_cts(straight, glimpse) ? where(straight, straight->newest + 1) : 0;
	return observed->opcode == FT_NCCL_ACK && take_acknowledgment(straight, false, observed)
		       ? FT_NCCL_STRAIGHT_STAYS
		       : 0;
}

uintptr_t ft_nccl_straight_take(struct ft_nccl_straight *straight, uint32_t place,
				const struct ft_nccl_glimpse *glimpse)
{
	if (straight->stage == FT_NCCL_STRAIGHT_SEVERAL)
		return ft_nccl_straight_take_lane(straight, place, glimpse);
	if (straight->stage == FT_NCCL_STRAIGHT_ROTA)
		return ft_nccl_rota_take(straight, place, glimpse);
	return ft_nccl_straight_role(place) == FT_NCCL_AT_RECEIVER ? take_data(straight, glimpse)
								   : take_answer(straight, glimpse);
}
