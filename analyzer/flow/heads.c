#include "tracker_parts.h"

enum { ANSWERS = 1 << 30 }; /* of a sequence, in front of the record number of its half */

static struct ft_head *at(struct ft_heads *heads, unsigned i)
{
	return &heads->all[(heads->oldest + i) % FT_LOSS_NEAR];
}

static void set_bit(struct ft_heads *heads, uint32_t sequence, uint64_t frame)
{
	uint64_t span = frame / FT_LOSS_NEAR;

	if (span != heads->span) {
		for (unsigned i = 0; i < FT_HEADS_WORDS; i++) {
			heads->before[i] = span == heads->span + 1 ? heads->recent[i] : 0;
			heads->recent[i] = 0;
		}
		heads->span = span;
	}
	heads->recent[sequence / 64 % FT_HEADS_WORDS] |= UINT64_C(1) << sequence % 64;
}

/* Each frame begins one at most, so that there is room for those that are near. */
void ft_heads_begin(struct ft_heads *heads, uint32_t sequence, uint64_t frame)
{
	while (heads->count != 0 && frame - at(heads, 0)->frame >= FT_LOSS_NEAR) {
		heads->oldest = (heads->oldest + 1) % FT_LOSS_NEAR;
		heads->count--;
	}
	if (heads->count == FT_LOSS_NEAR)
		return;
	*at(heads, heads->count++) = (struct ft_head){ .frame = frame, .sequence = sequence };
	heads->until = frame + FT_LOSS_NEAR;
	set_bit(heads, sequence, frame);
}

struct ft_head *ft_heads_find(struct ft_heads *heads, uint32_t sequence, uint64_t frame)
{
	for (unsigned i = heads->count; i-- != 0;) {
		struct ft_head *head = at(heads, i);

		if (frame - head->frame >= FT_LOSS_NEAR)
			return NULL;
		if (head->sequence == sequence)
			return head;
	}
	return NULL;
}

uint64_t ft_heads_behind(struct ft_heads *heads, uint32_t sequence, uint64_t frame)
{
	const struct ft_head *head = ft_heads_find(heads, sequence, frame);

	return head == NULL ? 0 : frame - head->frame;
}

static uint32_t sequence_of(const struct ft_tracker *tracker, const struct ft_moment *moment)
{
	uint32_t answers = moment->operation->role == FT_ROLE_RESPONSE ? ANSWERS : 0;

	return ft_tracker_number(tracker, moment->flow) | answers;
}

static void count_end(struct ft_head *head, const struct ft_moment *moment)
{
	head->ended += (moment->operation->part & FT_PART_LAST) != 0;
}

void ft_begin_near(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	uint32_t sequence = sequence_of(tracker, moment);
	uint64_t frame = moment->observed->frame;
	struct ft_head *head;

	tracker->evidence->begun++;
	tracker->evidence->begun_soon += frame <= FT_LOSS_FIRST_FRAMES;
	ft_heads_begin(&tracker->heads, sequence, frame);
	head = ft_heads_find(&tracker->heads, sequence, frame);
	if (head != NULL)
		count_end(head, moment);
}

void ft_note_opening(struct ft_tracker *tracker, const struct ft_moment *moment, bool follows)
{
	uint8_t part = moment->operation->part;
	uint64_t frame = moment->observed->frame;

	if (moment->flow->packets != 0 || frame <= FT_LOSS_FIRST_FRAMES)
		return;
	tracker->evidence->opened += (part & FT_PART_LAST) == 0;
	if ((part & FT_PART_FIRST) == 0 && !follows)
		ft_loss_miss(tracker->evidence, frame, 1, FT_LOSS_CUT);
}

__attribute__((noinline)) void ft_find_near(struct ft_tracker *tracker, uint32_t sequence,
					    uint64_t frame)
{
	uint64_t behind = ft_heads_behind(&tracker->heads, sequence, frame);

	if (behind != 0)
		ft_loss_near(tracker->evidence, behind);
}

__attribute__((noinline)) void ft_tell_near(struct ft_tracker *tracker,
					    const struct ft_moment *moment)
{
	uint64_t frame = moment->observed->frame;
	struct ft_head *head = ft_heads_find(&tracker->heads, sequence_of(tracker, moment), frame);

	if (head == NULL)
		return;
	count_end(head, moment);
	if (frame != head->frame)
		ft_loss_near(tracker->evidence, frame - head->frame);
}

int32_t ft_ended_near(struct ft_tracker *tracker, const struct ft_flow *flow, uint64_t frame)
{
	const struct ft_head *head =
		ft_heads_find(&tracker->heads, ft_tracker_number(tracker, flow), frame);

	return head == NULL ? -1 : (int32_t)head->ended;
}
