#include "queue_pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <flow/hash.h>
#include <flow/reserve.h>

#include "queue_pairs_parts.h"

/* An index of 8-byte slots in front of dense records, with linear probing; nothing is ever taken out. */

enum { BEYOND_BITS = 1 << 20, WORD_BITS = 64 };

#define BEYOND_BYTES (BEYOND_BITS / 8)
#define SLOTS_MOST   (1u << 30)

static uint32_t slots_for(uint32_t most)
{
	return most + most / 2 + 2;
}

static size_t slots_bytes(const struct ft_nccl_qps *qps)
{
	return (size_t)qps->slot_count * sizeof *qps->slots;
}

static size_t records_bytes(const struct ft_nccl_qps *qps)
{
	return (size_t)qps->most * sizeof *qps->records;
}

static int reserve(struct ft_nccl_qps *qps)
{
	if (qps->most == 0)
		return 0;
	qps->slots = ft_reserve(slots_bytes(qps));
	qps->records = ft_reserve(records_bytes(qps));
	qps->beyond = ft_reserve(BEYOND_BYTES);
	return qps->slots != NULL && qps->records != NULL && qps->beyond != NULL ? 0 : -ENOMEM;
}

int ft_nccl_qps_create(struct ft_nccl_qps **qps, uint32_t most, uint64_t seed)
{
	struct ft_nccl_qps *made;

	if (most > SLOTS_MOST)
		return -ENOMEM;
	made = calloc(1, sizeof *made);
	if (made == NULL)
		return -ENOMEM;
	made->most = most;
	made->slot_count = slots_for(most);
	made->seed = seed;
	for (size_t i = 0; i < FT_NCCL_ASKED; i++)
		made->asked[i].qpn = FT_NCCL_NONE;
	if (reserve(made) != 0) {
		ft_nccl_qps_destroy(made);
		return -ENOMEM;
	}
	*qps = made;
	return 0;
}

void ft_nccl_qps_destroy(struct ft_nccl_qps *qps)
{
	if (qps == NULL)
		return;
	if (qps->slots != NULL)
		ft_release(qps->slots, slots_bytes(qps));
	if (qps->records != NULL)
		ft_release(qps->records, records_bytes(qps));
	if (qps->beyond != NULL)
		ft_release(qps->beyond, BEYOND_BYTES);
	free(qps);
}

static uint32_t hash_of(const uint8_t address[16], uint32_t name, uint64_t seed)
{
	uint64_t words[2];

	memcpy(words, address, sizeof words);
	return (uint32_t)ft_hash_step(seed ^ (uint64_t)name << 20, words[0], words[1], seed);
}

/* The slot of it, or the free one where it belongs. */
static struct ft_nccl_slot *slot_of(const struct ft_nccl_qps *qps, const uint8_t address[16],
				    uint32_t name, uint32_t tag)
{
	uint32_t at = (uint32_t)((uint64_t)tag * qps->slot_count >> 32);
	struct ft_nccl_slot *slot = &qps->slots[at];

	while (slot->record != 0) {
		const struct ft_nccl_qp *qp = &qps->records[slot->record - 1];

		if (slot->tag == tag && qp->name == name &&
		    memcmp(qp->address, address, sizeof qp->address) == 0)
			return slot;
		if (++at == qps->slot_count)
			at = 0;
		slot = &qps->slots[at];
	}
	return slot;
}

struct ft_nccl_qp *ft_nccl_qps_find(const struct ft_nccl_qps *qps, const uint8_t address[16],
				    uint32_t name)
{
	const struct ft_nccl_slot *slot;

	if (qps->most == 0)
		return NULL;
	slot = slot_of(qps, address, name, hash_of(address, name, qps->seed));
	return slot->record == 0 ? NULL : &qps->records[slot->record - 1];
}

/* Counts each once, but those with the hash of another one: not by the seed, so that any run counts the same. */
static void drop(struct ft_nccl_qps *qps, const uint8_t address[16], uint32_t name)
{
	uint32_t bit = hash_of(address, name, 0) % BEYOND_BITS;
	uint64_t mask = UINT64_C(1) << bit % WORD_BITS;

	if ((qps->beyond[bit / WORD_BITS] & mask) != 0)
		return;
	qps->beyond[bit / WORD_BITS] |= mask;
	qps->dropped++;
}

static struct ft_nccl_qp *find_or_add(struct ft_nccl_qps *qps, const uint8_t address[16],
				      uint32_t name)
{
	uint32_t tag;
	struct ft_nccl_slot *slot;
	struct ft_nccl_qp *qp;

	if (qps->most == 0)
		return NULL;
	tag = hash_of(address, name, qps->seed);
	slot = slot_of(qps, address, name, tag);
	if (slot->record != 0)
		return &qps->records[slot->record - 1];
	if (qps->used == qps->most) {
		drop(qps, address, name);
		return NULL;
	}
	qp = &qps->records[qps->used++];
	memcpy(qp->address, address, sizeof qp->address);
	qp->name = name;
	qp->connection = qp->peer_qpn = FT_NCCL_NONE;
	qp->first_psn = qp->first_answer = FT_NCCL_NONE;
	*slot = (struct ft_nccl_slot){ tag, qps->used };
	return qp;
}

struct ft_nccl_qp *ft_nccl_qps_of(struct ft_nccl_qps *qps, const struct ft_nccl_place *place,
				  uint32_t qpn)
{
	return find_or_add(qps, place->address, ft_nccl_name(qpn, place->by_lid));
}

static void begin(const struct ft_nccl_qps *qps, struct ft_nccl_qp *qp,
		  const struct ft_nccl_seen *seen)
{
	memcpy(qp->peer, seen->ends.src, sizeof qp->peer);
	qp->first_frame = seen->frame;
	qp->first_ns = seen->ts_ns;
	qp->udp_sport = seen->udp_sport;
	qp->traffic_class = seen->traffic_class;
	if (ft_nccl_qps_met(qps, seen))
		qp->marks |= FT_NCCL_MARK_MET;
}

enum { QKEY_UCX = 0x1ee7a330, QKEY_CM = 0x01234567 };

static void learn_datagram(struct ft_nccl_qp *qp, const struct ft_nccl_seen *seen)
{
	if ((seen->has & FT_HAS_DETH) == 0)
		return;
	if (seen->qkey == QKEY_UCX)
		qp->marks |= FT_NCCL_MARK_QKEY_UCX;
	if (seen->qkey == QKEY_CM)
		qp->marks |= FT_NCCL_MARK_QKEY_CM;
	qp->peer_qpn = seen->src_qp;
}

struct ft_nccl_qp *ft_nccl_qps_see(struct ft_nccl_qps *qps, const struct ft_nccl_seen *seen)
{
	const uint32_t service = 1u << ft_opcode_service(seen->opcode);
	struct ft_nccl_qp *qp = find_or_add(qps, seen->ends.dst,
					    ft_nccl_name(seen->dest_qp, seen->ends.by_lid != 0));

	if (qp == NULL)
		return NULL;
	if (qp->packets++ == 0)
		begin(qps, qp, seen);
	qp->last_ns = seen->ts_ns;
	qp->services |= (uint8_t)service;
	if ((service & FT_NCCL_CONNECTED) != 0)
		ft_nccl_qp_learn(qp, seen);
	else if (service == 1u << FT_UD)
		learn_datagram(qp, seen);
	if (seen->dest_qp == 1)
		ft_nccl_qps_see_mad(qps, qp, seen);
	return qp;
}

void ft_nccl_qp_note(struct ft_nccl_qp *qp, enum ft_nccl_evidence evidence)
{
	if (qp != NULL)
		qp->noted |= (uint16_t)(1u << evidence);
}

void ft_nccl_qp_join(struct ft_nccl_qp *qp, uint32_t connection)
{
	if (qp != NULL)
		qp->connection = connection;
}

void ft_nccl_qp_rule_out_gin(struct ft_nccl_qp *qp)
{
	if (qp != NULL)
		qp->marks |= FT_NCCL_MARK_NO_GIN;
}

void ft_nccl_qp_leave(struct ft_nccl_qp *qp, uint16_t evidence)
{
	if (qp == NULL)
		return;
	qp->noted &= (uint16_t)~evidence;
	qp->connection = FT_NCCL_NONE;
}

uint64_t ft_nccl_qps_dropped(const struct ft_nccl_qps *qps)
{
	return qps->dropped;
}
