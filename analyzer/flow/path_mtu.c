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

void ft_learn_mtu(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	uint32_t payload = moment->observed->payload;

	if (moment->operation->part & FT_PART_LAST ||
	    (moment->observed->has & FT_OBSERVED_PAYLOAD) == 0)
		return;
	if (payload >= MTU_MIN && payload <= MTU_MAX && (payload & (payload - 1)) == 0)
		ft_know_mtu(tracker, &moment->flow->half, (uint16_t)payload);
}

uint32_t ft_packets_of(uint32_t length, uint32_t mtu)
{
	uint32_t packets = length / mtu + (length % mtu != 0);

	if (packets == 0)
		return 1;
	return packets < FT_PSN_HALF ? packets : FT_PSN_HALF - 1;
}

/* The path MTU; 0: not known. Both directions have the same. */
static uint32_t mtu_of(const struct ft_tracker *tracker, const struct ft_flow *flow)
{
	const struct ft_flow *peer = ft_tracker_peer(tracker, flow);

	if (flow->half.mtu != 0 && (flow->half.flags & FT_HALF_MTU_GUESSED) == 0)
		return flow->half.mtu;
	return peer == NULL || peer->half.flags & FT_HALF_MTU_GUESSED ? 0 : peer->half.mtu;
}

/* PSNs that a request uses; 0: a READ whose responses cannot be counted yet. */
uint32_t ft_psns_of(const struct ft_tracker *tracker, const struct ft_moment *moment)
{
	const struct ft_observed *observed = moment->observed;
	uint32_t mtu;

	if (moment->operation->kind != FT_MESSAGE_READ)
		return 1;
	if ((observed->has & FT_OBSERVED_RETH) == 0)
		return 0;
	if (observed->length <= MTU_MIN)
		return 1;
	mtu = mtu_of(tracker, moment->flow);
	return mtu == 0 ? 0 : ft_packets_of(observed->length, mtu);
}

uint32_t ft_least_mtu(const struct ft_half *half)
{
	return half->mtu != 0 ? half->mtu : MTU_MIN;
}

/* Of a READ: the most PSNs up to `room` that some path MTU gives it, no smaller than the one guessed. */
uint32_t ft_span_that_fits(struct ft_tracker *tracker, struct ft_half *half, uint32_t room)
{
	uint32_t least = ft_least_mtu(half);
	uint32_t span = 1;

	for (uint32_t mtu = MTU_MAX; mtu >= least; mtu /= 2) {
		uint32_t packets = ft_packets_of(half->message_bytes, mtu);

		if (packets > room)
			break;
		if (packets == room && packets != span) {
			ft_know_mtu(tracker, half, (uint16_t)mtu);
			half->flags |= FT_HALF_MTU_GUESSED;
		}
		span = packets;
	}
	return span;
}
