#include "traffic.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <isa-l.h>

enum {
	RUN = 4, /* frames of one half-connection in a row */
	READ_PACKETS = 3,
	FIRST_QP = 256,
	ETHERNET = 14,
	IPV4 = 20,
	UDP = 8,
	BTH = 12,
	RETH = 16,
	AETH = 4,
	ICRC = 4,
	BEFORE_BTH = ETHERNET + IPV4 + UDP,
	FRAME_MAX = BEFORE_BTH + BTH + RETH + AETH + 4096 + ICRC,
	START_S = 1795219200, /* 2026-11-21T00:00:00Z, when the maps of the bench are in force */
	FRAME_GAP_NS = 100,
};

enum opcode {
	WRITE_FIRST = 0x06,
	WRITE_MIDDLE = 0x07,
	WRITE_LAST = 0x08,
	WRITE_ONLY = 0x0a,
	READ_REQUEST = 0x0c,
	READ_FIRST = 0x0d,
	READ_MIDDLE = 0x0e,
	READ_LAST = 0x0f,
	READ_ONLY = 0x10,
	ACKNOWLEDGE = 0x11,
};

/* What one side of a connection has sent so far. */
struct half {
	uint32_t psn;      /* of its next request */
	uint32_t messages; /* requests it has completed: the peer's MSN */
	uint32_t answered; /* PSN behind the last of its requests that the peer has answered */
	uint32_t read_psn, read_msn; /* of its request that the peer has to answer with data */
	bool reading;
};

struct packet {
	enum opcode opcode;
	uint32_t psn;
	uint32_t length; /* RETH */
	uint32_t msn;    /* AETH */
};

struct writer {
	FILE *file;
	const struct traffic *traffic;
	struct half *halves;
	uint64_t written, random;
	uint8_t payload[2 * 4096];
};

static uint64_t mixed(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static uint64_t next_random(struct writer *writer)
{
	return mixed(writer->random++);
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
	return opcode == WRITE_FIRST || opcode == WRITE_ONLY || opcode == READ_REQUEST;
}

static bool has_aeth(enum opcode opcode)
{
	return opcode == READ_FIRST || opcode == READ_LAST || opcode == READ_ONLY ||
	       opcode == ACKNOWLEDGE;
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
static uint32_t icrc_of(const uint8_t *ip, uint32_t size)
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

struct ends {
	uint32_t from, to; /* nodes */
	uint32_t partition;
	uint16_t port;
};

/* Half-connections 2n and 2n + 1 are the two directions of connection n. */
static struct ends ends_of(const struct site *site, uint32_t flow)
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
		.port = (uint16_t)(0xc000 | random >> 50),
	};
}

static uint8_t *put_lower_headers(uint8_t *b, const struct ends *ends, uint32_t ip_size,
				  uint32_t psn)
{
	uint8_t *ip = b + ETHERNET;

	site_mac(ends->to, b);
	site_mac(ends->from, b + 6);
	put16(b + 12, 0x0800);
	put32(ip, 0x45680000 | ip_size);   /* DSCP 26, ECT(0) */
	put32(ip + 4, psn << 16 | 0x4000); /* do not fragment */
	put32(ip + 8, 0x40110000);
	put32(ip + 12, site_ip(ends->from));
	put32(ip + 16, site_ip(ends->to));
	put16(ip + 10, ip_checksum(ip));
	b = put16(ip + IPV4, ends->port);
	b = put16(b, 4791);
	b = put16(b, ip_size - IPV4);
	return put16(b, 0);
}

/* The bytes of a frame, whole; returns their number. */
static uint32_t build(const struct writer *writer, uint32_t flow, const struct packet *packet,
		      uint8_t *frame)
{
	struct ends ends = ends_of(writer->traffic->site, flow);
	uint32_t payload = has_payload(packet->opcode) ? writer->traffic->payload : 0;
	uint32_t size = size_of_headers(packet->opcode) + payload;
	uint8_t *b = put_lower_headers(frame, &ends, IPV4 + UDP + size + ICRC, packet->psn);
	uint32_t icrc;

	b = put16(b, (uint32_t)packet->opcode << 8 | 0x40); /* MigReq as adapters set it */
	b = put16(b, 0x8000u | site_base(ends.partition));
	b = put32(b, FIRST_QP + (flow ^ 1));
	b = put32(b, (packet->opcode == WRITE_LAST ? 0x80000000 : 0) | (packet->psn & 0xffffff));
	if (has_reth(packet->opcode)) {
		b = put32(put32(b, 0x7f00 + flow), packet->psn << 12);
		b = put32(put32(b, 0x1000 + flow), packet->length);
	}
	if (has_aeth(packet->opcode)) {
		*b++ = 0x1f; /* ACK without credit information */
		b = put24(b, packet->msn);
	}
	memcpy(b, writer->payload + (packet->psn * 64 & 4095), payload);
	b += payload;
	icrc = icrc_of(frame + ETHERNET, IPV4 + UDP + size);
	for (int i = 0; i < ICRC; i++)
		*b++ = (uint8_t)(icrc >> 8 * i);
	return BEFORE_BTH + size + ICRC;
}

static void put_record(struct writer *writer, const uint8_t *frame, uint32_t size)
{
	uint32_t slice = writer->traffic->slice;
	uint64_t ns = writer->written * FRAME_GAP_NS;
	uint32_t kept = slice != 0 && slice < size ? slice : size;
	uint32_t record[4] = { (uint32_t)(START_S + ns / 1000000000), (uint32_t)(ns % 1000000000),
			       kept, size };

	fwrite(record, sizeof record, 1, writer->file);
	fwrite(frame, kept, 1, writer->file);
	writer->written++;
}

static void send(struct writer *writer, uint32_t flow, const struct packet *packet)
{
	uint8_t frame[FRAME_MAX];

	if (writer->written < writer->traffic->frames)
		put_record(writer, frame, build(writer, flow, packet, frame));
}

static void send_request(struct writer *writer, uint32_t flow, enum opcode opcode, uint32_t length,
			 uint32_t psns)
{
	struct half *half = &writer->halves[flow];

	send(writer, flow,
	     &(struct packet){ .opcode = opcode, .psn = half->psn, .length = length });
	half->psn += psns;
	half->messages += opcode != WRITE_FIRST && opcode != WRITE_MIDDLE;
}

static void send_write(struct writer *writer, uint32_t flow)
{
	send_request(writer, flow, WRITE_ONLY, writer->traffic->payload, 1);
}

/* Only packets of exactly one MTU may stand in the middle of a message. */
static bool is_mtu(uint32_t payload)
{
	return payload >= 256;
}

static void send_read_answer(struct writer *writer, uint32_t flow)
{
	static const enum opcode opcodes[READ_PACKETS] = { READ_FIRST, READ_MIDDLE, READ_LAST };
	struct half *peer = &writer->halves[flow ^ 1];
	uint32_t packets = is_mtu(writer->traffic->payload) ? READ_PACKETS : 1;

	for (uint32_t i = 0; i < packets; i++)
		send(writer, flow,
		     &(struct packet){ .opcode = packets == 1 ? READ_ONLY : opcodes[i],
				       .psn = peer->read_psn + i,
				       .msn = peer->read_msn });
	peer->reading = false;
	peer->answered = peer->read_psn + packets;
}

static void send_read(struct writer *writer, uint32_t flow)
{
	struct half *half = &writer->halves[flow];
	uint32_t packets = is_mtu(writer->traffic->payload) ? READ_PACKETS : 1;

	half->reading = true;
	half->read_psn = half->psn;
	send_request(writer, flow, READ_REQUEST, packets * writer->traffic->payload, packets);
	half->read_msn = half->messages;
}

/* What the peer has waited for, if anything; returns frames sent. */
static uint32_t send_answer(struct writer *writer, uint32_t flow)
{
	struct half *peer = &writer->halves[flow ^ 1];

	if (peer->reading) {
		send_read_answer(writer, flow);
		return is_mtu(writer->traffic->payload) ? READ_PACKETS : 1;
	}
	if (peer->answered == peer->psn)
		return 0;
	peer->answered = peer->psn;
	send(writer, flow,
	     &(struct packet){
		     .opcode = ACKNOWLEDGE, .psn = peer->psn - 1, .msn = peer->messages });
	return 1;
}

/* One answer if one is due, then writes: half of them of several packets, and one run in eight with a read. */
static void send_run(struct writer *writer, uint32_t flow, unsigned choice)
{
	uint32_t sent = send_answer(writer, flow);

	if (choice == 0 && !writer->halves[flow].reading && sent < RUN) {
		send_read(writer, flow);
		sent++;
	}
	if (choice % 2 == 1 && is_mtu(writer->traffic->payload) && sent <= RUN - 3) {
		send_request(writer, flow, WRITE_FIRST, 3 * writer->traffic->payload, 1);
		send_request(writer, flow, WRITE_MIDDLE, 0, 1);
		send_request(writer, flow, WRITE_LAST, 0, 1);
		sent += 3;
	}
	for (; sent < RUN; sent++)
		send_write(writer, flow);
}

static void put_file_header(FILE *file)
{
	const uint32_t header[6] = { 0xa1b23c4d, 4 << 16 | 2, 0, 0, 262144, 1 };

	fwrite(header, sizeof header, 1, file);
}

static void start_halves(struct writer *writer)
{
	for (uint32_t flow = 0; flow < writer->traffic->flows; flow++) {
		uint32_t psn = (uint32_t)mixed(flow) & 0xffffff;

		writer->halves[flow] = (struct half){ .psn = psn, .answered = psn };
	}
	for (size_t i = 0; i < sizeof writer->payload; i++)
		writer->payload[i] = (uint8_t)mixed(i);
}

int traffic_write(FILE *file, const struct traffic *traffic)
{
	struct writer *writer = calloc(1, sizeof *writer);
	int error = 0;

	if (writer == NULL)
		return -ENOMEM;
	*writer = (struct writer){ .file = file, .traffic = traffic };
	writer->halves = calloc(traffic->flows, sizeof *writer->halves);
	if (writer->halves == NULL) {
		free(writer);
		return -ENOMEM;
	}
	start_halves(writer);
	put_file_header(file);
	while (writer->written < traffic->frames && !ferror(file)) {
		uint64_t random = next_random(writer);

		send_run(writer, (uint32_t)(random % traffic->flows), (unsigned)(random >> 61));
	}
	if (ferror(file) || fflush(file) != 0)
		error = -EIO;
	free(writer->halves);
	free(writer);
	return error;
}
