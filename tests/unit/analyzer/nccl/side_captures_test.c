#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <capture/source.h>
#include <decode/decode.h>
#include <side_channel.h>

/* Set-ups in captures of the real transport, against what its programs and a second reader of the packets wrote down. */
enum { TOLD_MAX = 16, BURST = 64 };

struct told {
	unsigned exchange_count, contact_count;
	struct ft_nccl_exchange exchanges[TOLD_MAX];
	struct ft_nccl_metadata senders[TOLD_MAX], receivers[TOLD_MAX];
	struct ft_nccl_contact contacts[TOLD_MAX];
};

static void keep_exchange(void *context, const struct ft_nccl_exchange *exchange)
{
	struct told *told = context;
	unsigned i = told->exchange_count++;

	assert_true(i < TOLD_MAX);
	told->exchanges[i] = *exchange;
	told->senders[i] = *exchange->sender;
	told->receivers[i] = *exchange->receiver;
}

static void keep_contact(void *context, const struct ft_nccl_contact *contact)
{
	struct told *told = context;

	assert_true(told->contact_count < TOLD_MAX);
	told->contacts[told->contact_count++] = *contact;
}

static void show(struct ft_nccl_side_channel *side, const struct ft_frame *frame, bool syns)
{
	static const struct ft_decode_config config = FT_DECODE_DEFAULTS;
	struct ft_decode_input input = { frame->bytes,     frame->captured,  frame->wire,
					 frame->link_type, frame->fcs_bytes, frame->ts_ns };
	static struct ft_packet packet;
	struct ft_decode_rest rest;
	struct ft_nccl_segment segment;

	ft_decode(&config, &input, &packet, &rest);
	if (ft_nccl_segment_of(&packet, frame, &segment) && (syns || !segment.syn))
		ft_nccl_side_see(side, &segment);
}

static void read_capture(const char *path, bool syns, struct told *told)
{
	struct ft_nccl_config config = FT_NCCL_DEFAULTS;
	struct ft_nccl_side_sink sink = { keep_exchange, NULL, keep_contact, told };
	struct ft_source_complaint complaint;
	struct ft_nccl_side_channel *side;
	struct ft_frame frames[BURST];
	struct ft_source *source;
	size_t processes;
	int count;

	memset(told, 0, sizeof *told);
	assert_int_equal(ft_source_open_files(&source, &path, 1, &complaint), 0);
	assert_int_equal(ft_nccl_side_create(&side, &config, &sink), 0);
	while ((count = ft_source_next(source, frames, BURST)) > 0) {
		for (int i = 0; i < count; i++)
			show(side, &frames[i], syns);
	}
	ft_nccl_side_processes(side, &processes);
	assert_int_equal(processes, 0); /* no bootstrap and no RAS in any of them */
	ft_nccl_side_destroy(side);
	ft_source_close(source);
}

/* Where a file is: among the tests' data, or the shared ones. False: nowhere. */
static bool find(const char *name, const char *end, char path[512])
{
	const char *shared = getenv("FT_SHARED");

	snprintf(path, 512, "%s/nccl/%s%s", FT_TEST_DATA, name, end);
	if (access(path, R_OK) == 0)
		return true;
	if (shared == NULL)
		return false;
	snprintf(path, 512, "%s/captures/nccl/%s%s", shared, name, end);
	return access(path, R_OK) == 0;
}

static bool is_at(const json_t *end, const struct ft_nccl_place *place, uint16_t port)
{
	uint8_t address[16] = { [10] = 0xff, 0xff };

	assert_int_equal(
		inet_pton(AF_INET, json_string_value(json_array_get(end, 0)), address + 12), 1);
	return memcmp(address, place->address, sizeof address) == 0 && !place->by_lid &&
	       json_integer_value(json_array_get(end, 1)) == port;
}

static uint64_t number(const json_t *hex)
{
	return strtoull(json_string_value(hex), NULL, 16);
}

static bool are_qpns(const json_t *qpns, const struct ft_nccl_metadata *metadata)
{
	size_t count = json_array_size(qpns);

	for (size_t i = 0; i < count; i++)
		if (json_integer_value(json_array_get(qpns, i)) != metadata->qpns[i])
			return false;
	return metadata->qp_count >= count;
}

static void check_exchange(const json_t *connection, const json_t *tcp, const struct told *told,
			   unsigned i)
{
	const json_t *segments = json_object_get(tcp, "segments");
	const json_t *last = json_array_get(segments, json_array_size(segments) - 1);
	const json_t *fifo = json_object_get(connection, "cts_fifo_at_sender");
	const json_t *sizes = json_object_get(connection, "multi_receive_sizes_at_receiver");
	const struct ft_nccl_exchange *exchange = &told->exchanges[i];

	assert_int_equal(exchange->frames[0],
			 json_integer_value(json_object_get(tcp, "first_frame")));
	assert_int_equal(exchange->frames[1], json_integer_value(json_object_get(last, "frame")));
	assert_true(are_qpns(json_object_get(connection, "sender_qpns"), &told->senders[i]));
	assert_true(are_qpns(json_object_get(connection, "receiver_qpns"), &told->receivers[i]));
	assert_int_equal(told->senders[i].addr, number(json_object_get(fifo, "addr")));
	assert_int_equal(told->senders[i].devices[0].rkey, number(json_object_get(fifo, "rkey")));
	if (sizes != NULL)
		assert_int_equal(told->receivers[i].addr, number(json_object_get(sizes, "addr")));
}

/* The connection's own exchange: exactly one. */
static void check_connection(const json_t *connection, const json_t *all_tcp,
			     const struct told *told)
{
	const json_t *ends = json_object_get(connection, "metadata_tcp");
	unsigned found = 0;

	for (unsigned i = 0; i < told->exchange_count; i++) {
		const struct ft_nccl_exchange *exchange = &told->exchanges[i];
		const json_t *tcp;
		size_t at;

		if (!is_at(json_object_get(ends, "connecting_side"), &exchange->connecting,
			   exchange->connecting_port) ||
		    !is_at(json_object_get(ends, "listening_side"), &exchange->listening,
			   exchange->listening_port))
			continue;
		found++;
		json_array_foreach(all_tcp, at, tcp)
		{
			if (json_equal(json_object_get(tcp, "connection"),
				       json_object_get(connection, "connection")))
				check_exchange(connection, tcp, told, i);
		}
	}
	assert_int_equal(found, 1);
}

/* The frame that makes the hello whole, or without one the whole set-up. */
static json_int_t contact_frame(const json_t *tcp)
{
	const json_t *segments = json_object_get(tcp, "segments"), *segment = NULL;
	const char *first = json_string_value(json_object_get(json_array_get(segments, 0), "hex"));
	bool has_hello = first != NULL && strncmp(first, "6c9d4bfcf2b94a56", 16) == 0;
	json_int_t bytes = 0;
	size_t at;

	json_array_foreach(segments, at, segment)
	{
		if (strcmp(json_string_value(json_object_get(segment, "dir")), "c2s") == 0)
			bytes += json_integer_value(json_object_get(segment, "bytes"));
		if (has_hello ? bytes >= FT_NCCL_HELLO_BYTES : at == json_array_size(segments) - 1)
			break;
	}
	return json_integer_value(json_object_get(segment, "frame"));
}

static void check_contact(const json_t *tcp, const struct told *told)
{
	const json_t *client = json_object_get(tcp, "client"),
		     *server = json_object_get(tcp, "server");
	uint16_t from = (uint16_t)json_integer_value(json_array_get(client, 1));
	uint16_t to = (uint16_t)json_integer_value(json_array_get(server, 1));
	unsigned found = 0;

	for (unsigned i = 0; i < told->contact_count; i++) {
		const struct ft_nccl_contact *contact = &told->contacts[i];

		found += (json_int_t)contact->frame == contact_frame(tcp) &&
			 contact->kind == FT_NCCL_CONTACT_SETUP &&
			 is_at(client, &contact->from, from) && is_at(server, &contact->to, to);
	}
	assert_int_equal(found, 1);
}

static void check_contacts(const json_t *truth, const struct told *told)
{
	const json_t *all_tcp = json_object_get(truth, "tcp"), *tcp;
	size_t at;

	assert_int_equal(told->contact_count, json_array_size(all_tcp));
	json_array_foreach(all_tcp, at, tcp) check_contact(tcp, told);
}

/* The mirror lost all SYNs: a hello is as good; a set-up without one cannot be found. */
static void check_without_syns(const char *capture, const struct told *whole)
{
	static struct told told;
	unsigned with_hello = 0;

	read_capture(capture, false, &told);
	for (unsigned i = 0; i < whole->exchange_count; i++) {
		if (whole->contacts[i].magic == 0)
			continue;
		assert_int_equal(told.exchanges[with_hello].connecting_port,
				 whole->exchanges[i].connecting_port);
		assert_int_equal(told.exchanges[with_hello].frames[1],
				 whole->exchanges[i].frames[1]);
		assert_true(told.exchanges[with_hello].frames[0] > whole->exchanges[i].frames[0]);
		with_hello++;
	}
	assert_int_equal(told.exchange_count, with_hello);
}

static void check_capture(const char *name)
{
	static struct told told;
	char capture[512], written[512];
	const json_t *connections, *connection;
	json_t *truth;
	size_t at;

	if (!find(name, ".pcap", capture) || !find(name, ".truth.json", written)) {
		print_message("%s is not here\n", name);
		return;
	}
	print_message("%s\n", name);
	truth = json_load_file(written, 0, NULL);
	assert_non_null(truth);
	read_capture(capture, true, &told);
	check_contacts(truth, &told);
	connections = json_object_get(truth, "connections");
	/* payload cut off, or a beginning that was missed: nothing whole */
	if (json_integer_value(json_object_get(truth, "snaplen")) < 9000 ||
	    json_array_size(json_object_get(truth, "tcp")) == 0) {
		assert_int_equal(told.exchange_count, 0);
	} else {
		assert_int_equal(told.exchange_count, json_array_size(connections));
		json_array_foreach(connections, at, connection)
			check_connection(connection, json_object_get(truth, "tcp"), &told);
		check_without_syns(capture, &told);
	}
	json_decref(truth);
}

static void set_ups_of_captures_are_told_as_they_were(void **state)
{
	static const char *const names[] = {
		"ar-2.30.7",         "dual-2.27.7",         "loss-ring2-2.21.5",
		"midstart-2.19.3",   "multirecv-2.12.12",   "multirecv-2.19.3",
		"multirecv-2.30.7",  "multirecv-q2-2.21.5", "qps2split0-2.19.3",
		"qps2split1-2.27.7", "ring2-ll-2.19.3",     "ring2-ll128-2.27.7",
		"ring2small-2.21.5", "ring4-2.27.7",        "single-2.10.3",
		"single-2.30.7",
	};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		check_capture(names[i]);
}

/* TCP of perftest, MPI, Gloo, NVMe, and what else was on the wire. */
static void other_traffic_tells_nothing(void **state)
{
	static const char *const names[] = {
		"mixed-v4",
		"perftest-rc-v4",
		"gloo-ibverbs-3rank",
		"nvme-rdma",
		"openmpi-ucx-allreduce-4rank",
		"ucx-perftest-v6",
		"rc-verbs-v4-mtu4096",
		"rdmacm-v6",
	};
	const char *shared = getenv("FT_SHARED");
	static struct told told;

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names && shared != NULL; i++) {
		char path[512];

		snprintf(path, sizeof path, "%s/captures/%s.pcap", shared, names[i]);
		read_capture(path, true, &told);
		assert_int_equal(told.exchange_count, 0);
		assert_int_equal(told.contact_count, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(set_ups_of_captures_are_told_as_they_were),
		cmocka_unit_test(other_traffic_tells_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
