#include "partners.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "queue_pairs_parts.h"
#include "source_port.h"

/*
 * Records are ordered so that those which could belong together stand near each other; each is compared with so many
 * of those that follow it, which bounds the time.
 */
enum { NEAR = 64 };

struct row {
	uint64_t pair; /* of addresses */
	uint64_t first_frame;
	uint32_t record;
	uint16_t port;
};

struct search {
	const struct ft_nccl_qps *qps;
	uint32_t *partner;
	struct row *rows;
	size_t count;
};

static void join(struct search *search, uint32_t one, uint32_t other)
{
	search->partner[one] = other;
	search->partner[other] = one;
}

/* A datagram may name a connected queue pair for its sender; that proves nothing. */
static bool is_alike(const struct ft_nccl_qp *one, const struct ft_nccl_qp *other)
{
	return one != other && other->packets > 0 && (one->services & other->services) != 0;
}

static void join_named(struct search *search)
{
	for (uint32_t i = 0; i < search->qps->used; i++) {
		const struct ft_nccl_qp *qp = &search->qps->records[i];
		const struct ft_nccl_qp *other;
		uint32_t at;

		if (qp->packets == 0 || qp->peer_qpn == FT_NCCL_NONE)
			continue;
		other = ft_nccl_qps_find(
			search->qps, qp->peer,
			ft_nccl_name(qp->peer_qpn, (qp->name & FT_NCCL_NAME_LID) != 0));
		if (other == NULL || !is_alike(qp, other))
			continue;
		at = (uint32_t)(other - search->qps->records);
		if (search->partner[i] == FT_NCCL_NONE && search->partner[at] == FT_NCCL_NONE)
			join(search, i, at);
	}
}

static void list(struct search *search)
{
	search->count = 0;
	for (uint32_t i = 0; i < search->qps->used; i++) {
		const struct ft_nccl_qp *qp = &search->qps->records[i];

		if (qp->packets == 0 || search->partner[i] != FT_NCCL_NONE ||
		    (qp->services & FT_NCCL_CONNECTED) == 0)
			continue;
		search->rows[search->count++] = (struct row){
			.pair = ft_nccl_pair_of(qp->address, qp->peer, search->qps->seed),
			.first_frame = qp->first_frame,
			.record = i,
			.port = qp->udp_sport,
		};
	}
}

static int by_port(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->pair != b->pair)
		return a->pair < b->pair ? -1 : 1;
	if (a->port != b->port)
		return a->port < b->port ? -1 : 1;
	return a->first_frame < b->first_frame ? -1 : a->first_frame > b->first_frame;
}

static int by_frame(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->pair != b->pair)
		return a->pair < b->pair ? -1 : 1;
	return a->first_frame < b->first_frame ? -1 : a->first_frame > b->first_frame;
}

static const struct ft_nccl_qp *record_of(const struct search *search, size_t row)
{
	return &search->qps->records[search->rows[row].record];
}

static bool face(const struct ft_nccl_qp *one, const struct ft_nccl_qp *other)
{
	return memcmp(one->address, other->peer, sizeof one->peer) == 0 &&
	       memcmp(other->address, one->peer, sizeof one->peer) == 0 &&
	       (one->services & other->services & FT_NCCL_CONNECTED) != 0;
}

static void join_by_port(struct search *search)
{
	qsort(search->rows, search->count, sizeof *search->rows, by_port);
	for (size_t i = 0; i < search->count; i++) {
		const struct ft_nccl_qp *one = record_of(search, i);

		for (size_t j = i + 1; j < search->count && j - i <= NEAR &&
				       search->rows[j].pair == search->rows[i].pair &&
				       search->rows[j].port == search->rows[i].port;
		     j++) {
			const struct ft_nccl_qp *other = record_of(search, j);

			if (search->partner[search->rows[i].record] == FT_NCCL_NONE &&
			    search->partner[search->rows[j].record] == FT_NCCL_NONE &&
			    face(one, other) &&
			    ft_nccl_source_port(one->name & FT_NCCL_QPN,
						other->name & FT_NCCL_QPN) == one->udp_sport)
				join(search, search->rows[i].record, search->rows[j].record);
		}
	}
}

/* From b to a. */
static int32_t distance(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) >> 8;
}

enum { IMPOSSIBLE = -1000, WINDOW = 1 << 15, CLOSE = 64 };

/* How well what is sent to `answered` answers what was sent to `asked`. */
static int fit(const struct ft_nccl_qp *asked, const struct ft_nccl_qp *answered)
{
	int32_t late;

	if (answered->first_answer == FT_NCCL_NONE)
		return 0;
	if (asked->first_psn == FT_NCCL_NONE)
		return IMPOSSIBLE;
	late = distance(answered->answer, asked->last_psn);
	if (late > WINDOW || late < -WINDOW)
		return IMPOSSIBLE;
	if (late == 0)
		return 8;
	return late < CLOSE && late > -CLOSE ? 4 : 1;
}

static bool overlap(const struct ft_nccl_qp *one, const struct ft_nccl_qp *other)
{
	return one->first_ns <= other->last_ns && other->first_ns <= one->last_ns;
}

static int likeness(const struct ft_nccl_qp *one, const struct ft_nccl_qp *other)
{
	if (!face(one, other))
		return IMPOSSIBLE;
	return fit(one, other) + fit(other, one) + (overlap(one, other) ? 4 : 0) +
	       (one->udp_sport == other->udp_sport ? 1 : 0);
}

enum { ENOUGH = 5 };

/* The likeliest for row `at`, if no other is as likely; or `at`. */
static size_t likeliest(const struct search *search, size_t at)
{
	size_t from = at > NEAR ? at - NEAR : 0, best_at = at;
	int best = ENOUGH - 1, second = ENOUGH - 1;

	for (size_t j = from; j < search->count && j <= at + NEAR; j++) {
		int found;

		if (j == at || search->rows[j].pair != search->rows[at].pair)
			continue;
		found = likeness(record_of(search, at), record_of(search, j));
		if (found > best) {
			second = best;
			best = found;
			best_at = j;
		} else if (found > second) {
			second = found;
		}
	}
	return best > second ? best_at : at;
}

static void join_by_answers(struct search *search)
{
	qsort(search->rows, search->count, sizeof *search->rows, by_frame);
	for (size_t i = 0; i < search->count; i++) {
		size_t j = likeliest(search, i);

		if (j > i && likeliest(search, j) == i)
			join(search, search->rows[i].record, search->rows[j].record);
	}
}

int ft_nccl_partners(const struct ft_nccl_qps *qps, uint32_t *partner)
{
	struct search search = { qps, partner, NULL, 0 };

	for (uint32_t i = 0; i < qps->used; i++)
		partner[i] = FT_NCCL_NONE;
	if (qps->used == 0)
		return 0;
	search.rows = calloc(qps->used, sizeof *search.rows);
	if (search.rows == NULL)
		return -ENOMEM;
	join_named(&search);
	list(&search);
	join_by_port(&search);
	list(&search);
	join_by_answers(&search);
	free(search.rows);
	return 0;
}
