#include "classify.h"

/* Libraries of parallel programs that are known by their SENDs: UCX, which Open MPI uses, Open MPI without it, and Gloo. */

enum { FEW = 3, MANY = 8 };

static bool has_ucx_key(const struct ft_nccl_traffic *traffic)
{
	return (traffic->marks & FT_NCCL_MARK_QKEY_UCX) != 0;
}

static bool has_ucx_heads(const struct ft_nccl_traffic *traffic)
{
	return ft_nccl_heads_fit(traffic, FT_NCCL_HEAD_UCX, 1);
}

static bool has_many_ucx_heads(const struct ft_nccl_traffic *traffic)
{
	return ft_nccl_heads_fit(traffic, FT_NCCL_HEAD_UCX, MANY);
}

static bool has_mpi_tags(const struct ft_nccl_traffic *traffic)
{
	return (traffic->marks & FT_NCCL_MARK_MPI_TAG) != 0 && has_ucx_heads(traffic);
}

/* The end of what went before is waited for with a write of nothing to nowhere. */
static bool has_flushes(const struct ft_nccl_traffic *traffic)
{
	return (traffic->marks & FT_NCCL_MARK_EMPTY_WRITE) != 0;
}

/* NCCL and others may be told to use this class as well, but do not SEND. */
static bool sends_in_class(const struct ft_nccl_traffic *traffic)
{
	return traffic->requests >= FEW && ft_nccl_has_sends(traffic) &&
	       ft_nccl_has_marked_class(traffic);
}

static bool sends_from_0(const struct ft_nccl_traffic *traffic)
{
	return traffic->requests >= FEW && ft_nccl_has_sends(traffic) &&
	       ft_nccl_began_at_0(traffic);
}

static bool sends_and_moves(const struct ft_nccl_traffic *traffic)
{
	return ft_nccl_has_sends(traffic) &&
	       (traffic->operations & (FT_NCCL_READS | FT_NCCL_WRITES_PLAIN)) != 0;
}

static bool has_ucx_timer(const struct ft_nccl_traffic *traffic)
{
	return (traffic->marks & FT_NCCL_MARK_RNR_UCX) != 0;
}

static bool fails_ucx_heads(const struct ft_nccl_traffic *traffic)
{
	return traffic->fails[FT_NCCL_HEAD_UCX] > 0;
}

static bool has_openmpi_heads(const struct ft_nccl_traffic *traffic)
{
	return ft_nccl_heads_fit(traffic, FT_NCCL_HEAD_OPENMPI, FEW);
}

static const struct ft_nccl_sign ucx_signs[] = {
	{ has_ucx_key, 90, "UCX's Q_Key" },
	{ has_ucx_heads, 35, "UCX active messages" },
	{ has_many_ucx_heads, 15, NULL },
	{ has_mpi_tags, 25, "Open MPI's tags" },
	{ sends_in_class, 35, "SENDs with UCX's traffic class" },
	{ has_flushes, 30, "UCX's empty writes" },
	{ sends_from_0, 20, "SENDs with PSNs from 0" },
	{ sends_and_moves, 10, "SENDs beside READs or WRITEs" },
	{ has_ucx_timer, 5, "UCX's RNR timer" },
	{ fails_ucx_heads, -60, NULL },
	{ has_openmpi_heads, -60, NULL },
	{ ft_nccl_has_immediates, FT_NCCL_RULED_OUT, NULL },
};

const struct ft_nccl_candidate ft_nccl_candidate_ucx =
	FT_NCCL_CANDIDATE(FT_NCCL_CLASS_UCX, ucx_signs);

static const struct ft_nccl_sign openmpi_signs[] = {
	{ has_openmpi_heads, 85, "Open MPI's headers over verbs" },
	{ ft_nccl_began_elsewhere, 5, "PSNs not from 0" },
	{ ft_nccl_has_immediates, FT_NCCL_RULED_OUT, NULL },
};

const struct ft_nccl_candidate ft_nccl_candidate_openmpi =
	FT_NCCL_CANDIDATE(FT_NCCL_CLASS_OPENMPI, openmpi_signs);

enum { GLOO_MR = 48, GLOO_MTU = 1024 };

/* Each end may have announced nothing, as far as it was seen. */
static bool announces(const struct ft_nccl_traffic *traffic)
{
	bool any = false;

	for (unsigned i = 0; i < traffic->count; i++) {
		const struct ft_nccl_qp *qp = traffic->ends[i];

		if ((qp->operations & FT_NCCL_SENDS) == 0)
			continue;
		if ((qp->operations & FT_NCCL_SENDS & ~(uint32_t)FT_NCCL_SENDS_IMMEDIATE) != 0 ||
		    !ft_nccl_sends_have(qp, GLOO_MR))
			return false;
		any = true;
	}
	return any;
}

static bool has_gloo_heads(const struct ft_nccl_traffic *traffic)
{
	return ft_nccl_heads_fit(traffic, FT_NCCL_HEAD_GLOO, 1);
}

/* Nearly: a buffer's number may happen to be the length of what is written to it. */
static bool numbers_buffers(const struct ft_nccl_traffic *traffic)
{
	return traffic->immediates >= MANY &&
	       traffic->small >= traffic->immediates - traffic->immediates / 4;
}

static bool always_has_immediates(const struct ft_nccl_traffic *traffic)
{
	const uint32_t allowed =
		FT_NCCL_WRITES_IMMEDIATE | FT_NCCL_WRITES_CONTINUED | 1u << 0x06 | 1u << 0x05;
	const uint32_t requests = traffic->operations & FT_NCCL_REQUESTS;

	return (requests & FT_NCCL_WRITES_IMMEDIATE) != 0 && (requests & ~allowed) == 0;
}

static bool has_gloo_mtu(const struct ft_nccl_traffic *traffic)
{
	bool any = false;

	for (unsigned i = 0; i < traffic->count; i++) {
		if (traffic->ends[i]->mtu == 0)
			continue;
		if (traffic->ends[i]->mtu != GLOO_MTU)
			return false;
		any = true;
	}
	return any;
}

static bool has_gloo_timer(const struct ft_nccl_traffic *traffic)
{
	return (traffic->marks & FT_NCCL_MARK_RNR_GLOO) != 0;
}

static const struct ft_nccl_sign gloo_signs[] = {
	{ announces, 45, "announcements of 48 bytes" },
	{ has_gloo_heads, 15, "memory regions announced" },
	{ numbers_buffers, 40, "immediates that number buffers" },
	{ always_has_immediates, 20, "an immediate with every message" },
	{ has_gloo_mtu, 15, "packets of 1024 bytes" },
	{ ft_nccl_began_elsewhere, 5, "PSNs not from 0" },
	{ has_gloo_timer, 5, "Gloo's RNR timer" },
	{ ft_nccl_is_made_by_cm, -60, NULL },
};

const struct ft_nccl_candidate ft_nccl_candidate_gloo =
	FT_NCCL_CANDIDATE(FT_NCCL_CLASS_GLOO, gloo_signs);
