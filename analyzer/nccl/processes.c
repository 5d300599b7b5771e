#include "processes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <flow/hash.h>
#include <flow/reserve.h>

enum { NONE = UINT32_MAX };

/* What tells a process from another one; listeners have a port. Without padding. */
struct key {
	uint8_t address[16];
	int32_t rank, ranks;
	uint32_t port; /* UINT32_MAX: checked in */
	uint32_t by_lid;
};

struct entry {
	struct key key;
	int32_t release;
	uint32_t next;                                /* in its bucket, as there */
	uint64_t first_frame, last_frame, dead_frame; /* as in the report */
};

struct ft_nccl_processes {
	uint32_t most, count, mask;
	uint64_t seed;
	uint32_t *buckets; /* first of their entries, from 1; 0: none */
	struct entry *entries;
	struct ft_nccl_process *report; /* of the last call */
	uint32_t *order;                /* scratch of it: entries by address */
};

static size_t entry_bytes(const struct ft_nccl_processes *processes)
{
	return processes->most * sizeof *processes->entries;
}

static size_t report_bytes(const struct ft_nccl_processes *processes)
{
	return processes->most * sizeof *processes->report;
}

static bool take_memory(struct ft_nccl_processes *processes)
{
	size_t buckets = 1;

	while (buckets < processes->most)
		buckets *= 2;
	processes->mask = (uint32_t)(buckets - 1);
	processes->buckets = calloc(buckets, sizeof *processes->buckets);
	processes->order = malloc(processes->most * sizeof *processes->order);
	processes->entries = ft_reserve(entry_bytes(processes));
	processes->report = ft_reserve(report_bytes(processes));
	return processes->buckets != NULL && processes->order != NULL &&
	       processes->entries != NULL && processes->report != NULL;
}

int ft_nccl_processes_create(struct ft_nccl_processes **processes, uint32_t most, uint64_t seed)
{
	struct ft_nccl_processes *made = calloc(1, sizeof *made);

	if (made == NULL)
		return -ENOMEM;
	made->most = most;
	made->seed = seed;
	if (most > 0 && !take_memory(made)) {
		ft_nccl_processes_destroy(made);
		return -ENOMEM;
	}
	*processes = made;
	return 0;
}

void ft_nccl_processes_destroy(struct ft_nccl_processes *processes)
{
	if (processes == NULL)
		return;
	if (processes->report != NULL)
		ft_release(processes->report, report_bytes(processes));
	if (processes->entries != NULL)
		ft_release(processes->entries, entry_bytes(processes));
	free(processes->order);
	free(processes->buckets);
	free(processes);
}

/* Found, or made; NONE: no room. */
static uint32_t entry_of(struct ft_nccl_processes *processes, const struct key *key, uint64_t frame)
{
	uint64_t hash = ft_hash(key, sizeof *key, processes->seed);
	struct entry *entries = processes->entries;
	uint32_t *bucket, number;

	if (processes->most == 0)
		return NONE;
	bucket = &processes->buckets[(hash ^ hash >> 32) & processes->mask];
	for (number = *bucket; number != 0; number = entries[number - 1].next)
		if (memcmp(&entries[number - 1].key, key, sizeof *key) == 0)
			break;
	if (number == 0) {
		if (processes->count == processes->most)
			return NONE;
		number = ++processes->count;
		entries[number - 1] =
			(struct entry){ .key = *key, .next = *bucket, .first_frame = frame };
		*bucket = number;
	}
	entries[number - 1].last_frame = frame;
	return number - 1;
}

static struct key key_of(const struct ft_nccl_place *place, uint32_t port)
{
	struct key key = { .port = port, .by_lid = place->by_lid };

	memcpy(key.address, place->address, sizeof key.address);
	return key;
}

void ft_nccl_processes_check_in(struct ft_nccl_processes *processes,
				const struct ft_nccl_place *place, int32_t rank, int32_t ranks,
				uint64_t frame)
{
	struct key key = key_of(place, UINT32_MAX);

	key.rank = rank;
	key.ranks = ranks;
	entry_of(processes, &key, frame);
}

uint32_t ft_nccl_processes_listen(struct ft_nccl_processes *processes,
				  const struct ft_nccl_place *place, uint16_t port, int32_t release,
				  uint64_t frame)
{
	struct key key = key_of(place, port);
	uint32_t number = entry_of(processes, &key, frame);

	if (number != NONE && release != 0)
		processes->entries[number].release = release;
	return number;
}

void ft_nccl_processes_see(struct ft_nccl_processes *processes, uint32_t number, uint64_t frame)
{
	if (number != NONE)
		processes->entries[number].last_frame = frame;
}

void ft_nccl_processes_bury(struct ft_nccl_processes *processes, const struct ft_nccl_place *place,
			    uint16_t port, uint64_t frame)
{
	uint32_t number = ft_nccl_processes_listen(processes, place, port, 0, frame);

	if (number != NONE && processes->entries[number].dead_frame == 0)
		processes->entries[number].dead_frame = frame;
}

static bool is_checked_in(const struct entry *entry)
{
	return entry->key.port == UINT32_MAX;
}

/* By place, those that checked in first. */
static int by_place(const void *a, const void *b, void *context)
{
	const struct entry *entries = context;
	const struct key *one = &entries[*(const uint32_t *)a].key;
	const struct key *other = &entries[*(const uint32_t *)b].key;
	int order = memcmp(one->address, other->address, sizeof one->address);

	if (order == 0)
		order = (one->by_lid > other->by_lid) - (one->by_lid < other->by_lid);
	return order != 0 ? order : (one->port < other->port) - (one->port > other->port);
}

static int by_first_frame(const void *a, const void *b)
{
	const struct ft_nccl_process *one = a, *other = b;

	if (one->first_frame != other->first_frame)
		return one->first_frame < other->first_frame ? -1 : 1;
	return memcmp(one->place.address, other->place.address, sizeof one->place.address);
}

static struct ft_nccl_process process_of(const struct entry *entry, int32_t release)
{
	struct ft_nccl_process process = {
		.place = { .by_lid = entry->key.by_lid != 0 },
		.release = release,
		.has_rank = is_checked_in(entry),
		.rank = entry->key.rank,
		.ranks = entry->key.ranks,
		.first_frame = entry->first_frame,
		.last_frame = entry->last_frame,
		.dead_frame = entry->dead_frame,
	};

	memcpy(process.place.address, entry->key.address, sizeof process.place.address);
	return process;
}

static bool is_same_place(const struct entry *one, const struct entry *other)
{
	return one->key.by_lid == other->key.by_lid &&
	       memcmp(one->key.address, other->key.address, sizeof one->key.address) == 0;
}

/* The release that all listeners among these tell; 0: none does, or they differ. */
static int32_t release_of(const struct ft_nccl_processes *processes, uint32_t from, uint32_t to)
{
	int32_t release = 0;

	for (uint32_t i = from; i < to; i++) {
		int32_t told = processes->entries[processes->order[i]].release;

		if (told != 0 && release != 0 && told != release)
			return 0;
		release = told != 0 ? told : release;
	}
	return release;
}

/* The first of these listeners that is told to be dead, when; 0: none is. */
static uint64_t first_death(const struct ft_nccl_processes *processes, uint32_t from, uint32_t to)
{
	uint64_t first = 0;

	for (uint32_t i = from; i < to; i++) {
		uint64_t frame = processes->entries[processes->order[i]].dead_frame;

		if (frame != 0 && (first == 0 || frame < first))
			first = frame;
	}
	return first;
}

static uint32_t checked_in(const struct ft_nccl_processes *processes, uint32_t from, uint32_t to)
{
	uint32_t count = 0;

	while (from + count < to &&
	       is_checked_in(&processes->entries[processes->order[from + count]]))
		count++;
	return count;
}

/* All that these are named in is of one process. */
static void reach(const struct ft_nccl_processes *processes, uint32_t from, uint32_t to,
		  struct ft_nccl_process *process)
{
	for (uint32_t i = from; i < to; i++) {
		const struct entry *entry = &processes->entries[processes->order[i]];

		if (entry->first_frame < process->first_frame)
			process->first_frame = entry->first_frame;
		if (entry->last_frame > process->last_frame)
			process->last_frame = entry->last_frame;
	}
}

/* order[from..to) are of one place. */
static size_t report_place(const struct ft_nccl_processes *processes, uint32_t from, uint32_t to,
			   struct ft_nccl_process *report)
{
	const uint32_t ranks = checked_in(processes, from, to);
	const int32_t release = release_of(processes, from, to);
	size_t count = 0;

	for (uint32_t i = from; i < to; i++) {
		const struct entry *entry = &processes->entries[processes->order[i]];

		if (ranks == 0 || is_checked_in(entry) || (ranks > 1 && entry->dead_frame != 0))
			report[count++] =
				process_of(entry, is_checked_in(entry) ? release : entry->release);
	}
	if (ranks == 1) {
		report[0].dead_frame = first_death(processes, from, to);
		reach(processes, from, to, &report[0]);
	}
	return count;
}

const struct ft_nccl_process *ft_nccl_processes_report(struct ft_nccl_processes *processes,
						       size_t *count)
{
	uint32_t *order = processes->order;

	*count = 0;
	for (uint32_t i = 0; i < processes->count; i++)
		order[i] = i;
	if (processes->count > 0)
		qsort_r(order, processes->count, sizeof *order, by_place, processes->entries);
	for (uint32_t from = 0, to; from < processes->count; from = to) {
		to = from + 1;
		while (to < processes->count && is_same_place(&processes->entries[order[from]],
							      &processes->entries[order[to]]))
			to++;
		*count += report_place(processes, from, to, processes->report + *count);
	}
	if (*count > 0)
		qsort(processes->report, *count, sizeof *processes->report, by_first_frame);
	return processes->report;
}
