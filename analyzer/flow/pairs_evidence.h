#pragma once

#include <stdbool.h>

#include <flow/half.h>

/*
 * What it says that a half answered for a PSN, about which half had asked, in bits: how many times
 * likelier that is if this one did than if it did not.
 */
enum {
	FT_EVIDENCE_PORT = 14,        /* as many bits as drivers leave to chance in a source port */
	FT_EVIDENCE_OUTSIDE = -8,     /* a PSN nowhere near */
	FT_EVIDENCE_UNLIKE = -16,     /* of another kind than what was asked for there */
	FT_EVIDENCE_NOT_YET = -12,    /* a PSN just ahead: was the request lost on its way here? */
	FT_EVIDENCE_AHEAD_YOUNG = -6, /* the same, of a young pair */
	FT_EVIDENCE_UNSEEN = -2, /* the same, where requests are known to be lost, or once paired */
	FT_EVIDENCE_FAR = -1,    /* of a young pair: asked for, but far back for so few PSNs */
	FT_EVIDENCE_AGREEMENT = 4,   /* each time more: the PSNs of one half do not jump */
	FT_EVIDENCE_ON_ITS_WAY = 64, /* PSNs that any half may be ahead of its answers by */
	FT_EVIDENCE_YOUNG = 1 << 10, /* PSNs up to which two that began at 0 may agree by chance */
	FT_EVIDENCE_YOUNG_MOST = 40, /* bits that agreement up to there comes to */
	FT_EVIDENCE_NEAR = 1 << 16,  /* PSNs that may be waiting for an answer */
	FT_EVIDENCE_AHEAD = 1 << 12, /* PSNs in a row that a mirror may lose */
};

enum ft_standing { FT_STANDING_ASKED, FT_STANDING_NOT_YET, FT_STANDING_OUTSIDE };

/*
 * Where the PSN stands among the requests of `asker`, those included that came from outside its sequence last. Of one whose
 * requests have not been seen: not yet asked for.
 */
enum ft_standing ft_pair_standing(const struct ft_half *asker, uint32_t psn);

/*
 * -8..24. At most 24 less log2 of how many PSNs back it was; less for small PSNs, because many
 * programs begin at 0 and then agree without belonging together.
 */
int ft_pair_evidence(const struct ft_half *asker, uint32_t psn);

/*
 * -6..4, for a pair that stands by its PSNs alone, when these are below FT_EVIDENCE_YOUNG. Two halves
 * that began at 0 and do not belong together agree for a while, too, but one runs ahead of the other: by more than what is
 * on its way to be answered, which says nothing.
 */
int ft_pair_evidence_young(const struct ft_half *asker, uint32_t psn);

/*
 * Whether a driver that follows Linux's rule sends from this UDP source port between these two queue
 * pairs (rdma_get_udp_sport() without a flow label: the same in both directions).
 */
bool ft_port_fits_qps(uint16_t port, uint32_t qp, uint32_t other_qp);
