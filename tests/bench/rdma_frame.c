#include "rdma_frame.h"

#include <string.h>

#include <isa-l.h>

enum {
	ETHERNET = 14,
	LRH = 8,
	IPV4 = 20,
	UDP = 8,
	BTH = 12,
	RETH = 16,
	AETH = 4,
	IMMDT = 4,
	ICRC = 4,
};

uint64_t mixed(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static uint8_t *put16(uint8_t *b, uint32_t value)
{
	b[0] = (uint8_t)(value >> 8);
	b[1] = (uint8_t)value;
	return b + 2;
}

static uint8_t *put24(uint8_t *b, uint32_t value)
{
	b[0] = (uint8_t)(value >> 16);
	return put16(b + 1, value);
}

static uint8_t *put32(uint8_t *b, uint32_t value)
{
	return put16(put16(b, value >> 16), value);
}

static bool has_reth(enum opcode opcode)
{
	return opcode == WRITE_FIRST || opcode == WRITE_ONLY || opcode == WRITE_ONLY_IMM ||
	       opcode == READ_REQUEST;
}

static bool has_aeth(enum opcode opcode)
{
	return opcode == READ_FIRST || opcode == READ_LAST || opcode == READ_ONLY ||
	       opcode == ACKNOWLEDGE;
}

static bool has_immdt(enum opcode opcode)
{
	return opcode == WRITE_LAST_IMM || opcode == WRITE_ONLY_IMM;
}

static bool has_payload(enum opcode opcode)
{
	return opcode != READ_REQUEST && opcode != ACKNOWLEDGE;
}

static uint32_t size_of_headers(enum opcode opcode)
{
	uint32_t size = BTH;

	if (has_reth(opcode))
		size += RETH;
	if (has_aeth(opcode))
		size += AETH;
	if (has_immdt(opcode))
		size += IMMDT;
	return size;
}

static uint16_t ip_checksum(const uint8_t *ip)
{
	uint32_t sum = 0;

	for (int i = 0; i < IPV4; i += 2)
		sum += (uint32_t)(ip[i] << 8 | ip[i + 1]);
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/* IBA vol. 1, 9.3.1: CRC-32 over eight ones, the IP header and what follows; fields that change on the way are ones. */
static uint32_t roce_icrc(const uint8_t *ip, uint32_t size)
{
	uint8_t head[8 + IPV4 + UDP + BTH];
	uint8_t *masked = head + 8;

	memset(head, 0xff, 8);
	memcpy(masked, ip, IPV4 + UDP + BTH);
	masked[1] = masked[8] = masked[10] = masked[11] = 0xff;
	masked[IPV4 + 6] = masked[IPV4 + 7] = 0xff;
	masked[IPV4 + UDP + 4] = 0xff;
	return crc32_gzip_refl(crc32_gzip_refl(0, head, sizeof head), ip + IPV4 + UDP + BTH,
			       size - IPV4 - UDP - BTH);
}

/* The same of an LRH, which stands where the eight ones do, and what follows it. */
static uint32_t native_icrc(const uint8_t *lrh, uint32_t size)
{
	uint8_t head[LRH + BTH];

	memcpy(head, lrh, sizeof head);
	head[0] |= 0xf0;
	head[LRH + 4] = 0xff;
	return crc32_gzip_refl(crc32_gzip_refl(0, head, sizeof head), lrh + LRH + BTH,
			       size - LRH - BTH);
}

struct ends ends_of(const struct site *site, uint32_t flow)
{
	uint64_t random = mixed(0x5eed000000000000u + flow / 2);
	uint32_t partition = (uint32_t)(random % site->partitions);
	uint32_t first = (uint32_t)(random >> 16) % site->members;
	uint32_t second =
		(first + 1 + (uint32_t)(random >> 36) % (site->members - 1)) % site->members;

	return (struct ends){
		.from = site_node(site, partition, flow % 2 == 0 ? first : second),
		.to = site_node(site, partition, flow % 2 == 0 ? second : first),
		.partition = partition,
		.dest_qp = FIRST_QP + (flow ^ 1),
		.port = (uint16_t)(0xc000 | random >> 50),
		.native = site->native,
	};
}

/* `size`: BTH to ICRC. */
static uint8_t *put_roce_headers(uint8_t *b, const struct ends *ends, const struct packet *packet,
				 uint32_t size)
{
	uint8_t *ip = b + ETHERNET;
	uint32_t ip_size = IPV4 + UDP + size;
	uint32_t class = 26 << 2 | (packet->marked ? 3 : 2); /* DSCP 26, CE or ECT(0) */

	site_mac(ends->to, b);
	site_mac(ends->from, b + 6);
	put16(b + 12, 0x0800);
	put32(ip, 0x45000000 | class << 16 | ip_size);
	put32(ip + 4, packet->ip_id << 16 | 0x4000); /* do not fragment */
	put32(ip + 8, 0x40110000);
	put32(ip + 12, site_ip(ends->from));
	put32(ip + 16, site_ip(ends->to));
	put16(ip + 10, ip_checksum(ip));
	b = put16(ip + IPV4, ends->port);
	b = put16(b, 4791);
	b = put16(b, ip_size - IPV4);
	return put16(b, 0);
}

static uint8_t *put_native_headers(uint8_t *b, const struct ends *ends, uint32_t size)
{
	b = put16(b, 0x0002); /* VL, version and SL 0; behind it a BTH */
	b = put16(b, site_lid(ends->to));
	b = put16(b, (LRH + size) / 4);
	return put16(b, site_lid(ends->from));
}

/* Extended headers, as far as the packet has them. */
static uint8_t *put_extension(uint8_t *b, const struct packet *packet)
{
	if (has_reth(packet->opcode)) {
		b = put32(put32(b, (uint32_t)(packet->va >> 32)), (uint32_t)packet->va);
		b = put32(put32(b, packet->rkey), packet->length);
	}
	if (has_aeth(packet->opcode)) {
		*b++ = 0x1f; /* ACK without credit information */
		b = put24(b, packet->msn);
	}
	return has_immdt(packet->opcode) ? put32(b, packet->immediate) : b;
}

uint32_t rdma_frame(const struct ends *ends, const struct packet *packet, uint8_t frame[FRAME_MAX])
{
	uint32_t payload = has_payload(packet->opcode) ? packet->payload_size : 0;
	uint32_t size = size_of_headers(packet->opcode) + payload;
	uint8_t *b = ends->native ? put_native_headers(frame, ends, size + ICRC)
				  : put_roce_headers(frame, ends, packet, size + ICRC);
	uint32_t lower = (uint32_t)(b - frame), icrc;

	b = put16(b, (uint32_t)packet->opcode << 8 | 0x40); /* MigReq as adapters set it */
	b = put16(b, 0x8000u | site_base(ends->partition));
	b = put32(b, ends->dest_qp);
	b = put32(b, (packet->ack_request ? 0x80000000 : 0) | (packet->psn & 0xffffff));
	b = put_extension(b, packet);
	if (payload > 0) {
		memcpy(b, packet->payload, payload);
		if (packet->stamped)
			put32(b, packet->psn & 0xffffff);
		b += payload;
	}
	icrc = ends->native ? native_icrc(frame, lower + size)
			    : roce_icrc(frame + ETHERNET, lower - ETHERNET + size);
	for (int i = 0; i < ICRC; i++)
		*b++ = (uint8_t)(icrc >> 8 * i);
	return lower + size + ICRC;
}

/* Ethernet and IPv4 of nobody, to nobody, around so many bytes; returns where they go. */
static uint8_t *put_outer(uint8_t *b, uint8_t protocol, uint32_t size)
{
	uint8_t *ip = b + ETHERNET;

	memset(b, 0, ETHERNET + IPV4);
	b[0] = b[6] = 0x02;
	b[5] = 1;
	put16(b + 12, 0x0800);
	put32(ip, 0x45000000 | (IPV4 + size));
	put32(ip + 4, 0x4000); /* do not fragment */
	put32(ip + 8, 0x40000000 | (uint32_t)protocol << 16);
	put32(ip + 12, 0xc0a80001);
	put32(ip + 16, 0xc0a80002);
	put16(ip + 10, ip_checksum(ip));
	return ip + IPV4;
}

uint32_t mirrored_frame(const uint8_t *frame, uint32_t size, uint32_t number,
			uint8_t mirrored[MIRROR_HEADERS + FRAME_MAX])
{
	uint8_t *b = put_outer(mirrored, 47, MIRROR_HEADERS - ETHERNET - IPV4 + size);

	b = put32(b, 0x100088be);
	b = put32(b, number);
	b = put32(b, 0x10000007); /* version 1, session 7 */
	memcpy(put32(b, 0), frame, size);
	return MIRROR_HEADERS + size;
}

uint32_t overlay_frame(const struct ends *ends, const uint8_t *frame, uint32_t size,
		       uint8_t carried[OVERLAY_HEADERS + FRAME_MAX])
{
	uint32_t inside = OVERLAY_HEADERS - ETHERNET - IPV4 + size;
	uint8_t *b = put_outer(carried, 17, inside);

	b = put16(b, ends->port);
	b = put16(b, 4789);
	b = put32(b, inside << 16);
	b = put32(b, 0x08000000);
	memcpy(put32(b, (5000 + ends->partition) << 8), frame, size);
	return OVERLAY_HEADERS + size;
}
