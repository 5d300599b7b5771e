#include "recall.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <flow/reserve.h>

enum {
	HEADS_PER_ENTRY = 4,      /* so that one in four is taken */
	ENTRIES_LEAST = 1u << 12, /* fewer do not save anything */
	SPARE = 2,                /* times keep_ns: then places are given up */
	SURE = 8, /* entries after which all pages are taken: the first lap will touch every one */
};

/* Time of the last of several free places, and of where pages are taken: ft_recall_fits() says no, of all others yes. */
#define LAST_FREE (UINT64_C(1) << 62)

static bool is_free(const struct ft_recalled *entry)
{
	return entry->ts_ns == FT_RECALL_FREE || entry->ts_ns == LAST_FREE;
}

static size_t heads_bytes(uint32_t entries)
{
	return (size_t)entries * HEADS_PER_ENTRY * sizeof(struct ft_recall_head);
}

static size_t ring_bytes(uint32_t entries)
{
	return (size_t)entries * sizeof(struct ft_recalled);
}

/* Of a ring without free places: what is older is a sign that it has too many, unless it has as few as may be. */
static void use_all(struct ft_recall *recall)
{
	recall->spare_ns = recall->ring_mask >= ENTRIES_LEAST ? recall->keep_ns * SPARE : INT64_MAX;
}

/* All up to this number are free: nothing is pushed out until it is taken. */
static void use_free(struct ft_recall *recall, uint32_t number)
{
	recall->spare_ns = INT64_MAX;
	ft_recall_at(recall, number)->ts_ns = LAST_FREE;
}

/* The first `places` of the ring, and an index to match. */
static void use_places(struct ft_recall *recall, uint32_t places)
{
	recall->ring_mask = places - 1;
	recall->shift = 64 - (uint32_t)__builtin_ctz(places * HEADS_PER_ENTRY);
	use_all(recall);
}

int ft_recall_init(struct ft_recall *recall, uint32_t entries, uint64_t seed)
{
	*recall = (struct ft_recall){
		.seed = { seed, ft_mix(seed ^ 0x9e3779b97f4a7c15u, 0xa0761d6478bd642fu) | 1 },
		.entries = entries,
		.next = entries + 1,
	};
	use_places(recall, entries);
	recall->heads = ft_reserve(heads_bytes(entries));
	if (recall->heads == NULL)
		return -ENOMEM;
	recall->ring = ft_reserve(ring_bytes(entries));
	if (recall->ring == NULL)
		goto release_heads;
	return 0;

release_heads:
	ft_release(recall->heads, heads_bytes(entries));
	return -ENOMEM;
}

void ft_recall_free(struct ft_recall *recall)
{
	ft_release(recall->ring, ring_bytes(recall->entries));
	ft_release(recall->heads, heads_bytes(recall->entries));
}

void ft_recall_keep(struct ft_recall *recall, uint64_t window_ns)
{
	const uint64_t most_ns = UINT64_MAX / 8; /* sums of a few stay below 2^63 */

	if (window_ns > most_ns)
		window_ns = most_ns;
	recall->slack_ns = window_ns / 2;
	recall->keep_ns = window_ns + recall->slack_ns;
	use_free(recall, recall->next + SURE);
	use_free(recall, recall->next + recall->ring_mask);
}

static void index_all(struct ft_recall *recall)
{
	uint32_t next = recall->next;

	memset(recall->heads, 0, heads_bytes(recall->ring_mask + 1));
	recall->next -= recall->ring_mask + 1;
	while (recall->next != next) {
		const struct ft_recalled *entry = ft_recall_at(recall, recall->next);

		if (is_free(entry))
			recall->next++;
		else
			ft_recall_add(recall, entry->key);
	}
}

/* Each entry has one of two places then: by the bit of its number that the mask has gained. */
static void spread(struct ft_recall *recall)
{
	uint32_t places = recall->ring_mask + 1;
	uint32_t newest = recall->next & recall->ring_mask; /* so many are of the lap not ended */
	struct ft_recalled *ring = recall->ring;

	if ((recall->next & places) != 0)
		memcpy(ring + places, ring, newest * sizeof *ring);
	else
		memcpy(ring + places + newest, ring + newest, (places - newest) * sizeof *ring);
	use_places(recall, 2 * places);
	for (uint32_t i = 0; i < places; i++)
		ft_recall_at(recall, recall->next + i)->ts_ns = FT_RECALL_FREE;
}

__attribute__((noinline)) static bool grow(struct ft_recall *recall, uint64_t now_ns)
{
	bool stepped_back = ft_recall_at(recall, recall->next)->ts_ns > now_ns;
	uint32_t mask = recall->ring_mask;

	if (mask + 1 == recall->entries)
		return false;
	do
		spread(recall);
	while (stepped_back && recall->ring_mask + 1 < recall->entries);
	use_free(recall, recall->next + recall->ring_mask - mask - 1);
	index_all(recall);
	return true;
}

void ft_recall_met(struct ft_recall *recall, uint64_t now_ns)
{
	uint64_t newest_ns = ft_recall_at(recall, recall->next - 1)->ts_ns;

	if (newest_ns > now_ns && newest_ns - now_ns > recall->slack_ns)
		recall->stepped_back = recall->next - 1;
}

/* At the end of a lap: whether time went forward all the time. */
static bool was_orderly(const struct ft_recall *recall)
{
	uint64_t newest_ns = 0;

	if (ft_recall_holds(recall, recall->stepped_back))
		return false;
	for (uint32_t i = 0; i <= recall->ring_mask; i++) {
		uint64_t ts_ns = recall->ring[i].ts_ns;

		if (is_free(&recall->ring[i]))
			continue;
		if (ts_ns < newest_ns && newest_ns - ts_ns > recall->slack_ns)
			return false;
		if (ts_ns > newest_ns)
			newest_ns = ts_ns;
	}
	return true;
}

/* Places that hold all that is to be kept; of a ring in order. */
static uint32_t places_needed(const struct ft_recall *recall, uint64_t now_ns)
{
	uint32_t places = recall->ring_mask + 1;

	while (places > ENTRIES_LEAST) {
		const struct ft_recalled *out = ft_recall_at(recall, recall->next - 1 - places / 2);

		if (!is_free(out) && now_ns - out->ts_ns <= recall->keep_ns)
			break;
		places /= 2;
	}
	return places;
}

/* All but the first `places`, and their index. */
static void give_back(struct ft_recall *recall, uint32_t places)
{
	uint32_t rest = recall->entries - places;

	ft_reserve_give_back(recall->ring + places, ring_bytes(rest));
	ft_reserve_give_back(recall->heads + (size_t)places * HEADS_PER_ENTRY, heads_bytes(rest));
}

/* At the end of a lap, where the newest entries are at the end of the ring. */
__attribute__((noinline)) static bool shrink(struct ft_recall *recall, uint64_t now_ns)
{
	uint32_t places = recall->ring_mask + 1;
	uint32_t needed = places_needed(recall, now_ns);

	if (needed == places || !was_orderly(recall))
		return false;
	memcpy(recall->ring, recall->ring + places - needed, ring_bytes(needed));
	use_places(recall, needed);
	index_all(recall);
	give_back(recall, needed);
	return true;
}

static void take_pages(struct ft_recall *recall)
{
	ft_reserve_fill(recall->heads, heads_bytes(recall->entries));
	ft_reserve_fill(recall->ring, ring_bytes(recall->entries));
}

bool ft_recall_refit(struct ft_recall *recall, uint64_t now_ns)
{
	const struct ft_recalled *oldest = ft_recall_at(recall, recall->next);

	if (recall->next == recall->entries + 1 + SURE)
		take_pages(recall);
	else if (oldest->ts_ns == LAST_FREE)
		use_all(recall);
	if (oldest->ts_ns == FT_RECALL_FREE)
		return false;
	if (!is_free(oldest) &&
	    (oldest->ts_ns > now_ns || now_ns - oldest->ts_ns <= recall->keep_ns))
		return grow(recall, now_ns);
	return (recall->next & recall->ring_mask) == 0 && shrink(recall, now_ns);
}
