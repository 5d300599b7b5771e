#include "pairs_evidence.h"

#include "psn.h"

enum {
	PSN_BITS = 24,
	LEAST_MTU = 256,
	BITS_AT_START = 4,
	BITS_BY_CHANCE = 6,
	OUTSIDE_NEAR = 64, /* PSNs up to the newest request from outside that may be answered */
};

/* Of x + 1, rounded up. */
static int bits_of(uint32_t x)
{
	return x == 0 ? 0 : 32 - __builtin_clz(x);
}

/* It asked for that just now, far from what was expected of it: the queue pair may be in use anew. */
static bool asked_outside(const struct ft_half *asker, uint32_t psn)
{
	return asker->outside >> FT_OUTSIDE_RUN_SHIFT != 0 &&
	       ft_psn_within(psn, ft_psn_back(asker->outside, OUTSIDE_NEAR), OUTSIDE_NEAR);
}

/* How far behind the last PSN that this half has asked for: negative if ahead. */
static int32_t behind(const struct ft_half *asker, uint32_t psn)
{
	int32_t distance = ft_psn_distance(asker->next_psn - 1, psn);
	uint32_t length = asker->message_bytes == FT_LENGTH_CUT ? 0 : asker->message_bytes;
	int32_t span = (int32_t)(length / LEAST_MTU) + 1;

	if (asked_outside(asker, psn))
		return ft_psn_distance(ft_psn_back(asker->outside, 1), psn);
	/* the answer to a READ may take as many PSNs as its length allows */
	if ((asker->flags & FT_HALF_SPAN_UNKNOWN) != 0 && distance < 0 && -distance <= span)
		return -distance;
	return distance;
}

static enum ft_standing standing_at(int32_t distance)
{
	if (distance >= 0)
		return distance < FT_EVIDENCE_NEAR ? FT_STANDING_ASKED : FT_STANDING_OUTSIDE;
	return -distance <= FT_EVIDENCE_AHEAD ? FT_STANDING_NOT_YET : FT_STANDING_OUTSIDE;
}

enum ft_standing ft_pair_standing(const struct ft_half *asker, uint32_t psn)
{
	return asker->next_psn == FT_PSN_NONE ? FT_STANDING_NOT_YET
					      : standing_at(behind(asker, psn));
}

int ft_pair_evidence(const struct ft_half *asker, uint32_t psn)
{
	int32_t distance = behind(asker, psn);
	enum ft_standing standing = standing_at(distance);
	int most, bits;

	if (asker->next_psn == FT_PSN_NONE || standing == FT_STANDING_OUTSIDE)
		return FT_EVIDENCE_OUTSIDE;
	most = bits_of(psn) + BITS_AT_START;
	if (most > PSN_BITS)
		most = PSN_BITS;
	bits = most - bits_of((uint32_t)(distance < 0 ? -distance : distance));
	if (standing == FT_STANDING_NOT_YET) /* of a half with holes, more may be missing */
		bits += asker->spans != 0 ? FT_EVIDENCE_UNSEEN : FT_EVIDENCE_NOT_YET;
	return bits > FT_EVIDENCE_OUTSIDE ? bits : FT_EVIDENCE_OUTSIDE;
}

int ft_pair_evidence_young(const struct ft_half *asker, uint32_t psn)
{
	int bits;

	if (ft_pair_standing(asker, psn) == FT_STANDING_NOT_YET)
		return asker->spans != 0 ? FT_EVIDENCE_UNSEEN : FT_EVIDENCE_AHEAD_YOUNG;
	bits = ft_pair_evidence(asker, psn) - BITS_BY_CHANCE;
	if (bits > FT_EVIDENCE_AGREEMENT)
		return FT_EVIDENCE_AGREEMENT;
	if (bits < 0)
		return behind(asker, psn) < FT_EVIDENCE_ON_ITS_WAY ? 0 : FT_EVIDENCE_FAR;
	return bits;
}

bool ft_port_fits_qps(uint16_t port, uint32_t qp, uint32_t other_qp)
{
	uint64_t label = (uint64_t)qp * other_qp;

	label ^= label >> 20;
	label ^= label >> 40;
	label &= 0xfffff;
	return port == (((label & 0x3fff) ^ (label >> 14)) | 0xc000);
}
