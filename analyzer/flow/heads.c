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

uint64_t ft_heads_behind(const struct ft_heads *heads, uint32_t sequence, uint64_t frame)
{
	for (unsigned i = heads->count; i-- != 0;) {
		const struct ft_head *head = &heads->all[(heads->oldest + i) % FT_LOSS_NEAR];

		if (frame - head->frame >= FT_LOSS_NEAR)
			return 0;
		if (head->sequence == sequence)
			return frame - head->frame;
	}
	return 0;
}

static uint32_t sequence_of(const struct ft_tracker *tracker, const struct ft_moment *moment)
{
	uint32_t answers = moment->operation->role == FT_ROLE_RESPONSE ? ANSWERS : 0;

	return ft_tracker_number(tracker, moment->flow) | answers;
}

void ft_begin_near(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	ft_heads_begin(&tracker->heads, sequence_of(tracker, moment), moment->observed->frame);
}

__attribute__((noinline)) void ft_tell_near(const struct ft_tracker *tracker,
					    const struct ft_moment *moment)
{
	uint64_t behind = ft_heads_behind(&tracker->heads, sequence_of(tracker, moment),
					  moment->observed->frame);

	if (behind != 0)
		ft_loss_near(tracker->evidence, behind);
}
