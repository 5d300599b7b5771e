#include "tracker_parts.h"

/*
 * What it says of loss that a packet is sent again. Had the first been lost by the mirror, the second would show it as
 * little as one lost by the fabric: neither of them closes a space. Of those that pass more often it matters how often, so
 * that each is counted once.
 */

enum { ANSWER = 1 << 24 };

/* What the packet was that passed first, as far as is known. */
enum first {
	SENT_FIRST,
	SENT_AGAIN, /* the first was lost: by the fabric, or by the mirror */
	LATE,       /* likewise, or it was overtaken: nobody is seen to have asked for it */
};

static uint64_t key_of(const struct ft_tracker *tracker, const struct ft_moment *moment)
{
	uint32_t answer = moment->operation->role == FT_ROLE_RESPONSE ? ANSWER : 0;

	return (uint64_t)ft_tracker_number(tracker, moment->flow) << 25 | answer |
	       moment->observed->psn;
}

static struct ft_recalled *find(const struct ft_tracker *tracker, uint64_t key)
{
	struct ft_recall_walk walk = ft_recall_walk(&tracker->again, key);

	return ft_recall_next(&walk);
}

static void remember(struct ft_tracker *tracker, uint64_t key, enum first first)
{
	struct ft_recalled *entry = ft_recall_add(&tracker->again, key);

	entry->again.first = (uint8_t)first;
	entry->again.oftener = false;
}

/* It was counted as one that passes no more. */
static void take_back(struct ft_loss_evidence *evidence, enum first first, uint64_t frame)
{
	switch (first) {
	case SENT_FIRST:
		evidence->twice--;
		break;
	case SENT_AGAIN:
		evidence->filled--;
		break;
	case LATE:
		evidence->late_once--;
		ft_loss_again(evidence, frame);
		return;
	}
	ft_loss_silent(evidence, frame);
}

/* A request that was answered for when it came before, or may have been: then nobody would send it again. */
static bool may_be_past(const struct ft_moment *moment)
{
	return moment->operation->role != FT_ROLE_RESPONSE &&
	       ((moment->step->what & FT_STEP_BEHIND) != 0 ||
		moment->flow->half.acked == FT_PSN_NONE);
}

void ft_pass_again(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	struct ft_loss_evidence *evidence = tracker->evidence;
	uint64_t key = key_of(tracker, moment), frame = moment->observed->frame;
	struct ft_recalled *entry = find(tracker, key);

	if (entry == NULL) {
		remember(tracker, key, SENT_FIRST);
		ft_loss_again(evidence, frame);
		evidence->twice++;
		return;
	}
	evidence->oftener++;
	evidence->past += may_be_past(moment);
	if (entry->again.oftener) {
		ft_loss_silent(evidence, frame);
	} else {
		take_back(evidence, (enum first)entry->again.first, frame);
		entry->again.oftener = true;
	}
}

/* It was not met before: it is remembered now. */
static bool is_new(struct ft_tracker *tracker, const struct ft_moment *moment, enum first first)
{
	uint64_t key = key_of(tracker, moment);

	if (find(tracker, key) != NULL)
		return false;
	remember(tracker, key, first);
	return true;
}

void ft_pass_instead(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	ft_loss_silent(tracker->evidence, moment->observed->frame);
	if (is_new(tracker, moment, SENT_AGAIN))
		tracker->evidence->filled++;
}

void ft_pass_late(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	if (moment->operation->role == FT_ROLE_RESPONSE)
		ft_loss_answer(tracker->evidence, moment->observed->frame);
	else
		ft_loss_space(tracker->evidence, moment->observed->frame);
	if (is_new(tracker, moment, LATE))
		tracker->evidence->late_once++;
}
