#include "turns.h"

#include "adrift.h"
#include "answer.h"
#include "family.h"
#include "faults.h"
#include "immediates.h"
#include "split.h"

enum { ALIGNMENT = 128, VERSION_SPLIT_FLAG = 21801 };

static bool is_older(const struct ft_nccl_followed *followed, int32_t version)
{
	return followed->version_last != 0 && followed->version_last < version;
}

void ft_nccl_turns_begin(struct ft_nccl_followed *followed, unsigned sets)
{
	unsigned from = followed->unsure ? 2 : sets;

	if (sets < 2)
		return;
	if (sets > FT_NCCL_WAY_SETS_MOST) {
		followed->unsure = true;
		return;
	}
	followed->ways = FT_NCCL_WAY_ALL;
	if (is_older(followed, VERSION_SPLIT_FLAG))
		return;
	for (unsigned i = from; i <= sets; i++)
		followed->ways |= UINT64_C(1) << i;
}

bool ft_nccl_turns_are_open(const struct ft_nccl_followed *followed)
{
	return (followed->ways & (followed->ways - 1)) != 0;
}

unsigned ft_nccl_turns_sets(const struct ft_nccl_followed *followed)
{
	unsigned sets = 0;

	while (followed->ways >> sets > 1)
		sets++;
	return sets;
}

static uint8_t set_of(const struct ft_nccl_followed *followed, uint8_t lane)
{
	return (uint8_t)(lane / followed->model.devices);
}

static uint64_t k_of(const struct ft_nccl_followed *followed, unsigned sets, uint8_t lane,
		     uint64_t turn)
{
	return sets == 0 ? turn : turn * sets + set_of(followed, lane);
}

/* What lanes carried of it would have been its own by the way that was left. */
static bool is_right(const struct ft_nccl_followed *followed,
		     const struct ft_nccl_transfer *transfer, unsigned sets)
{
	const struct ft_nccl_share *shares = ft_nccl_ring_shares(&followed->ring, transfer);
	uint64_t k = transfer->message.k;

	for (uint8_t i = 0; i < followed->lane_count; i++) {
		if (!shares[i].used && shares[i].packets != 0)
			return false;
		if (!shares[i].used)
			continue;
		if (shares[i].counted && k_of(followed, sets, i, shares[i].turn) != k)
			return false;
		if (sets != 0 && k % sets != set_of(followed, i))
			return false;
	}
	return true;
}

/* A lane goes on by the way that was left. */
static void realign(const struct ft_nccl_followed *followed, uint8_t at, unsigned sets)
{
	struct ft_nccl_lane *lane = &followed->lanes[at];

	ft_nccl_drop_early(lane);
	lane->exact = lane->counted;
	lane->slack = lane->counted ? 0 : FT_NCCL_SLACK_MOST;
	if (!lane->counted)
		return;
	lane->next = k_of(followed, sets, at, lane->turns);
	if (lane->turns != 0)
		lane->at = k_of(followed, sets, at, lane->turns - 1);
}

/* One way is left. What was taken for one message by another way is listed as data that may be of any. */
static void settle(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed)
{
	struct ft_nccl_connection *model = &followed->model;
	struct ft_nccl_ring *ring = &followed->ring;
	unsigned sets = ft_nccl_turns_sets(followed);

	if (sets != 0) {
		model->split = FT_NCCL_NO;
		model->qps_per_device = (uint8_t)sets;
		model->qp_count = (uint8_t)(sets * model->devices);
	} else if (model->qps_per_device > 1) {
		model->split = FT_NCCL_YES;
	}
	for (uint8_t i = 0; i < followed->lane_count; i++) {
		ft_nccl_fault_in_way(connections, followed, i);
		realign(followed, i, sets);
	}
	for (uint32_t i = 0; i < ring->slots; i++) {
		struct ft_nccl_transfer *transfer = &ring->transfers[i];

		if (!transfer->used || transfer->message.first_frame == 0)
			continue;
		if (is_right(followed, transfer, sets))
			transfer->undecided = false;
		else
			ft_nccl_adrift_part(connections, followed, transfer);
	}
}

static void rule_out(struct ft_nccl_moment *moment, uint64_t ways)
{
	struct ft_nccl_followed *followed = moment->followed;

	if ((followed->ways & ~ways) == 0 || (followed->ways & ways) == 0)
		return;
	followed->ways &= ~ways;
	if (!ft_nccl_turns_are_open(followed))
		settle(moment->connections, followed);
}

bool ft_nccl_turns_agree(const struct ft_nccl_followed *followed, uint8_t lane)
{
	const struct ft_nccl_lane *at = &followed->lanes[lane];

	return ft_nccl_turns_are_open(followed) && at->counted && set_of(followed, lane) == 0 &&
	       at->turns == (at->open ? 1 : 0);
}

bool ft_nccl_turns_count(const struct ft_nccl_moment *moment)
{
	return ft_nccl_turns_are_open(moment->followed) && moment->lane->counted &&
	       moment->is_behind;
}

/* What each but the last of `count` queue pairs gets of a message; see the specification of NCCL 2.12 and later. */
static uint64_t part_each(uint32_t length, uint32_t count)
{
	uint64_t each = (length + (uint64_t)count - 1) / count;

	return (each + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* .. and number `at` of them. */
static uint64_t part_of(uint32_t length, uint32_t count, uint32_t at)
{
	uint64_t part = part_each(length, count), from = at * part;

	if (length <= from)
		return 0;
	return length - from < part ? length - from : part;
}

/* How many queue pairs share a message, if so many sets take turns: metadata may name more than there are. */
struct sharers {
	uint32_t least, most, step;
};

static struct sharers sharers_of(const struct ft_nccl_moment *moment, unsigned sets)
{
	const struct ft_nccl_followed *followed = moment->followed;
	uint32_t devices = followed->model.devices;

	if (sets != 0)
		return (struct sharers){ devices, devices, devices };
	return (struct sharers){
		.least = followed->unsure ? moment->lane_index + 1u : followed->lane_count,
		.most = followed->lane_count,
		.step = devices,
	};
}

/*
 * A queue pair that nothing of a message is left for is told its length all the same, and its address is one that goes on
 * by a part each, or the end of the data.
 */
static bool is_left_over(const struct ft_nccl_moment *moment, unsigned sets, unsigned part,
			 uint64_t offset)
{
	const struct sharers sharers = sharers_of(moment, sets);

	for (unsigned order = FT_NCCL_LITTLE; order <= FT_NCCL_BIG; order++) {
		uint32_t length = ft_nccl_immediate(moment->seen->immdt, (enum ft_nccl_order)order);
		uint32_t count = sharers.most;

		if ((moment->followed->orders & 1u << order) == 0 || offset < length)
			continue;
		if (offset == length)
			return true;
		for (; count >= sharers.least && count >= sharers.step; count -= sharers.step)
			if (offset == part * part_each(length, count))
				return true;
	}
	return false;
}

/* The first part of a message goes to the start of the buffer, as all do of an empty one; the others not just anywhere. */
static bool is_at_part(const struct ft_nccl_moment *moment, const struct ft_nccl_request *request,
		       unsigned sets, uint64_t k)
{
	const struct ft_nccl_seen *seen = moment->seen;
	uint64_t offset = seen->va - request->va;
	unsigned lane = moment->lane_index;
	unsigned part = sets == 0 ? lane : lane % moment->followed->model.devices;

	if (seen->length != 0)
		return part == 0 ? offset == 0 : offset % ALIGNMENT == 0;
	if (!ft_nccl_has_immediate(seen->opcode))
		return part != 0 || offset == 0;
	if (part == 0 || seen->immdt == 0)
		return offset == 0 && (seen->immdt == 0 || seen->immdt == (uint32_t)k);
	return is_left_over(moment, sets, part, offset);
}

enum fit { UNASKED, NO_FIT, LOOSE, EXACT };

static enum fit fit_of(const struct ft_nccl_moment *moment, unsigned sets, bool any_write)
{
	const struct ft_nccl_followed *followed = moment->followed;
	uint64_t k = k_of(followed, sets, moment->lane_index, moment->lane->turns);
	const struct ft_nccl_transfer *transfer = ft_nccl_ring_find(&followed->ring, k);
	const struct ft_nccl_request *request;

	if (transfer == NULL || !transfer->has_cts ||
	    transfer->message.cts_frame > moment->seen->frame)
		return UNASKED;
	if (any_write)
		return LOOSE;
	request = ft_nccl_ring_requests(&followed->ring, transfer);
	if (request->va == 0 || request->by_data) /* what it asked for cannot be read */
		return LOOSE;
	if (!ft_nccl_answers_first(followed, transfer, moment->seen))
		return NO_FIT;
	return is_at_part(moment, request, sets, k) ? EXACT : LOOSE;
}

struct ft_nccl_turn_fit ft_nccl_turns_fit(struct ft_nccl_moment *moment, bool any_write)
{
	struct ft_nccl_followed *followed = moment->followed;
	uint64_t by_fit[EXACT + 1] = { 0 }, left;
	struct ft_nccl_turn_fit fit = { 0 };
	bool is_first = true;

	for (unsigned sets = 0; followed->ways >> sets != 0; sets++) {
		if ((followed->ways >> sets & 1) != 0)
			by_fit[fit_of(moment, sets, any_write)] |= UINT64_C(1) << sets;
	}
	fit.unasked = by_fit[UNASKED] != 0;
	fit.fits = (by_fit[LOOSE] | by_fit[EXACT]) != 0;
	if (fit.fits)
		rule_out(moment, by_fit[NO_FIT] | (by_fit[EXACT] != 0 ? by_fit[LOOSE] : 0));
	left = fit.fits ? followed->ways & ~by_fit[UNASKED] : followed->ways & by_fit[UNASKED];
	for (unsigned sets = 0; left >> sets != 0; sets++) {
		uint64_t k = k_of(followed, sets, moment->lane_index, moment->lane->turns);

		if ((left >> sets & 1) == 0)
			continue;
		if (is_first)
			fit.k = k;
		fit.undecided = fit.undecided || k != fit.k;
		is_first = false;
	}
	fit.undecided = fit.undecided && ft_nccl_turns_are_open(followed);
	return fit;
}

uint64_t ft_nccl_turns_elsewhere(const struct ft_nccl_followed *followed, uint8_t lane,
				 const struct ft_nccl_transfer *asked)
{
	const struct ft_nccl_lane *at = &followed->lanes[lane];
	uint64_t elsewhere = 0;
	uint8_t request;

	for (unsigned sets = 0; followed->ways >> sets != 0; sets++) {
		uint64_t k = k_of(followed, sets, lane, at->early_turn);
		const struct ft_nccl_transfer *transfer = asked;

		if (asked == NULL)
			transfer = ft_nccl_ring_find(&followed->ring, k);
		if ((followed->ways >> sets & 1) == 0 || transfer == NULL ||
		    transfer->message.k != k || (asked == NULL && !transfer->has_cts))
			continue;
		if (!ft_nccl_answers(followed, transfer, &at->early, &request))
			elsewhere |= UINT64_C(1) << sets;
	}
	return elsewhere;
}

static bool is_share_of_all(const struct ft_nccl_moment *moment, uint64_t bytes, uint32_t length)
{
	const struct sharers all = sharers_of(moment, 0);

	for (uint32_t count = all.most; count >= all.least && count >= all.step; count -= all.step)
		if (part_of(length, count, moment->lane_index) == bytes)
			return true;
	return false;
}

/* An immediate may be the message's number instead. */
static bool may_be_number(const struct ft_nccl_followed *followed, uint32_t immediate)
{
	return !is_older(followed, FT_NCCL_VERSION_BY_ID) &&
	       (uint64_t)immediate <= followed->newest + FT_NCCL_RING_MOST &&
	       (uint64_t)immediate + FT_NCCL_RING_MOST >= followed->oldest;
}

void ft_nccl_turns_weigh(struct ft_nccl_moment *moment, const struct ft_nccl_transfer *transfer)
{
	struct ft_nccl_followed *followed = moment->followed;
	const struct ft_nccl_share *share =
		ft_nccl_ring_shares(&followed->ring, transfer) + moment->lane_index;
	uint32_t devices = followed->model.devices;
	bool by_all = false, by_set = false;

	if (!ft_nccl_turns_are_open(followed) || followed->failing ||
	    transfer->message.request_count != 1 || ft_nccl_is_doubted(transfer) ||
	    (moment->lane->early_open && moment->lane->early_wrong != 0) ||
	    !ft_nccl_share_is_whole(share))
		return;
	for (unsigned order = FT_NCCL_LITTLE; order <= FT_NCCL_BIG; order++) {
		uint32_t length = ft_nccl_immediate(share->immdt, (enum ft_nccl_order)order);

		if ((followed->orders & 1u << order) == 0 || may_be_number(followed, length))
			continue;
		by_all = by_all || is_share_of_all(moment, share->bytes, length);
		by_set = by_set ||
			 part_of(length, devices, moment->lane_index % devices) == share->bytes;
	}
	if (by_all != by_set)
		rule_out(moment, by_all ? ~FT_NCCL_WAY_ALL : FT_NCCL_WAY_ALL);
}

void ft_nccl_turns_end_at(struct ft_nccl_moment *moment, uint32_t slot, uint32_t slots)
{
	const struct ft_nccl_lane *lane = moment->lane;
	uint64_t wrong = 0;

	if (!ft_nccl_turns_count(moment) || lane->turns == 0)
		return;
	for (unsigned sets = 0; moment->followed->ways >> sets != 0; sets++) {
		if (k_of(moment->followed, sets, moment->lane_index, lane->turns - 1) % slots !=
		    slot)
			wrong |= UINT64_C(1) << sets;
	}
	rule_out(moment, wrong);
}

void ft_nccl_turns_carry(struct ft_nccl_moment *moment)
{
	uint8_t set = set_of(moment->followed, moment->lane_index);

	if (!ft_nccl_turns_are_open(moment->followed))
		return;
	if (is_older(moment->followed, VERSION_SPLIT_FLAG))
		rule_out(moment, ~FT_NCCL_WAY_ALL);
	if (set <= FT_NCCL_WAY_SETS_MOST) /* another set than any way has: nothing to rule out by */
		rule_out(moment, ((UINT64_C(2) << set) - 1) & ~FT_NCCL_WAY_ALL);
}
