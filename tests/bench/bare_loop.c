#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <isa-l.h>

#include "bare_packet.h"

/*
 * The reference for an audit: the least a program can do that knows flows. It maps a pcap file, reads each frame from
 * its link layer to RETH and AETH, looks its half-connection up and counts four things, one frame at a time. It checks
 * no checksum, no rule and no map; with --crc it also runs isa-l's CRC-32 over the bytes an ICRC covers. There is a
 * program for RoCEv2 and one for native InfiniBand: which, the reader says that it is linked with.
 */

enum { FILE_HEADER = 24, RECORD_HEADER = 16 };

struct flow {
	struct bare_key key;
	uint64_t packets, bytes;
	uint64_t asked; /* bytes that RETHs announce */
	uint64_t acks;
};

struct slot {
	uint32_t tag;
	uint32_t flow; /* from 1; 0: empty */
};

struct table {
	struct slot *slots;
	struct flow *flows;
	uint32_t used, capacity, mask;
};

static uint32_t le32(const uint8_t *b)
{
	uint32_t value;

	memcpy(&value, b, sizeof value);
	return value;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	__extension__ typedef unsigned __int128 wide;
	wide product = (wide)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint32_t hash_of(const struct bare_key *key)
{
	uint64_t words[5], hash = 0x9e3779b97f4a7c15u;

	memcpy(words, key, sizeof words);
	hash = mix(words[0] ^ hash, words[1] ^ 0xa0761d6478bd642fu);
	hash = mix(words[2] ^ hash, words[3] ^ 0xe7037ed1a0b428dbu);
	hash = mix(words[4] ^ hash, 0x8ebc6af09c88c6e3u);
	return (uint32_t)(hash ^ hash >> 32);
}

static int create_table(struct table *table, uint32_t capacity)
{
	uint32_t slots = 16;

	while (slots < 2 * capacity)
		slots *= 2;
	*table = (struct table){ .capacity = capacity, .mask = slots - 1 };
	table->slots = calloc(slots, sizeof *table->slots);
	table->flows = calloc(capacity, sizeof *table->flows);
	return table->slots == NULL || table->flows == NULL ? -ENOMEM : 0;
}

/* NULL: the table is full. */
static struct flow *find(struct table *table, const struct bare_key *key)
{
	uint32_t tag = hash_of(key), at = tag & table->mask;

	for (; table->slots[at].flow != 0; at = (at + 1) & table->mask) {
		struct flow *flow = &table->flows[table->slots[at].flow - 1];

		if (table->slots[at].tag == tag && memcmp(&flow->key, key, sizeof *key) == 0)
			return flow;
	}
	if (table->used == table->capacity)
		return NULL;
	table->slots[at] = (struct slot){ .tag = tag, .flow = ++table->used };
	table->flows[table->used - 1].key = *key;
	return &table->flows[table->used - 1];
}

static int count_file(const uint8_t *bytes, size_t size, struct table *table, bool with_crc)
{
	uint64_t frames = 0, rdma = 0, crcs = 0;
	struct bare_packet packet;

	for (size_t at = FILE_HEADER; at + RECORD_HEADER <= size; frames++) {
		uint32_t captured = le32(bytes + at + 8), original = le32(bytes + at + 12);
		const uint8_t *frame = bytes + at + RECORD_HEADER;
		struct flow *flow;

		at += RECORD_HEADER;
		if (captured > size - at)
			break;
		at += captured;
		if (!bare_packet_read(frame, captured, &packet))
			continue;
		if (with_crc)
			crcs += crc32_gzip_refl(0, packet.covered, packet.covered_size);
		flow = find(table, &packet.key);
		if (flow == NULL) {
			fputs("bench_bare_loop: more flows than --flows allows\n", stderr);
			return 2;
		}
		flow->packets++;
		flow->bytes += original;
		flow->asked += packet.asked;
		flow->acks += packet.ack;
		rdma++;
	}
	printf("%llu frames, %llu rdma, %u flows, crc sum %llx\n", (unsigned long long)frames,
	       (unsigned long long)rdma, table->used, (unsigned long long)crcs);
	return 0;
}

static int run(const char *path, uint32_t flows, bool with_crc)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), status = 2;
	struct stat stat;
	struct table table;
	void *bytes;

	if (fd < 0 || fstat(fd, &stat) != 0 || stat.st_size < FILE_HEADER) {
		fprintf(stderr, "bench_bare_loop: cannot read %s\n", path);
		return 2;
	}
	bytes = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED || create_table(&table, flows) != 0) {
		fputs("bench_bare_loop: no memory\n", stderr);
		return 2;
	}
	if (le32(bytes) == 0xa1b23c4d)
		status = count_file(bytes, (size_t)stat.st_size, &table, with_crc);
	else
		fputs("bench_bare_loop: not a nanosecond pcap file of this byte order\n", stderr);
	free(table.slots);
	free(table.flows);
	munmap(bytes, (size_t)stat.st_size);
	close(fd);
	return status;
}

int main(int argc, char **argv)
{
	uint32_t flows = 1u << 20;
	bool with_crc = false;
	int at = 1;

	for (; at < argc - 1; at++) {
		if (strcmp(argv[at], "--crc") == 0)
			with_crc = true;
		else if (strcmp(argv[at], "--flows") == 0 && at + 2 < argc)
			flows = (uint32_t)strtoul(argv[++at], NULL, 10);
		else
			break;
	}
	if (at != argc - 1 || flows == 0) {
		fputs("usage: bench_bare_loop [--crc] [--flows MOST] FILE\n", stderr);
		return 2;
	}
	return run(argv[at], flows, with_crc);
}
