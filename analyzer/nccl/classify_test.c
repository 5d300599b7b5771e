#include "classify.h"

/* perftest's benchmarks, libibverbs' examples, and connections of which is known that CM made them, no more. */

enum { PORT_PERFTEST = 18515, MANY = 16, FEW = 3, TRAIN = 8 };

/* Mean time from message to message. */
#define FAST_NS UINT64_C(10000000)

static bool is_exchanged(const struct ft_nccl_traffic *traffic)
{
	return (traffic->marks & FT_NCCL_MARK_EXCHANGE) != 0;
}

static bool asked_for_perftest(const struct ft_nccl_traffic *traffic)
{
	return traffic->service_port == PORT_PERFTEST;
}

/* By CM, for another service: other benchmarks do one thing again and again, too. */
static bool asked_for_another(const struct ft_nccl_traffic *traffic)
{
	return traffic->service_port != 0 && !asked_for_perftest(traffic) && !is_exchanged(traffic);
}

static bool has_met(const struct ft_nccl_traffic *traffic)
{
	return (traffic->marks & FT_NCCL_MARK_MET) != 0;
}

static bool has_one_operation(const struct ft_nccl_traffic *traffic)
{
	static const uint32_t kinds[] = {
		FT_NCCL_SENDS & ~(uint32_t)FT_NCCL_SENDS_IMMEDIATE,
		FT_NCCL_WRITES_PLAIN | FT_NCCL_WRITES_CONTINUED,
		FT_NCCL_READS,
		FT_NCCL_COMPARES,
		FT_NCCL_ADDS,
	};
	const uint32_t requests = traffic->operations & FT_NCCL_REQUESTS;

	if (requests == 0 || traffic->requests < FEW)
		return false;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if ((requests & ~kinds[i]) == 0)
			return true;
	return false;
}

/* Of SENDs; the others' is in has_one_target(). */
static bool has_one_size(const struct ft_nccl_traffic *traffic)
{
	uint16_t size = 0;
	uint32_t times = 0;

	for (unsigned i = 0; i < traffic->count; i++) {
		const struct ft_nccl_qp *qp = traffic->ends[i];

		if (qp->sizes[0].times == 0)
			continue;
		if (qp->sizes[1].times != 0 || (times != 0 && qp->sizes[0].bytes != size))
			return false;
		size = qp->sizes[0].bytes;
		times += qp->sizes[0].times;
	}
	return times >= FEW;
}

/* One address and length, again and again: at each end, all but the first. */
static bool has_one_target(const struct ft_nccl_traffic *traffic)
{
	for (unsigned i = 0; i < traffic->count; i++)
		if (traffic->ends[i]->targets > 0 &&
		    traffic->ends[i]->repeated + 1 != traffic->ends[i]->targets)
			return false;
	return traffic->repeated >= MANY;
}

static bool is_fast(const struct ft_nccl_traffic *traffic)
{
	for (unsigned i = 0; i < traffic->count; i++) {
		const struct ft_nccl_qp *qp = traffic->ends[i];

		if (qp->requests > 0 && qp->last_ns >= qp->first_ns &&
		    qp->last_ns - qp->first_ns > qp->requests * FAST_NS)
			return false;
	}
	return traffic->requests >= TRAIN;
}

/* A benchmark asks for one operation, and so does not SEND what it wants done besides. */
static bool asks_by_sends(const struct ft_nccl_traffic *traffic)
{
	const uint32_t moves = FT_NCCL_WRITES_PLAIN | FT_NCCL_READS;

	return ft_nccl_has_sends(traffic) && (traffic->operations & moves) != 0 &&
	       !is_exchanged(traffic) && !asked_for_perftest(traffic) && !has_met(traffic);
}

static bool is_of_pingpong(const struct ft_nccl_traffic *traffic)
{
	return (traffic->marks & FT_NCCL_MARK_PINGPONG) != 0;
}

static const struct ft_nccl_sign perftest_signs[] = {
	{ is_exchanged, 90, "perftest's exchange names it" },
	{ asked_for_perftest, 90, "CM port 18515" },
	{ has_met, 45, "TCP port 18515 between the hosts" },
	{ has_one_operation, 15, "one operation" },
	{ has_one_size, 15, "one size" },
	{ has_one_target, 45, "one address and length" },
	{ is_fast, 15, "back to back" },
	{ ft_nccl_began_elsewhere, 5, "PSNs not from 0" },
	{ ft_nccl_has_marked_class, -30, NULL },
	{ asks_by_sends, -60, NULL },
	{ asked_for_another, -30, NULL },
	{ is_of_pingpong, FT_NCCL_RULED_OUT, NULL },
};

const struct ft_nccl_candidate ft_nccl_candidate_perftest =
	FT_NCCL_CANDIDATE(FT_NCCL_CLASS_PERFTEST, perftest_signs);

static const struct ft_nccl_sign pingpong_signs[] = {
	{ is_of_pingpong, 100, "the exchange of libibverbs' examples names it" },
};

const struct ft_nccl_candidate ft_nccl_candidate_pingpong =
	FT_NCCL_CANDIDATE(FT_NCCL_CLASS_PINGPONG, pingpong_signs);

static bool gets_cm_messages(const struct ft_nccl_traffic *traffic)
{
	return (traffic->marks & FT_NCCL_MARK_CM_MADS) != 0;
}

static bool has_cm_key(const struct ft_nccl_traffic *traffic)
{
	return (traffic->marks & FT_NCCL_MARK_QKEY_CM) != 0;
}

static const struct ft_nccl_sign rdma_cm_signs[] = {
	{ ft_nccl_is_made_by_cm, 100, "CM's REQ or REP names it" },
	{ gets_cm_messages, 100, "CM's messages" },
	{ has_cm_key, 90, "the RDMA CM's Q_Key" },
};

const struct ft_nccl_candidate ft_nccl_candidate_rdma_cm =
	FT_NCCL_CANDIDATE(FT_NCCL_CLASS_RDMA_CM, rdma_cm_signs);
