#include "classify.h"

#include <string.h>

static const struct ft_nccl_candidate *const candidates[] = {
	&ft_nccl_candidate_nccl,     &ft_nccl_candidate_gin,      &ft_nccl_candidate_ucx,
	&ft_nccl_candidate_gloo,     &ft_nccl_candidate_nvme,     &ft_nccl_candidate_iser,
	&ft_nccl_candidate_nfs,      &ft_nccl_candidate_smb,      &ft_nccl_candidate_lustre,
	&ft_nccl_candidate_perftest, &ft_nccl_candidate_pingpong, &ft_nccl_candidate_openmpi,
};

static void add(struct ft_nccl_traffic *traffic, const struct ft_nccl_qp *qp)
{
	traffic->ends[traffic->count++] = qp;
	traffic->operations |= qp->operations;
	traffic->marks |= qp->marks;
	traffic->noted |= qp->noted;
	traffic->services |= qp->services;
	traffic->requests += qp->requests;
	traffic->sends += qp->sends;
	traffic->immediates += qp->immediates;
	traffic->small += qp->small;
	traffic->targets += qp->targets;
	traffic->repeated += qp->repeated;
	if (qp->service_port != 0)
		traffic->service_port = qp->service_port;
	for (unsigned head = 0; head < FT_NCCL_HEADS; head++) {
		traffic->fits[head] += qp->fits[head];
		traffic->fails[head] += qp->fails[head];
	}
}

void ft_nccl_traffic_of(struct ft_nccl_traffic *traffic, const struct ft_nccl_qp *qp,
			const struct ft_nccl_qp *other)
{
	*traffic = (struct ft_nccl_traffic){ .count = 0 };
	add(traffic, qp);
	if (other != NULL)
		add(traffic, other);
}

bool ft_nccl_has_sends(const struct ft_nccl_traffic *traffic)
{
	return (traffic->operations & FT_NCCL_SENDS) != 0;
}

/* The last two bits are of congestion, and may change on the way. */
bool ft_nccl_has_marked_class(const struct ft_nccl_traffic *traffic)
{
	enum { UCX_CLASS = 106, SERVICE = 0xfc };

	for (unsigned i = 0; i < traffic->count; i++)
		if (((traffic->ends[i]->traffic_class ^ UCX_CLASS) & SERVICE) != 0)
			return false;
	return true;
}

bool ft_nccl_is_made_by_cm(const struct ft_nccl_traffic *traffic)
{
	return (traffic->marks & FT_NCCL_MARK_CM) != 0;
}

static bool begins(const struct ft_nccl_traffic *traffic, bool at_0)
{
	bool any = false;

	for (unsigned i = 0; i < traffic->count; i++) {
		uint32_t psn = traffic->ends[i]->first_psn;

		if (psn == FT_NCCL_NONE)
			continue;
		if ((psn == 0) != at_0)
			return false;
		any = true;
	}
	return any;
}

bool ft_nccl_began_at_0(const struct ft_nccl_traffic *traffic)
{
	return begins(traffic, true);
}

bool ft_nccl_began_elsewhere(const struct ft_nccl_traffic *traffic)
{
	return begins(traffic, false);
}

bool ft_nccl_has_immediates(const struct ft_nccl_traffic *traffic)
{
	return (traffic->operations & (FT_NCCL_WRITES_IMMEDIATE | FT_NCCL_SENDS_IMMEDIATE)) != 0;
}

bool ft_nccl_heads_fit(const struct ft_nccl_traffic *traffic, enum ft_nccl_head head,
		       uint32_t least)
{
	return traffic->fails[head] == 0 && traffic->fits[head] >= least;
}

bool ft_nccl_sends_have(const struct ft_nccl_qp *qp, uint16_t bytes)
{
	bool any = false;

	if (qp->more_sizes != 0)
		return false;
	for (size_t i = 0; i < FT_NCCL_SIZES; i++) {
		if (qp->sizes[i].times == 0 || (qp->sizes[i].bytes & FT_NCCL_SIZE_LAST) != 0)
			continue;
		if (qp->sizes[i].bytes != bytes)
			return false;
		any = true;
	}
	return any;
}

static int points_of(const struct ft_nccl_candidate *candidate,
		     const struct ft_nccl_traffic *traffic)
{
	int points = 0;

	for (size_t i = 0; i < candidate->sign_count; i++)
		if (candidate->signs[i].holds(traffic))
			points += candidate->signs[i].points;
	return candidate->limit != NULL ? candidate->limit(traffic, points) : points;
}

static void give_evidence(const struct ft_nccl_candidate *candidate,
			  const struct ft_nccl_traffic *traffic,
			  struct ft_nccl_judgement *judgement)
{
	for (size_t i = 0; i < candidate->sign_count; i++) {
		const struct ft_nccl_sign *sign = &candidate->signs[i];

		if (sign->words != NULL && judgement->evidence_count < FT_NCCL_EVIDENCE_MAX &&
		    sign->holds(traffic))
			judgement->evidence[judgement->evidence_count++] = sign->words;
	}
}

static void decide(const struct ft_nccl_candidate *candidate, int points,
		   struct ft_nccl_judgement *judgement)
{
	judgement->class = candidate->class;
	judgement->confidence = points >= FT_NCCL_FULL ? 1 : (double)points / FT_NCCL_FULL;
}

/* Of a candidate that does not have enough. */
enum { WORTH_TELLING = FT_NCCL_ENOUGH / 2 };

void ft_nccl_judge(const struct ft_nccl_traffic *traffic, struct ft_nccl_judgement *judgement)
{
	const struct ft_nccl_candidate *best = NULL;
	int points[2] = { 0, 0 }; /* of the best and the next */

	*judgement = (struct ft_nccl_judgement){ .class = FT_NCCL_CLASS_UNKNOWN };
	for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
		int found = points_of(candidates[i], traffic);

		if (found > points[0]) {
			points[1] = points[0];
			points[0] = found;
			best = candidates[i];
		} else if (found > points[1]) {
			points[1] = found;
		}
	}
	if (points[0] >= FT_NCCL_ENOUGH && points[0] - points[1] >= FT_NCCL_MARGIN)
		decide(best, points[0], judgement);
	else if (points_of(&ft_nccl_candidate_rdma_cm, traffic) >= FT_NCCL_ENOUGH) {
		best = &ft_nccl_candidate_rdma_cm;
		points[0] = points_of(best, traffic);
		decide(best, points[0], judgement);
	}
	if (best != NULL && points[0] >= WORTH_TELLING)
		give_evidence(best, traffic, judgement);
}

const char *ft_nccl_class_name(enum ft_nccl_class class)
{
	static const char *const names[FT_NCCL_CLASSES] = {
		[FT_NCCL_CLASS_UNKNOWN] = "unknown",   [FT_NCCL_CLASS_NCCL] = "nccl",
		[FT_NCCL_CLASS_GIN] = "gin",           [FT_NCCL_CLASS_UCX] = "ucx",
		[FT_NCCL_CLASS_GLOO] = "gloo",         [FT_NCCL_CLASS_OPENMPI] = "openmpi",
		[FT_NCCL_CLASS_NVME] = "nvme",         [FT_NCCL_CLASS_ISER] = "iser",
		[FT_NCCL_CLASS_NFS] = "nfs",           [FT_NCCL_CLASS_SMB] = "smb",
		[FT_NCCL_CLASS_LUSTRE] = "lustre",     [FT_NCCL_CLASS_PERFTEST] = "perftest",
		[FT_NCCL_CLASS_PINGPONG] = "pingpong", [FT_NCCL_CLASS_RDMA_CM] = "rdma_cm",
	};

	return names[class];
}
