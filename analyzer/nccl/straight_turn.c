#include "followed.h"

#include <errno.h>
#include <string.h>

#include <decode/packet.h>

#include "family.h"
#include "fifo.h"
#include "immediates.h"
#include "split.h"

enum { ENTRY_LEAST = 16 /* bytes that are compared together */ };

/* RETH's limit. */
#define LENGTH_MOST (UINT32_C(1) << 31)

static void expect_next(struct ft_nccl_straight *straight, const struct ft_nccl_seen *seen,
			const struct ft_nccl_fifo *layout, uint64_t k)
{
	memset(straight->entry, 0, sizeof straight->entry);
	memcpy(straight->entry, seen->payload, straight->entry_captured);
	straight->number_at = layout->number_at;
	straight->number_bytes = layout->number_bytes;
	straight->frames = (uint32_t)(seen->frame >> 32);
	straight->fifo_rkey = seen->rkey;
	straight->cts_va = seen->va;
	ft_nccl_straight_count_up(straight, k);
}

void ft_nccl_straight_note(struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen,
			   uint64_t k)
{
	struct ft_nccl_straight *straight = followed->straight;
	int32_t family = ft_nccl_family_taken(followed);
	const struct ft_nccl_fifo *layout;

	straight->has_entry = false;
	if (family < 0 || (seen->has & FT_HAS_RETH) == 0)
		return;
	layout = ft_nccl_fifo((enum ft_nccl_family)family);
	if (seen->length != layout->entry_bytes || seen->captured <= layout->number_at ||
	    seen->captured < ENTRY_LEAST)
		return;
	straight->has_entry = true;
	straight->entry_k = k;
	straight->entry_bytes = (uint8_t)layout->entry_bytes;
	straight->entry_captured = (uint8_t)seen->captured;
	straight->slots = ft_nccl_fifo_slots_sure(followed);
	straight->slot_bytes = ft_nccl_slot_bytes(followed, (enum ft_nccl_family)family);
	expect_next(straight, seen, layout, k);
}

/* What it does is known, and nothing of it is in question. */
static bool is_known(const struct ft_nccl_followed *followed)
{
	const struct ft_nccl_connection *model = &followed->model;

	return model->devices == 1 && model->sender.place_count == 1 &&
	       model->receiver.place_count == 1 && followed->vni == UINT32_MAX &&
	       !followed->by_grid && followed->doubts == 0 && !followed->has_nowhere &&
	       followed->first_end_count == 0 && (followed->pmtu & (followed->pmtu - 1)) == 0 &&
	       model->has_family && model->imm_content == FT_NCCL_IMM_LENGTH &&
	       model->imm_order != FT_NCCL_ORDER_UNKNOWN && followed->by_length > followed->by_id;
}

/* The next clear-to-send is the one behind the last. */
static bool asks_in_order(const struct ft_nccl_followed *followed)
{
	const struct ft_nccl_lane *lane = &followed->lanes[0];

	return lane->asked && lane->cts.known && lane->cts_step == 1 &&
	       lane->cts_k == followed->newest && followed->straight->has_entry &&
	       followed->straight->entry_k == followed->newest &&
	       !ft_nccl_is_acknowledged(&lane->cts_acked, lane->cts.next, FT_NCCL_NEXT);
}

/* Nothing is open, and the next message of the one queue pair is the one behind the last. */
static bool answers_in_order(const struct ft_nccl_followed *followed,
			     const struct ft_nccl_lane *lane)
{
	return lane->carried && lane->data.known && lane->exact && lane->slack == 0 &&
	       lane->next == lane->at + 1 && lane->next <= followed->newest + 1 && !lane->open &&
	       !lane->writing && !lane->has_odd && !lane->has_early && !lane->alien &&
	       lane->orphans == 0 &&
	       !ft_nccl_is_acknowledged(&lane->data_acked, lane->data.next, FT_NCCL_NEXT);
}

/* Clear-to-sends until the first slot must come again, even if there are as many as there can be; 0: not known. */
static uint32_t cts_left(const struct ft_nccl_followed *followed)
{
	uint32_t slots = ft_nccl_fifo_slots_most(followed);

	if (followed->straight->slots != 0)
		return UINT32_MAX;
	return slots == 0 ? 0 : slots - 1 - (uint32_t)(followed->newest % slots);
}

/* What is known of all messages that wait for their data. */
static bool is_waiting_like(const struct ft_nccl_followed *followed,
			    const struct ft_nccl_transfer *transfer,
			    const struct ft_nccl_request *like)
{
	const struct ft_nccl_request *request = ft_nccl_ring_requests(&followed->ring, transfer);

	return transfer->has_cts && !transfer->partial && !transfer->doubtful &&
	       transfer->message.cts_frame >> 32 == followed->straight->frames &&
	       transfer->message.request_count == 1 && transfer->message.first_frame == 0 &&
	       !transfer->message.has_imm && request->has_offered &&
	       request->offered == like->offered && request->rkey_count != 0 &&
	       request->rkeys[0] == like->rkeys[0];
}

/* Of messages from this one on none was missed. Behind a loss that is mostly not so: what else there is to do can wait. */
static bool are_waiting(const struct ft_nccl_followed *followed, uint64_t next)
{
	for (uint64_t k = followed->newest + 1; k-- > next;) {
		const struct ft_nccl_transfer *transfer = ft_nccl_ring_find(&followed->ring, k);

		if (transfer == NULL ||
		    !is_waiting_like(followed, transfer, &followed->straight_request))
			return false;
	}
	return true;
}

/* A message that lacks its end is not pushed out while the ring can grow. */
static void leave_room_for(struct ft_nccl_straight *straight,
			   const struct ft_nccl_followed *followed, uint64_t k)
{
	uint64_t left = (k - followed->newest - 1) & (followed->ring.slots - 1);

	if (left < straight->cts_left)
		straight->cts_left = (uint32_t)left;
}

/* False: there is a message that takes the general way. */
static bool take_over(struct ft_nccl_followed *followed, uint64_t next)
{
	const struct ft_nccl_ring *ring = &followed->ring;
	struct ft_nccl_straight *straight = followed->straight;
	uint64_t waiting = 0;

	for (uint32_t i = 0; i < ring->slots; i++) {
		const struct ft_nccl_transfer *transfer = &ring->transfers[i];
		const struct ft_nccl_message *message = &transfer->message;

		if (!transfer->used)
			continue;
		if (!message->has_k || message->k > followed->newest)
			return false;
		if (message->k < next) {
			if (transfer->has_cts && !message->has_imm)
				leave_room_for(straight, followed, message->k);
			continue;
		}
		if (!is_waiting_like(followed, transfer, &followed->straight_request))
			return false;
		waiting++;
		straight->messages[i] = (struct ft_nccl_straight_message){
			.va = ft_nccl_ring_requests(ring, transfer)->va,
			.cts_frame = (uint32_t)message->cts_frame,
		};
	}
	return waiting == followed->newest + 1 - next;
}

/* What a message of this kind asks for. */
static bool has_request(struct ft_nccl_followed *followed)
{
	struct ft_nccl_request *request = &followed->straight_request;
	const struct ft_nccl_transfer *newest =
		ft_nccl_ring_find(&followed->ring, followed->newest);

	if (newest == NULL || !newest->has_cts || newest->message.request_count != 1)
		return false;
	*request = *ft_nccl_ring_requests(&followed->ring, newest);
	request->written = 0;
	request->has_written = false;
	return request->has_offered && request->rkey_count != 0 && request->rkeys[0] != 0;
}

void ft_nccl_straight_drop_room(struct ft_nccl_followed *followed)
{
	struct ft_nccl_straight *straight = followed->straight;

	if (straight == NULL)
		return;
	ft_pool_give(followed->ring.pool, straight->many, straight->many_bytes);
	straight->many = NULL;
	straight->many_bytes = 0;
}

int ft_nccl_straight_make_room(struct ft_nccl_followed *followed, size_t bytes)
{
	struct ft_nccl_straight *straight = followed->straight;

	if (bytes <= straight->many_bytes)
		return 0;
	ft_nccl_straight_drop_room(followed);
	straight->many = ft_pool_take_zeroed(followed->ring.pool, bytes);
	straight->many_bytes = straight->many != NULL ? (uint32_t)bytes : 0;
	return straight->many != NULL ? 0 : -ENOMEM;
}

static int make_room(struct ft_nccl_followed *followed)
{
	struct ft_nccl_straight *straight = followed->straight;
	const uint32_t slots = followed->ring.slots;

	straight->messages = straight->few;
	if (slots <= FT_NCCL_STRAIGHT_LEAST)
		return 0;
	if (ft_nccl_straight_make_room(followed, slots * sizeof *straight->messages) != 0)
		return -ENOMEM;
	straight->messages = straight->many;
	return 0;
}

static uint32_t length_most(const struct ft_nccl_followed *followed)
{
	uint64_t offered = followed->straight_request.offered;
	uint32_t most = offered < LENGTH_MOST ? (uint32_t)offered : LENGTH_MOST;

	if (followed->model.adaptive == FT_NCCL_UNKNOWN && most > FT_NCCL_ADAPTIVE_LENGTH)
		return FT_NCCL_ADAPTIVE_LENGTH;
	return most;
}

static void name_lane(struct ft_nccl_followed *followed, uint8_t lane)
{
	const struct ft_nccl_connection *model = &followed->model;
	uint32_t *qpns = followed->straight->qpns[lane];
	bool by_lid = model->sender.places[0].by_lid;

	qpns[FT_NCCL_AT_SENDER] = ft_nccl_straight_name(model->sender.qpns[lane], by_lid);
	qpns[FT_NCCL_AT_RECEIVER] = ft_nccl_straight_name(model->receiver.qpns[lane], by_lid);
}

void ft_nccl_straight_pair(struct ft_nccl_followed *followed, uint8_t lane)
{
	if (followed->straight != NULL && followed->straight->is_on)
		name_lane(followed, lane);
}

static uint8_t bits_of(uint16_t pmtu)
{
	return pmtu == 0 ? 0 : (uint8_t)__builtin_ctz(pmtu);
}

static void begin(struct ft_nccl_followed *followed)
{
	const struct ft_nccl_connection *model = &followed->model;
	const struct ft_nccl_lane *lane = &followed->lanes[0];
	struct ft_nccl_straight *straight = followed->straight;

	straight->is_on = true;
	straight->stage =
		followed->lane_count > 1 ? FT_NCCL_STRAIGHT_SEVERAL : FT_NCCL_STRAIGHT_IDLE;
	straight->followed = followed;
	straight->pmtu = followed->pmtu;
	straight->pmtu_bits = bits_of(followed->pmtu);
	straight->cts_psn = lane->cts.next;
	straight->cts_left = cts_left(followed);
	straight->rkey = followed->straight_request.rkeys[0];
	straight->length_most = length_most(followed);
	memcpy(straight->hosts[FT_NCCL_AT_SENDER], model->sender.places[0].address, 16);
	memcpy(straight->hosts[FT_NCCL_AT_RECEIVER], model->receiver.places[0].address, 16);
	memset(straight->qpns, 0xff, sizeof straight->qpns); /* no queue pair */
	for (uint8_t i = 0; i < followed->lane_count && i < FT_NCCL_STRAIGHT_LANES; i++)
		name_lane(followed, i);
	straight->big = model->imm_order == FT_NCCL_ORDER_BIG;
	straight->bare = model->adaptive == FT_NCCL_YES;
	straight->acked = FT_NCCL_NONE;
	straight->newest = followed->newest;
	straight->packets = 0;
}

/* What is remembered of the one lane on the way. */
static void begin_alone(struct ft_nccl_followed *followed)
{
	const struct ft_nccl_lane *lane = &followed->lanes[0];
	struct ft_nccl_straight *straight = followed->straight;

	straight->data_acked = false;
	straight->data_psn = lane->data.next;
	straight->next = lane->next;
	straight->written = straight->written_more = 0;
}

static void enter_alone(struct ft_nccl_followed *followed)
{
	struct ft_nccl_straight *straight = followed->straight;

	if (followed->unsure || !ft_nccl_split_is_known(followed) ||
	    followed->model.qp_count != 1 || followed->model.qps_per_device > 1 ||
	    !answers_in_order(followed, &followed->lanes[0]) ||
	    !are_waiting(followed, followed->lanes[0].next) || make_room(followed) != 0)
		return;
	straight->mask = (uint8_t)(followed->ring.slots - 1);
	begin(followed);
	straight->is_on = take_over(followed, followed->lanes[0].next);
	if (straight->is_on)
		begin_alone(followed);
}

static void enter_with_lanes(struct ft_nccl_followed *followed)
{
	if (!ft_nccl_straight_may_have_lanes(followed))
		return;
	begin(followed);
	followed->straight->is_on = ft_nccl_straight_take_over_lanes(followed);
}

void ft_nccl_straight_enter(struct ft_nccl_followed *followed)
{
	if (followed->retired || followed->given_up || !is_known(followed) ||
	    !asks_in_order(followed) || !has_request(followed))
		return;
	if (followed->lane_count == 1)
		enter_alone(followed);
	else
		enter_with_lanes(followed);
}
