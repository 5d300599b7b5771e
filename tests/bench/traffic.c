#include "traffic.h"

#include <errno.h>
#include <stdlib.h>

#include "pcap_file.h"
#include "rdma_frame.h"

enum {
	RUN = 4, /* frames of one half-connection in a row */
	READ_PACKETS = 3,
	ANSWER_DELAY = 64, /* runs until the other direction has its own .. */
	/* .. in a day, where they are tenths of a second apart and nobody waits for long */
	ANSWER_DELAY_DAY = 2,
	FRAME_GAP_NS = 100,
	LIVES_PER_DAY = 144,
	NO_FLOW = -1,
};

#define DAY_NS UINT64_C(86400000000000)

/* What one side of a connection has sent so far. */
struct half {
	uint32_t psn;      /* of its next request */
	uint32_t messages; /* requests it has completed: the peer's MSN */
	uint32_t answered; /* PSN behind the last of its requests that the peer has answered */
	uint32_t read_psn, read_msn; /* of its request that the peer has to answer with data */
	bool reading;
	uint32_t sent; /* frames, of any kind */
	uint32_t flow; /* whose state this is */
};

struct writer {
	FILE *file;
	const struct traffic *traffic;
	struct half *halves; /* of the flows alive: flow % traffic->flows */
	uint64_t made, lost;
	uint64_t runs;
	int64_t waiting[ANSWER_DELAY]; /* flows whose peers have a run to come */
	uint64_t random, mirror_random;
	uint32_t losing; /* frames of the current burst still to lose */
	uint8_t payload[2 * PAYLOAD_MAX];
};

static struct half *half_of(struct writer *writer, uint32_t flow)
{
	return &writer->halves[flow % writer->traffic->flows];
}

static uint64_t now_ns(const struct writer *writer)
{
	const struct traffic *traffic = writer->traffic;

	return traffic->day == 0
		       ? writer->made * FRAME_GAP_NS
		       : (uint64_t)((double)writer->made / (double)traffic->day * (double)DAY_NS);
}

/* Bursts of equal length, with gaps between them that know nothing of each other. */
static bool loses(struct writer *writer)
{
	double loss = writer->traffic->loss, burst = writer->traffic->burst;
	double chance = loss / (loss + burst * (1 - loss));

	if (loss == 0)
		return false;
	if (writer->losing == 0 &&
	    (double)(mixed(writer->mirror_random++) >> 11) * 0x1p-53 < chance)
		writer->losing = writer->traffic->burst;
	if (writer->losing == 0)
		return false;
	writer->losing--;
	return true;
}

/* As a switch sends it on, which cuts it, too. */
static void put_mirrored(const struct writer *writer, const uint8_t *frame, uint32_t size)
{
	const uint32_t slice = writer->traffic->slice;
	uint8_t mirrored[MIRROR_HEADERS + FRAME_MAX];

	size = mirrored_frame(frame, slice != 0 && slice < size ? slice : size,
			      (uint32_t)writer->made, mirrored);
	pcap_put(writer->file, now_ns(writer), mirrored, size, 0);
}

static void put_carried(const struct writer *writer, const struct ends *ends, const uint8_t *frame,
			uint32_t size)
{
	const uint32_t slice = writer->traffic->slice;
	uint8_t carried[OVERLAY_HEADERS + FRAME_MAX];

	size = overlay_frame(ends, frame, size, carried);
	pcap_put(writer->file, now_ns(writer), carried, size,
		 slice != 0 ? OVERLAY_HEADERS + slice : 0);
}

static void put(const struct writer *writer, const struct ends *ends, const uint8_t *frame,
		uint32_t size)
{
	const struct traffic *traffic = writer->traffic;

	if (traffic->mirrored)
		put_mirrored(writer, frame, size);
	else if (traffic->overlay)
		put_carried(writer, ends, frame, size);
	else
		pcap_put(writer->file, now_ns(writer), frame, size, traffic->slice);
}

static void send(struct writer *writer, uint32_t flow, struct packet packet)
{
	const struct traffic *traffic = writer->traffic;
	const struct ends ends = ends_of(traffic->site, flow);
	uint8_t frame[FRAME_MAX];
	uint32_t size;

	if (writer->made == traffic->frames)
		return;
	packet.ip_id = half_of(writer, flow)->sent++;
	packet.ack_request = packet.opcode == WRITE_LAST;
	packet.va = (uint64_t)(0x7f00 + flow) << 32 | packet.psn << 12;
	packet.rkey = 0x1000 + flow;
	packet.payload = writer->payload + (packet.psn * 64 & (PAYLOAD_MAX - 1));
	packet.payload_size = traffic->payload;
	packet.stamped = true;
	size = rdma_frame(&ends, &packet, frame);
	frame[size - 1] ^= traffic->damaged ? 0xff : 0;
	if (loses(writer))
		writer->lost++;
	else
		put(writer, &ends, frame, size);
	writer->made++;
}

static void send_request(struct writer *writer, uint32_t flow, enum opcode opcode, uint32_t length,
			 uint32_t psns)
{
	struct half *half = half_of(writer, flow);

	send(writer, flow, (struct packet){ .opcode = opcode, .psn = half->psn, .length = length });
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

static uint32_t read_packets(const struct writer *writer)
{
	return is_mtu(writer->traffic->payload) ? READ_PACKETS : 1;
}

static void send_read_answer(struct writer *writer, uint32_t flow)
{
	static const enum opcode opcodes[READ_PACKETS] = { READ_FIRST, READ_MIDDLE, READ_LAST };
	struct half *peer = half_of(writer, flow ^ 1);
	uint32_t packets = read_packets(writer);

	for (uint32_t i = 0; i < packets; i++)
		send(writer, flow,
		     (struct packet){ .opcode = packets == 1 ? READ_ONLY : opcodes[i],
				      .psn = peer->read_psn + i,
				      .msn = peer->read_msn });
	peer->reading = false;
	peer->answered = peer->read_psn + packets;
}

static void send_read(struct writer *writer, uint32_t flow)
{
	struct half *half = half_of(writer, flow);
	uint32_t packets = read_packets(writer);

	half->reading = true;
	half->read_psn = half->psn;
	send_request(writer, flow, READ_REQUEST, packets * writer->traffic->payload, packets);
	half->read_msn = half->messages;
}

/* What the peer has waited for, if anything; returns frames sent. */
static uint32_t send_answer(struct writer *writer, uint32_t flow)
{
	struct half *peer = half_of(writer, flow ^ 1);
	uint32_t sent = 0;

	if (peer->reading) {
		send_read_answer(writer, flow);
		sent = read_packets(writer);
	}
	if (peer->answered == peer->psn)
		return sent;
	peer->answered = peer->psn;
	send(writer, flow,
	     (struct packet){ .opcode = ACKNOWLEDGE, .psn = peer->psn - 1, .msn = peer->messages });
	return sent + 1;
}

/* One answer if one is due, then writes: half of them of several packets, and one run in eight with a read. */
static void send_run(struct writer *writer, uint32_t flow)
{
	unsigned choice = (unsigned)(mixed(writer->random++) >> 61);
	uint32_t sent = send_answer(writer, flow);

	if (choice == 0 && !half_of(writer, flow)->reading && sent < RUN) {
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

static void start_half(struct writer *writer, uint32_t flow)
{
	uint32_t psn = (uint32_t)mixed(flow) & 0xffffff;

	*half_of(writer, flow) = (struct half){ .psn = psn, .answered = psn, .flow = flow };
}

/* The first flow that is alive; each lives for a LIVES_PER_DAYth of a day. */
static uint32_t first_alive(const struct writer *writer)
{
	const struct traffic *traffic = writer->traffic;
	uint64_t connections = traffic->flows / 2;

	if (traffic->day == 0)
		return 0;
	return (uint32_t)(2 * (connections * LIVES_PER_DAY * writer->made / traffic->day));
}

static uint32_t choose_flow(struct writer *writer)
{
	uint32_t flows = writer->traffic->flows, first = first_alive(writer);
	uint32_t flow = first + (uint32_t)(mixed(writer->random++) % flows);

	if (writer->traffic->in_turn)
		flow = first + (uint32_t)(2 * writer->runs % flows);
	if (half_of(writer, flow)->flow != flow) {
		start_half(writer, flow & ~1u);
		start_half(writer, flow | 1);
	}
	return flow;
}

/* A run, and the run that answers an earlier one; in a day the answers alone, for its requests would wait for minutes. */
static void send_runs(struct writer *writer)
{
	uint32_t flow = choose_flow(writer);
	bool day = writer->traffic->day != 0;
	uint64_t delay = day ? ANSWER_DELAY_DAY : ANSWER_DELAY;
	int64_t *waiting = &writer->waiting[writer->runs++ % delay];
	uint32_t answering = (uint32_t)*waiting ^ 1;

	if (*waiting != NO_FLOW && half_of(writer, answering)->flow == answering) {
		if (day)
			send_answer(writer, answering);
		else
			send_run(writer, answering);
	}
	*waiting = flow;
	send_run(writer, flow);
}

static void start(struct writer *writer, FILE *file, const struct traffic *traffic)
{
	*writer = (struct writer){ .file = file, .traffic = traffic, .mirror_random = 1u << 30 };
	for (size_t i = 0; i < sizeof writer->payload; i++)
		writer->payload[i] = (uint8_t)mixed(i);
	for (int i = 0; i < ANSWER_DELAY; i++)
		writer->waiting[i] = NO_FLOW;
}

int traffic_write(FILE *file, const struct traffic *traffic, uint64_t *lost)
{
	struct writer *writer = malloc(sizeof *writer);
	int error = 0;

	if (writer == NULL)
		return -ENOMEM;
	start(writer, file, traffic);
	writer->halves = calloc(traffic->flows, sizeof *writer->halves);
	if (writer->halves == NULL) {
		free(writer);
		return -ENOMEM;
	}
	for (uint32_t flow = 0; flow < traffic->flows; flow++)
		start_half(writer, flow);
	pcap_begin(file, traffic->site);
	while (writer->made < traffic->frames && !ferror(file))
		send_runs(writer);
	if (ferror(file) || fflush(file) != 0)
		error = -EIO;
	*lost = writer->lost;
	free(writer->halves);
	free(writer);
	return error;
}
