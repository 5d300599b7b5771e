#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "classify.h"
#include "partners.h"
#include "queue_pairs_parts.h"

/* The list of queue pairs with their classes. */

struct listing {
	const struct ft_nccl_qps *qps;
	uint32_t *partner;
	struct ft_nccl_queue_pair *rows;
	size_t count;
	uint64_t *pairs; /* of hosts with NCCL between them that may have GIN, in order */
	size_t pair_count;
};

static int by_number(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static void judge(const struct listing *listing, uint32_t record,
		  struct ft_nccl_judgement *judgement)
{
	const struct ft_nccl_qps *qps = listing->qps;
	const struct ft_nccl_qp *qp = &qps->records[record];
	const uint32_t partner = listing->partner[record];
	const uint64_t pair = ft_nccl_pair_of(qp->address, qp->peer, qps->seed);
	struct ft_nccl_traffic traffic;

	ft_nccl_traffic_of(&traffic, qp, partner == FT_NCCL_NONE ? NULL : &qps->records[partner]);
	traffic.by_nccl =
		listing->pair_count > 0 &&
		bsearch(&pair, listing->pairs, listing->pair_count, sizeof pair, by_number) != NULL;
	ft_nccl_judge(&traffic, judgement);
}

/* Only for those who look for NCCL beside them. */
static bool any_adds(const struct ft_nccl_qps *qps)
{
	for (uint32_t i = 0; i < qps->used; i++)
		if ((qps->records[i].operations & FT_NCCL_ADDS) != 0)
			return true;
	return false;
}

static int list_hosts(struct listing *listing)
{
	const struct ft_nccl_qps *qps = listing->qps;
	struct ft_nccl_judgement judgement;
	size_t count = 0;

	if (!any_adds(qps))
		return 0;
	listing->pairs = calloc(qps->used, sizeof *listing->pairs);
	if (listing->pairs == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < qps->used; i++) {
		const struct ft_nccl_qp *qp = &qps->records[i];

		if (qp->packets == 0)
			continue;
		judge(listing, i, &judgement);
		if (judgement.class == FT_NCCL_CLASS_NCCL && (qp->marks & FT_NCCL_MARK_NO_GIN) == 0)
			listing->pairs[count++] = ft_nccl_pair_of(qp->address, qp->peer, qps->seed);
	}
	qsort(listing->pairs, count, sizeof *listing->pairs, by_number);
	listing->pair_count = count;
	return 0;
}

static void list(struct listing *listing, uint32_t record)
{
	const struct ft_nccl_qp *qp = &listing->qps->records[record];
	struct ft_nccl_queue_pair *row = &listing->rows[listing->count++];
	struct ft_nccl_judgement judgement;

	judge(listing, record, &judgement);
	*row = (struct ft_nccl_queue_pair){
		.place.by_lid = (qp->name & FT_NCCL_NAME_LID) != 0,
		.qpn = qp->name & FT_NCCL_QPN,
		.first_frame = qp->first_frame,
		.packets = qp->packets,
		.class = judgement.class,
		.confidence = judgement.confidence,
		.evidence_count = judgement.evidence_count,
		.connection = qp->connection,
	};
	memcpy(row->place.address, qp->address, sizeof row->place.address);
	memcpy(row->evidence, judgement.evidence, judgement.evidence_count * sizeof *row->evidence);
}

/* A frame may be of several queue pairs: sFlow. */
static int by_frame(const void *left, const void *right)
{
	const struct ft_nccl_queue_pair *a = left, *b = right;
	int places = memcmp(a->place.address, b->place.address, sizeof a->place.address);

	if (a->first_frame != b->first_frame)
		return a->first_frame < b->first_frame ? -1 : 1;
	if (places != 0)
		return places;
	return a->qpn < b->qpn ? -1 : a->qpn > b->qpn;
}

static int list_all(struct listing *listing)
{
	const struct ft_nccl_qps *qps = listing->qps;
	int error = ft_nccl_partners(qps, listing->partner);

	if (error == 0)
		error = list_hosts(listing);
	if (error != 0)
		return error;
	for (uint32_t i = 0; i < qps->used; i++)
		if (qps->records[i].packets > 0)
			list(listing, i);
	if (listing->count > 0)
		qsort(listing->rows, listing->count, sizeof *listing->rows, by_frame);
	return 0;
}

struct ft_nccl_queue_pair *ft_nccl_qps_report(const struct ft_nccl_qps *qps, size_t *count)
{
	const size_t room = qps->used > 0 ? qps->used : 1;
	struct listing listing = { .qps = qps };

	listing.partner = calloc(room, sizeof *listing.partner);
	listing.rows = calloc(room, sizeof *listing.rows);
	if (listing.partner == NULL || listing.rows == NULL || list_all(&listing) != 0) {
		free(listing.rows);
		listing.rows = NULL;
	}
	*count = listing.count;
	free(listing.pairs);
	free(listing.partner);
	return listing.rows;
}
