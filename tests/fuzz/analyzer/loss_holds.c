#include "../holds.h"

#include <assert.h>
#include <string.h>

#include <flow/loss_estimate.h>

/*
 * Whatever is told of loss, by whichever engine: the bounds hold the estimate, which is no less than
 * what was proved or counted; every frame told is counted once; and who told it does not matter.
 * Four bytes make an event: what, how far on, how many.
 */

enum { EVENT = 4, EVENTS_MAX = 20000 };

enum { SPACE, SILENT, HOLE, LEAP, FABRIC, OPEN, MANY, AGAIN, KINDS = 16 };

struct told {
	uint64_t frames, holes;
};

static void tell(struct ft_loss_evidence *evidence, unsigned kind, uint64_t frame, uint32_t count)
{
	if (kind == SPACE)
		ft_loss_space(evidence, frame);
	else if (kind == SILENT)
		ft_loss_silent(evidence, frame);
	else if (kind == HOLE)
		ft_loss_hole(evidence, frame, count);
	else if (kind == AGAIN)
		ft_loss_again(evidence, frame);
	else if (kind == FABRIC)
		evidence->fabric += count;
	else if (kind == OPEN) {
		evidence->uncertain += count;
		evidence->unanswered += count / 2;
	}
}

static struct told tell_all(struct ft_loss_evidence engines[2], struct ft_loss_evidence *one,
			    const uint8_t *bytes, size_t size)
{
	struct told told = { 0 };
	uint64_t frame = 1;

	for (size_t i = 0; i + EVENT <= size && i < (size_t)EVENTS_MAX * EVENT; i += EVENT) {
		unsigned kind = bytes[i] % KINDS, engine = bytes[i] >> 7;
		uint32_t count = 1u + bytes[i + 2];

		frame += bytes[i + 1];
		if (kind == LEAP)
			frame += (uint64_t)bytes[i + 1] << bytes[i + 2] % 40;
		if (kind == MANY)
			count <<= bytes[i + 3] % 24;
		tell(&engines[engine], kind == MANY ? HOLE : kind, frame, count);
		tell(one, kind == MANY ? HOLE : kind, frame, count);
		told.frames += kind == SPACE || kind == SILENT || kind == AGAIN;
		told.holes += kind == HOLE || kind == MANY ? count : 0;
	}
	return told;
}

static void check(const struct ft_loss_estimate *estimate, const struct told *told,
		  uint64_t counted)
{
	assert(estimate->seen == told->frames);
	assert(estimate->low <= estimate->frames);
	assert(!estimate->bounded || estimate->frames <= estimate->high);
	assert(estimate->frames >= counted && estimate->frames >= told->holes);
	assert(estimate->share_seen >= 0 && estimate->share_seen <= 1);
	assert(told->holes > 0 || counted > 0 || estimate->frames == 0);
	assert(estimate->known || estimate->frames == 0);
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	static struct ft_loss_evidence engines[2], one;
	struct ft_loss_estimate estimate;
	uint64_t counted = size > 0 ? bytes[size - 1] / 128 * 100u : 0;
	struct told told;

	ft_loss_init(&engines[0]);
	ft_loss_init(&engines[1]);
	ft_loss_init(&one);
	told = tell_all(engines, &one, bytes, size);
	ft_loss_estimate(&one, counted, &estimate);
	check(&estimate, &told, counted);
	ft_loss_merge(&engines[1], &engines[0]);
	engines[1].current = one.current;
	assert(memcmp(&engines[1], &one, sizeof one) == 0);
}
