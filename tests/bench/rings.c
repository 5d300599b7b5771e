#include "rings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pcap_file.h"
#include "rdma_frame.h"

enum {
	RUN = 4,
	FRAME_GAP_NS = 100,
	MTU = 4096,
	STEPS = 8, /* of a buffer */

	CTS_BYTES = 64,
	CTS_SLOTS = 256,
	CTS_STRIDE = 512,
};

/* What the protocols differ in: NCCL's defaults for rings. */
static const struct protocol {
	uint32_t message; /* bytes */
	uint32_t offered; /* by a clear-to-send */
	uint32_t buffer;  /* its place in the receive buffer */
	uint32_t step;    /* bytes */
	uint32_t steps;   /* of a message */
} protocols[] = {
	{ .message = 524288, .offered = 1048576, .buffer = 0x530000, .step = 0x80000, .steps = 2 },
	{ .message = 32768, .offered = 65536, .buffer = 0, .step = 0x10000, .steps = 1 },
};

/* What one side of a connection has sent. */
struct side {
	struct ends ends;
	uint32_t psn;       /* of its next request */
	uint32_t completed; /* requests: the peer's MSN */
	uint32_t answered;  /* of these, by the peer */
	uint32_t frames;
};

enum { QUEUE_PAIRS_MOST = 8 };

struct queue_pair {
	struct side sender, receiver;
	uint32_t packets; /* of the message under way */
};

/* Clear-to-sends go over the first queue pair. */
struct connection {
	struct queue_pair queue_pairs[QUEUE_PAIRS_MOST];
};

struct writer {
	FILE *file;
	const struct rings *rings;
	const struct protocol *protocol;
	struct connection *connections;
	uint64_t made;
	uint8_t payload[MTU];
};

/* Little-endian, as NCCL's hosts write. */
static void put_le32(uint8_t *b, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		b[i] = (uint8_t)(value >> 8 * i);
}

static void put_le64(uint8_t *b, uint64_t value)
{
	put_le32(b, (uint32_t)value);
	put_le32(b + 4, (uint32_t)(value >> 32));
}

static void send(struct writer *writer, struct side *side, struct packet packet)
{
	uint8_t frame[FRAME_MAX];

	if (writer->made == writer->rings->frames)
		return;
	packet.ip_id = side->frames++;
	packet.marked = writer->rings->marked;
	pcap_put(writer->file, writer->made * FRAME_GAP_NS, frame,
		 rdma_frame(&side->ends, &packet, frame), writer->rings->slice);
	writer->made++;
}

/* --- the receiver --- */

static uint64_t buffer_of(const struct writer *writer, const struct connection *connection,
			  uint32_t message)
{
	const struct protocol *protocol = writer->protocol;
	uint64_t number = (uint64_t)(connection - writer->connections);
	uint32_t step = message * protocol->steps % STEPS;

	return UINT64_C(0x7f3a00000000) + number * 0x1000000 + protocol->buffer +
	       step * protocol->step;
}

static uint32_t buffer_key(const struct writer *writer, const struct connection *connection)
{
	return 0x180000 + (uint32_t)(connection - writer->connections);
}

static uint32_t rank_of(const struct writer *writer, const struct connection *connection)
{
	return (uint32_t)(connection - writer->connections) % writer->rings->ranks;
}

/* One entry of 64 bytes, its number from 1. */
static void send_cts(struct writer *writer, struct connection *connection)
{
	struct side *receiver = &connection->queue_pairs[0].receiver;
	uint64_t number = (uint64_t)(connection - writer->connections);
	uint64_t fifo = UINT64_C(0x7f1000000180) + number * 0x100000;
	uint32_t k = receiver->completed;
	uint8_t entry[CTS_BYTES] = { 0 };

	put_le64(entry, buffer_of(writer, connection, k));
	put_le64(entry + 8, writer->protocol->offered);
	put_le32(entry + 16, buffer_key(writer, connection));
	put_le32(entry + 32, 1);
	put_le32(entry + 36, rank_of(writer, connection));
	put_le64(entry + 40, (uint64_t)k + 1);
	send(writer, receiver,
	     (struct packet){
		     .opcode = WRITE_ONLY,
		     .ack_request = true,
		     .psn = receiver->psn++,
		     .va = fifo + k % CTS_SLOTS * CTS_STRIDE,
		     .rkey = 0x200000 + (uint32_t)number,
		     .length = CTS_BYTES,
		     .payload = entry,
		     .payload_size = CTS_BYTES,
	     });
	receiver->completed++;
}

/* --- the sender --- */

/* LL: eight bytes of data to a line of sixteen, and the number of the step twice. */
static void set_flags(struct writer *writer, uint32_t message)
{
	for (uint32_t line = 0; line < MTU; line += 16) {
		put_le32(writer->payload + line + 4, message + 1);
		put_le32(writer->payload + line + 12, message + 1);
	}
}

static uint32_t swapped(uint32_t value)
{
	return value << 24 | (value & 0xff00) << 8 | (value >> 8 & 0xff00) | value >> 24;
}

/* What a queue pair has of each message that it carries. */
static uint32_t part_of(const struct writer *writer)
{
	return writer->protocol->message / (writer->rings->split ? writer->rings->queue_pairs : 1);
}

/* The message that the queue pair carries next. */
static uint32_t next_of(const struct writer *writer, const struct connection *connection,
			uint32_t number)
{
	uint32_t completed = connection->queue_pairs[number].sender.completed;

	return writer->rings->split ? completed : completed * writer->rings->queue_pairs + number;
}

static enum opcode opcode_of(bool first, bool last)
{
	if (first)
		return last ? WRITE_ONLY_IMM : WRITE_FIRST;
	return last ? WRITE_LAST_IMM : WRITE_MIDDLE;
}

/* One packet of the message under way. */
static void send_part(struct writer *writer, struct connection *connection, uint32_t number)
{
	struct queue_pair *queue_pair = &connection->queue_pairs[number];
	struct side *sender = &queue_pair->sender;
	uint32_t length = part_of(writer), message = next_of(writer, connection, number);
	bool first = queue_pair->packets == 0, last = ++queue_pair->packets == length / MTU;

	if (writer->rings->ll)
		set_flags(writer, message);
	send(writer, sender,
	     (struct packet){
		     .opcode = opcode_of(first, last),
		     .ack_request = last,
		     .psn = sender->psn++,
		     .va = buffer_of(writer, connection, message) +
			   (writer->rings->split ? number * length : 0),
		     .rkey = buffer_key(writer, connection),
		     .length = length,
		     .immediate = swapped(writer->protocol->message),
		     .payload = writer->payload,
		     .payload_size = MTU,
	     });
	if (!last)
		return;
	queue_pair->packets = 0;
	sender->completed++;
}

/* --- both --- */

static void acknowledge(struct writer *writer, struct side *side, struct side *peer)
{
	if (peer->answered == peer->completed)
		return;
	peer->answered = peer->completed;
	send(writer, side,
	     (struct packet){
		     .opcode = ACKNOWLEDGE, .psn = peer->psn - 1, .msn = peer->completed });
}

/* Messages that have come whole, up to the first that has not. */
static uint32_t done_of(const struct writer *writer, const struct connection *connection)
{
	uint32_t done = next_of(writer, connection, 0);

	for (uint32_t i = 1; i < writer->rings->queue_pairs; i++) {
		uint32_t next = next_of(writer, connection, i);

		done = next < done ? next : done;
	}
	return done;
}

/* So many clear-to-sends ahead as the steps of the buffer allow. */
static void run_receiver(struct writer *writer, struct connection *connection, uint32_t number)
{
	struct queue_pair *queue_pair = &connection->queue_pairs[number];
	uint32_t most = done_of(writer, connection) + STEPS / writer->protocol->steps;

	if (queue_pair->packets == 0)
		acknowledge(writer, &queue_pair->receiver, &queue_pair->sender);
	for (int i = 0; number == 0 && i < RUN && queue_pair->receiver.completed < most; i++)
		send_cts(writer, connection);
}

static void run_sender(struct writer *writer, struct connection *connection, uint32_t number)
{
	struct queue_pair *queue_pair = &connection->queue_pairs[number];
	uint32_t asked = connection->queue_pairs[0].receiver.completed;

	acknowledge(writer, &queue_pair->sender, &queue_pair->receiver);
	for (int i = 0; i < RUN && next_of(writer, connection, number) < asked; i++)
		send_part(writer, connection, number);
}

/* NCCL leaves the flow label 0: then Linux makes the port of both queue pairs. */
static uint16_t port_of(uint32_t qp, uint32_t other)
{
	uint64_t label = (uint64_t)qp * other;

	label ^= label >> 20;
	label ^= label >> 40;
	label &= 0xfffff;
	return (uint16_t)(0xc000 | ((label & 0x3fff) ^ label >> 14));
}

/* Connections are numbered by ring, channel and rank of the sender. Rings of a partition lie side by side. */
static void connect(const struct rings *rings, uint32_t number, struct connection *connection)
{
	const struct site *site = rings->site;
	uint32_t ring = number / (rings->ranks * rings->channels), rank = number % rings->ranks;
	uint32_t partition = ring % site->partitions, next = (rank + 1) % rings->ranks;
	uint32_t start = ring / site->partitions * rings->ranks;
	uint32_t from = site_node(site, partition, (start + rank) % site->members);
	uint32_t to = site_node(site, partition, (start + next) % site->members);

	for (uint32_t i = 0; i < rings->queue_pairs; i++) {
		uint32_t qp = FIRST_QP + 2 * (number * rings->queue_pairs + i), peer = qp + 1;
		uint16_t port = port_of(qp, peer);

		connection->queue_pairs[i] = (struct queue_pair){
			.sender.ends = { from, to, partition, peer, port, site->native },
			.receiver.ends = { to, from, partition, qp, port, site->native },
		};
	}
}

static void run(struct writer *writer)
{
	uint32_t queue_pairs = writer->rings->queue_pairs;
	uint32_t count = (uint32_t)rings_connections(writer->rings) * queue_pairs;
	uint64_t random = 0;

	while (writer->made < writer->rings->frames && !ferror(writer->file)) {
		uint64_t choice = mixed(random++);
		uint32_t chosen = (uint32_t)(choice % count);
		struct connection *connection = &writer->connections[chosen / queue_pairs];

		if (choice >> 63 != 0)
			run_sender(writer, connection, chosen % queue_pairs);
		else
			run_receiver(writer, connection, chosen % queue_pairs);
	}
}

int rings_write(FILE *file, const struct rings *rings)
{
	uint32_t count = (uint32_t)rings_connections(rings);
	struct writer writer = {
		.file = file,
		.rings = rings,
		.protocol = &protocols[rings->ll],
		.connections = calloc(count, sizeof *writer.connections),
	};
	int error = 0;

	if (writer.connections == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		connect(rings, i, &writer.connections[i]);
	for (size_t i = 0; i < MTU; i++)
		writer.payload[i] = (uint8_t)mixed(i);
	pcap_begin(file, rings->site);
	run(&writer);
	if (ferror(file) || fflush(file) != 0)
		error = -EIO;
	free(writer.connections);
	return error;
}
