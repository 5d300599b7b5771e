#include "truth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <cmocka.h>

#include <capture/frame.h>

static uint64_t number(const json_t *object, const char *name)
{
	return (uint64_t)json_integer_value(json_object_get(object, name));
}

static uint64_t hex(const json_t *text)
{
	return strtoull(json_string_value(text), NULL, 16);
}

static void read_party(const json_t *json, const char *side, struct ft_nccl_party *party)
{
	json_t *value;
	char name[32];
	size_t i;

	snprintf(name, sizeof name, "%s_addresses", side);
	json_array_foreach(json_object_get(json, name), i, value)
	{
		struct ft_nccl_place *place = &party->places[party->place_count++];

		place->address[10] = place->address[11] = 0xff;
		assert_int_equal(inet_pton(AF_INET, json_string_value(value), place->address + 12),
				 1);
	}
	snprintf(name, sizeof name, "%s_qpns", side);
	json_array_foreach(json_object_get(json, name), i, value) party->qpns[i] =
		(uint32_t)json_integer_value(value);
}

static void read_connection(const json_t *json, struct ft_nccl_connection *row)
{
	row->connection = (uint32_t)number(json, "connection");
	row->channel = FT_NCCL_NONE;
	row->devices = 1;
	read_party(json, "sender", &row->sender);
	read_party(json, "receiver", &row->receiver);
	row->qp_count = (uint8_t)json_array_size(json_object_get(json, "sender_qpns"));
}

static enum ft_nccl_protocol protocol_of(const json_t *send)
{
	const char *payload = json_string_value(json_object_get(send, "payload"));

	if (payload == NULL || strcmp(payload, "random") == 0)
		return FT_NCCL_PROTOCOL_UNKNOWN;
	return strcmp(payload, "simple") == 0 ? FT_NCCL_SIMPLE
	       : strcmp(payload, "ll") == 0   ? FT_NCCL_LL
					      : FT_NCCL_LL128;
}

static void read_requests(const json_t *json, bool tagged, struct ft_nccl_message *row,
			  struct ft_nccl_request *requests)
{
	const json_t *receive = json_object_get(json, "receive");
	json_t *send;
	size_t i;

	for (i = 0; i < row->request_count; i++) {
		requests[i] = (struct ft_nccl_request){
			.has_tag = tagged && row->cts_frame != 0,
			.has_offered = row->cts_frame != 0,
			.tag = (int32_t)json_integer_value(
				json_array_get(json_object_get(receive, "tags"), i)),
			.offered = (uint64_t)json_integer_value(
				json_array_get(json_object_get(receive, "posted_sizes"), i)),
			.va = hex(json_array_get(json_object_get(receive, "addrs"), i)),
		};
	}
	json_array_foreach(json_object_get(json, "sends"), i, send)
	{
		struct ft_nccl_request *request = &requests[number(send, "index_in_group")];

		request->has_written = true;
		request->written = number(send, "size");
		row->protocol = protocol_of(send);
	}
	row->requests = requests;
}

static void read_message(const json_t *json, bool tagged, struct ft_nccl_message *row,
			 struct ft_nccl_request *requests)
{
	const json_t *frames = json_object_get(json, "frames");

	*row = (struct ft_nccl_message){
		.connection = (uint32_t)number(json, "connection"),
		.has_k = true,
		.k = number(json, "k"),
		.cts_frame = number(json, "cts_frame"),
		.first_frame = (uint64_t)json_integer_value(json_array_get(frames, 0)),
		.last_frame = (uint64_t)json_integer_value(json_array_get(frames, 1)),
		.cts_ts_ns = FT_TS_UNKNOWN,
		.first_ts_ns = FT_TS_UNKNOWN,
		.last_ts_ns = FT_TS_UNKNOWN,
		.completed = true,
		.request_count = (uint8_t)number(json, "n"),
	};
	read_requests(json, tagged, row, requests);
}

static int compare(const void *a, const void *b)
{
	const struct ft_nccl_message *left = a, *right = b;

	return (left->first_frame > right->first_frame) - (left->first_frame < right->first_frame);
}

static void read_all(struct truth *truth)
{
	const json_t *connections = json_object_get(truth->json, "connections");
	const json_t *messages = json_object_get(truth->json, "messages");
	const char *family = json_string_value(json_object_get(truth->json, "cts_family"));

	truth->connection_count = json_array_size(connections);
	truth->message_count = json_array_size(messages);
	truth->rows = calloc(truth->connection_count, sizeof *truth->rows);
	truth->connections = calloc(truth->connection_count, sizeof *truth->connections);
	truth->messages = calloc(truth->message_count, sizeof *truth->messages);
	truth->requests =
		calloc(truth->message_count * FT_NCCL_REQUESTS_MAX, sizeof *truth->requests);
	if (truth->rows == NULL || truth->connections == NULL || truth->messages == NULL ||
	    truth->requests == NULL)
		abort();
	for (size_t i = 0; i < truth->connection_count; i++) {
		read_connection(json_array_get(connections, i), &truth->rows[i]);
		truth->connections[i] = &truth->rows[i];
	}
	for (size_t i = 0; i < truth->message_count; i++)
		read_message(json_array_get(messages, i), family[0] > 'B', &truth->messages[i],
			     truth->requests + i * FT_NCCL_REQUESTS_MAX);
	qsort(truth->messages, truth->message_count, sizeof *truth->messages, compare);
}

bool truth_read(const char *name, struct truth *truth)
{
	const char *folder = getenv("FT_SHARED");
	json_error_t error;
	char path[512];

	if (folder == NULL)
		folder = FT_TEST_DATA "/../../../shared";
	snprintf(path, sizeof path, "%s/captures/nccl/%s.truth.json", folder, name);
	if (access(path, R_OK) != 0) {
		print_message("SKIPPED: no %s; FT_SHARED names the folder of the reference data\n",
			      path);
		return false;
	}
	*truth = (struct truth){ .json = json_load_file(path, 0, &error) };
	assert_non_null(truth->json);
	read_all(truth);
	return true;
}

void truth_free(struct truth *truth)
{
	json_decref(truth->json);
	free(truth->rows);
	free(truth->connections);
	free(truth->messages);
	free(truth->requests);
}

const struct ft_nccl_connection *truth_connection(const struct truth *truth, uint32_t id)
{
	for (size_t i = 0; i < truth->connection_count; i++)
		if (truth->rows[i].connection == id)
			return &truth->rows[i];
	fail();
	return NULL;
}
