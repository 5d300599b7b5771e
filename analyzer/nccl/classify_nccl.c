#include "classify.h"

/* NCCL: what its followers noted, and what headers show here. GIN, its traffic that GPUs start themselves. */

#define NOTED(number)                                                                              \
	static bool has_n##number(const struct ft_nccl_traffic *traffic)                           \
	{                                                                                          \
		return (traffic->noted & 1u << FT_NCCL_N##number) != 0;                            \
	}

NOTED(1)
NOTED(2)
NOTED(4)
NOTED(5)
NOTED(6)
NOTED(7)
NOTED(8)
NOTED(10)
NOTED(13)

static bool has_n3(const struct ft_nccl_traffic *traffic)
{
	return (traffic->noted & 1u << FT_NCCL_N3) != 0 ||
	       (traffic->marks & FT_NCCL_MARK_EMPTY_IMMEDIATE) != 0;
}

static bool has_n9(const struct ft_nccl_traffic *traffic)
{
	return traffic->count == 2 && ft_nccl_began_at_0(traffic) &&
	       traffic->ends[0]->first_psn == 0 && traffic->ends[1]->first_psn == 0 &&
	       !ft_nccl_is_made_by_cm(traffic);
}

/* A site's value, or none, is the same in both directions; NCCL can be told to use two. */
static bool has_n11(const struct ft_nccl_traffic *traffic)
{
	return (traffic->operations & (FT_NCCL_WRITES_PLAIN | FT_NCCL_WRITES_IMMEDIATE)) != 0 &&
	       !ft_nccl_has_sends(traffic);
}

static bool has_n12(const struct ft_nccl_traffic *traffic)
{
	return (traffic->noted & 1u << FT_NCCL_N12) != 0 ||
	       (traffic->marks & FT_NCCL_MARK_RNR_NCCL) != 0;
}

/* Port recovery sends over UC. */
static bool has_x1(const struct ft_nccl_traffic *traffic)
{
	return ft_nccl_has_sends(traffic) && (traffic->services & 1u << FT_RC) != 0;
}

static bool has_x2(const struct ft_nccl_traffic *traffic)
{
	return (traffic->operations & FT_NCCL_COMPARES) != 0;
}

static bool has_x3(const struct ft_nccl_traffic *traffic)
{
	return (traffic->operations & FT_NCCL_ADDS) != 0;
}

static bool has_x4(const struct ft_nccl_traffic *traffic)
{
	return (traffic->marks & FT_NCCL_MARK_LONG_READ) != 0;
}

static bool has_x5(const struct ft_nccl_traffic *traffic)
{
	return (traffic->services & (1u << FT_UD | 1u << FT_RD | 1u << FT_XRC)) != 0;
}

/* What was written on it shows whose it is: CM made one that had the number at another time, or a forger named it. */
static bool has_x6(const struct ft_nccl_traffic *traffic)
{
	const uint16_t written = 1u << FT_NCCL_N2 | 1u << FT_NCCL_N4;

	return ft_nccl_is_made_by_cm(traffic) && (traffic->noted & written) == 0;
}

static const struct ft_nccl_sign nccl_signs[] = {
	{ has_n1, 100, "N1" },
	{ has_n2, 90, "N2" },
	{ has_n3, 60, "N3" },
	{ has_n4, 90, "N4" },
	{ has_n5, 70, "N5" },
	{ has_n6, 60, "N6" },
	{ has_n7, 50, "N7" },
	{ has_n8, 30, "N8" },
	{ has_n9, 15, "N9" },
	{ has_n10, 60, "N10" },
	{ has_n11, 5, "N11" },
	{ has_n12, 5, "N12" },
	{ has_n13, 30, "N13" },
	{ has_x1, FT_NCCL_RULED_OUT, "X1" },
	{ has_x2, FT_NCCL_RULED_OUT, "X2" },
	{ has_x3, FT_NCCL_RULED_OUT, "X3" },
	{ has_x4, FT_NCCL_RULED_OUT, "X4" },
	{ has_x5, FT_NCCL_RULED_OUT, "X5" },
	{ has_x6, FT_NCCL_RULED_OUT, "X6" },
};

/*
 * What other users of RDMA writes do as well is not enough: rings that writes go round in, immediates that are lengths
 * or stand alone, buffers at round distances. Two of these kinds together are.
 */
static int limit_nccl(const struct ft_nccl_traffic *traffic, int points)
{
	const uint16_t sure = 1u << FT_NCCL_N1 | 1u << FT_NCCL_N2 | 1u << FT_NCCL_N4;
	const uint16_t asking = 1u << FT_NCCL_N5 | 1u << FT_NCCL_N8 | 1u << FT_NCCL_N13;
	const uint16_t placing = 1u << FT_NCCL_N7 | 1u << FT_NCCL_N10;
	int kinds = ((traffic->noted & asking) != 0) + ((traffic->noted & placing) != 0) +
		    has_n6(traffic) + has_n3(traffic);

	if ((traffic->noted & sure) != 0 || kinds >= 2 || points < FT_NCCL_ENOUGH)
		return points;
	return FT_NCCL_ENOUGH - 1;
}

const struct ft_nccl_candidate ft_nccl_candidate_nccl = {
	FT_NCCL_CLASS_NCCL,
	nccl_signs,
	sizeof nccl_signs / sizeof *nccl_signs,
	limit_nccl,
};

/* WRITEs without immediate, and additions that signal. */
static bool writes_and_adds(const struct ft_nccl_traffic *traffic)
{
	const uint32_t others =
		FT_NCCL_REQUESTS & ~(uint32_t)(FT_NCCL_WRITES_PLAIN | FT_NCCL_WRITES_CONTINUED |
					       FT_NCCL_ADDS | FT_NCCL_READS);

	return has_x3(traffic) && (traffic->operations & FT_NCCL_WRITES_PLAIN) != 0 &&
	       (traffic->operations & others) == 0;
}

static bool has_nccl_beside(const struct ft_nccl_traffic *traffic)
{
	return traffic->by_nccl;
}

static bool began_at_0_without_cm(const struct ft_nccl_traffic *traffic)
{
	return ft_nccl_began_at_0(traffic) && !ft_nccl_is_made_by_cm(traffic);
}

static const struct ft_nccl_sign gin_signs[] = {
	{ writes_and_adds, 40, "only writes and fetch-and-adds" },
	{ has_nccl_beside, 30, "NCCL between the same hosts" },
	{ began_at_0_without_cm, 15, "PSNs from 0 without CM" },
	{ has_n12, 5, "NCCL's RNR timer" },
	{ ft_nccl_is_made_by_cm, FT_NCCL_RULED_OUT, NULL },
};

const struct ft_nccl_candidate ft_nccl_candidate_gin =
	FT_NCCL_CANDIDATE(FT_NCCL_CLASS_GIN, gin_signs);
