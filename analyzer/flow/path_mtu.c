#include "tracker_parts.h"

/* The path MTU, and with it how many PSNs a READ takes: one for each packet of its response. IBA vol. 1, 9.7.3.2. */

enum { MTU_MIN = 256, MTU_MAX = 4096 };

void ft_know_mtu(struct ft_tracker *tracker, struct ft_half *half, uint16_t mtu)
{
	if (mtu < half->mtu || half->mtu == 0)
		ft_spans_drop(&tracker->spans, half, 1u << FT_SPAN_GUESSED);
	half->mtu = mtu;
	half->flags &= (uint8_t)~FT_HALF_MTU_GUESSED;
}

static bool is_unsure(const struct ft_half *half)
{
	return half->mtu == 0 || (half->flags & FT_HALF_MTU_GUESSED) != 0;
}

/* The path MTU is not smaller. */
static void raise_mtu(struct ft_half *half, uint32_t mtu)
{
	if (!is_unsure(half) || mtu <= half->mtu || mtu <= MTU_MIN)
		return;
	half->mtu = (uint16_t)mtu;
	half->flags |= FT_HALF_MTU_GUESSED;
}

/* A Last or Only fits into it; beyond half of the largest one that is exact. */
static void learn_least(struct ft_tracker *tracker, struct ft_half *half, uint32_t payload)
{
	uint32_t mtu = MTU_MIN;

	while (mtu < payload)
		mtu *= 2;
	if (mtu == MTU_MAX && is_unsure(half))
		ft_know_mtu(tracker, half, MTU_MAX);
	else
		raise_mtu(half, mtu);
}

void ft_learn_mtu(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	struct ft_half *half = &moment->flow->half;
	uint32_t payload = moment->observed->payload;

	if ((moment->observed->has & FT_OBSERVED_PAYLOAD) == 0 || payload > MTU_MAX)
		return;
	if (moment->operation->part & FT_PART_LAST)
		learn_least(tracker, half, payload);
	else if (payload >= MTU_MIN && (payload & (payload - 1)) == 0)
		ft_know_mtu(tracker, half, (uint16_t)payload);
}

void ft_share_mtu(struct ft_tracker *tracker, struct ft_half *half, const struct ft_half *other)
{
	if (is_unsure(other))
		raise_mtu(half, other->mtu);
	else if (is_unsure(half))
		ft_know_mtu(tracker, half, other->mtu);
}

uint32_t ft_packets_of(uint32_t length, uint32_t mtu)
{
	uint32_t packets = length / mtu + (length % mtu != 0);

	if (packets == 0)
		return 1;
	return packets < FT_PSN_HALF ? packets : FT_PSN_HALF - 1;
}

/* Packets of a READ response so long; 0: the path MTU is not known well enough. */
static uint32_t packets_known(const struct ft_half *half, uint32_t length)
{
	if (half->mtu == 0 || (is_unsure(half) && length > half->mtu))
		return 0;
	return ft_packets_of(length, half->mtu);
}

/* PSNs that a request uses; 0: a READ whose responses cannot be counted yet. */
uint32_t ft_psns_of(const struct ft_tracker *tracker, const struct ft_moment *moment)
{
	const struct ft_observed *observed = moment->observed;
	const struct ft_flow *peer;
	uint32_t packets;

	if (moment->operation->kind != FT_MESSAGE_READ)
		return 1;
	if ((observed->has & FT_OBSERVED_RETH) == 0)
		return 0;
	if (observed->length <= MTU_MIN)
		return 1;
	packets = packets_known(&moment->flow->half, observed->length);
	peer = ft_tracker_peer(tracker, moment->flow);
	return packets != 0 || peer == NULL ? packets
					    : packets_known(&peer->half, observed->length);
}

/* Both directions have the same path MTU; of the READ sent last. */
uint32_t ft_packets_asked(const struct ft_half *half)
{
	if (half->message_bytes == 0 || half->message_bytes == FT_LENGTH_CUT)
		return 0;
	return packets_known(half, half->message_bytes);
}

uint32_t ft_least_mtu(const struct ft_half *half)
{
	return half->mtu != 0 ? half->mtu : MTU_MIN;
}

/*
 * Of a READ: the most PSNs up to `room` that some path MTU gives it, no smaller than the one known to fit. Where that fills
 * the room, nothing was lost or asked for in parts, and a smaller path MTU is ruled out.
 */
uint32_t ft_span_that_fits(struct ft_half *half, uint32_t room)
{
	uint32_t least = ft_least_mtu(half), fits = 0;
	uint32_t span = 1;

	for (uint32_t mtu = MTU_MAX; mtu >= least; mtu /= 2) {
		uint32_t packets = ft_packets_of(half->message_bytes, mtu);

		if (packets > room)
			break;
		fits = mtu;
		span = packets;
	}
	if (span == room)
		raise_mtu(half, fits);
	return span;
}
