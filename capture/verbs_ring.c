#include "verbs_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	LINE = 64,
	HUGE_PAGE = 2 << 20,
	BUFFERS_MIN = 64,
	BUFFERS_DEFAULT = 16384,
	SCRATCH = 64 << 10, /* longer than any frame */
	BATCH_MAX = 64,     /* buffers given back at a time, */
	BATCHES_MIN = 16,   /* fewer where a ring has not so many batches */
};

#define BYTES_DEFAULT (UINT64_C(128) << 20)

static uint32_t power_of_two_below(uint64_t value)
{
	uint32_t power = 1;

	while (power <= value / 2 && power < (UINT32_C(1) << 30))
		power *= 2;
	return power;
}

static int choose_sizes(struct ft_verbs_ring *ring, const struct ft_verbs_ring_config *config)
{
	uint64_t room, least = (uint64_t)config->keep * 2;

	ring->keep = config->keep;
	ring->parts = config->parts_max >= 2 ? 2 : 1;
	ring->kept = config->longest;
	if (config->snap != 0 && config->snap < ring->kept)
		ring->kept = config->snap;
	ring->buffer_bytes = ring->parts == 2 ? ring->kept : config->longest;
	ring->buffer_bytes = (ring->buffer_bytes + LINE - 1) / LINE * LINE;
	room = (config->bytes != 0 ? config->bytes : BYTES_DEFAULT) / ring->buffer_bytes;
	if (config->bytes == 0 && room > BUFFERS_DEFAULT)
		room = BUFFERS_DEFAULT;
	if (room > config->buffers_max)
		room = config->buffers_max;
	ring->buffers = power_of_two_below(room);
	ring->batch =
		ring->buffers / BATCHES_MIN < BATCH_MAX ? ring->buffers / BATCHES_MIN : BATCH_MAX;
	return ring->buffers >= BUFFERS_MIN && ring->buffers >= least ? 0 : -EINVAL;
}

/* The scratch memory lies behind the buffers. */
static uint64_t scratch_of(const struct ft_verbs_ring *ring)
{
	return (uint64_t)ring->buffers * ring->buffer_bytes;
}

static int map_memory(struct ft_verbs_ring *ring)
{
	void *memory;

	ring->size = (scratch_of(ring) + SCRATCH + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	memory = mmap(NULL, ring->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return -ENOMEM;
	ring->memory = memory;
	madvise(memory, ring->size, MADV_HUGEPAGE);
	madvise(memory, ring->size, MADV_DONTFORK); /* the device writes to these very pages */
	return 0;
}

int ft_verbs_ring_create(struct ft_verbs_ring *ring, const struct ft_verbs_ring_config *config)
{
	int error;

	*ring = (struct ft_verbs_ring){ 0 };
	error = choose_sizes(ring, config);
	if (error != 0)
		return error;
	ring->completions = calloc(ring->buffers, sizeof *ring->completions);
	ring->requests = calloc(ring->buffers, sizeof *ring->requests);
	ring->sges = calloc((size_t)ring->buffers * ring->parts, sizeof *ring->sges);
	ring->with_device = calloc(ring->buffers, sizeof *ring->with_device);
	ring->lent_before = calloc(ring->keep, sizeof *ring->lent_before);
	if (ring->completions != NULL && ring->requests != NULL && ring->sges != NULL &&
	    ring->with_device != NULL && ring->lent_before != NULL)
		error = map_memory(ring);
	else
		error = -ENOMEM;
	if (error != 0)
		ft_verbs_ring_destroy(ring);
	return error;
}

void ft_verbs_ring_destroy(struct ft_verbs_ring *ring)
{
	if (ring->memory != NULL)
		munmap(ring->memory, ring->size);
	free(ring->lent_before);
	free(ring->with_device);
	free(ring->sges);
	free(ring->requests);
	free(ring->completions);
	*ring = (struct ft_verbs_ring){ 0 };
}

void ft_verbs_ring_register(struct ft_verbs_ring *ring, uint32_t lkey)
{
	for (uint32_t i = 0; i < ring->buffers; i++) {
		struct ibv_sge *sge = ring->sges + (size_t)i * ring->parts;

		sge[0] = (struct ibv_sge){
			.addr = (uintptr_t)(ring->memory + (size_t)i * ring->buffer_bytes),
			.length = ring->parts == 2 ? ring->kept : ring->buffer_bytes,
			.lkey = lkey,
		};
		if (ring->parts == 2)
			sge[1] = (struct ibv_sge){
				.addr = (uintptr_t)(ring->memory + scratch_of(ring)),
				.length = SCRATCH,
				.lkey = lkey,
			};
		ring->requests[i] = (struct ibv_recv_wr){
			.wr_id = i,
			.sg_list = sge,
			.num_sge = (int)ring->parts,
		};
	}
}

/* Post what is linked from `first` on. How many the device took; *error says why not all. */
static unsigned post(struct ft_verbs_ring *ring, struct ibv_qp *qp, struct ibv_recv_wr *first,
		     int *error)
{
	struct ibv_recv_wr *refused = NULL;
	unsigned count = 0;

	*error = -abs(ibv_post_recv(qp, first, &refused));
	if (*error == 0)
		refused = NULL;
	else if (refused == NULL)
		refused = first;
	for (struct ibv_recv_wr *at = first; at != NULL && at != refused; at = at->next) {
		ring->with_device[at->wr_id] = true;
		count++;
	}
	return count;
}

int ft_verbs_ring_post_all(struct ft_verbs_ring *ring, struct ibv_qp *qp)
{
	struct ibv_recv_wr *first = NULL, **link = &first;
	int error = 0;

	for (uint32_t i = 0; i < ring->buffers; i++) {
		if (ring->given && !ring->with_device[i])
			continue;
		*link = &ring->requests[i];
		link = &ring->requests[i].next;
	}
	*link = NULL;
	ring->given = true;
	if (first != NULL)
		post(ring, qp, first, &error);
	return error;
}

/* Give back the next `count` buffers in the order in which they came. */
static int post_next(struct ft_verbs_ring *ring, struct ibv_qp *qp, unsigned count)
{
	struct ibv_recv_wr *first = NULL, **link = &first;
	int error;

	for (unsigned i = 0; i < count; i++) {
		uint64_t at = (ring->posted + i) & (ring->buffers - 1);

		*link = &ring->requests[ring->completions[at].buffer];
		link = &(*link)->next;
	}
	*link = NULL;
	ring->posted += post(ring, qp, first, &error);
	return error;
}

int ft_verbs_ring_begin_call(struct ft_verbs_ring *ring, struct ibv_qp *qp)
{
	uint64_t free = ring->lent_before[ring->calls % ring->keep];
	int error = 0;

	while (error == 0 && free - ring->posted >= ring->batch)
		error = post_next(ring, qp, ring->batch);
	return error;
}

void ft_verbs_ring_end_call(struct ft_verbs_ring *ring)
{
	ring->lent_before[ring->calls++ % ring->keep] = ring->lent;
}

/*
 * How many frames this call may hand out so that half of the buffers stay with the device: as many as there
 * are while those of the calls kept are few; then an equal share, at least one, for it must not look as if
 * there were none.
 */
static uint64_t share_of_call(const struct ft_verbs_ring *ring)
{
	uint64_t quarter = ring->buffers / 4, share = quarter / ring->keep;
	uint64_t kept = ring->lent - ring->lent_before[ring->calls % ring->keep];

	if (kept < quarter && share < quarter - kept)
		share = quarter - kept;
	return share > 0 ? share : 1;
}

int ft_verbs_ring_lend(struct ft_verbs_ring *ring, struct ft_frame *frames, int room,
		       uint16_t link_type)
{
	uint64_t share = share_of_call(ring), end = ring->taken;
	int count = 0;

	if (end - ring->lent > share)
		end = ring->lent + share;
	while (count < room && ring->lent != end) {
		const struct ft_verbs_completion *c =
			&ring->completions[ring->lent++ & (ring->buffers - 1)];

		if (c->length == FT_VERBS_NO_FRAME)
			continue;
		frames[count++] = (struct ft_frame){
			.bytes = ring->memory + (size_t)c->buffer * ring->buffer_bytes,
			.captured = c->length < ring->kept ? c->length : ring->kept,
			.original = c->length,
			.wire = c->length,
			.link_type = link_type,
			.ts_ns = c->ts_ns,
		};
	}
	return count;
}
