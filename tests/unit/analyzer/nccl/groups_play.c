#include "groups_play.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <capture/frame.h>

void play_begin(struct play *play)
{
	memset(play, 0, sizeof *play);
	play->protocol = FT_NCCL_SIMPLE;
	play->offered = 1048576;
}

static struct ft_nccl_place host(uint8_t last)
{
	return (struct ft_nccl_place){ .address = {
					       [10] = 0xff, [11] = 0xff, [12] = 10, [15] = last } };
}

struct ft_nccl_connection *play_connect(struct play *play, uint8_t from, uint8_t to)
{
	struct ft_nccl_connection *row = &play->rows[play->count];

	assert_true(play->count < PLAY_CONNECTIONS);
	*row = (struct ft_nccl_connection){
		.connection = 100 + play->count,
		.first_frame = play->count + 1,
		.sender = { .places = { host(from) },
			    .place_count = 1,
			    .qpns = { 16 + play->count } },
		.receiver = { .places = { host(to) },
			      .place_count = 1,
			      .qpns = { 32 + play->count } },
		.qp_count = 1,
		.channel = FT_NCCL_NONE,
	};
	play->connections[play->count++] = row;
	return row;
}

void play_ring(struct play *play, uint8_t ranks)
{
	for (uint8_t i = 0; i < ranks; i++)
		play_connect(play, (uint8_t)(i + 1), (uint8_t)((i + 1) % ranks + 1));
}

struct ft_nccl_message *play_ask(struct play *play, uint32_t connection, int32_t tag)
{
	struct ft_nccl_message *message = &play->messages[play->message_count];
	struct ft_nccl_request *request = &play->requests[play->message_count++];

	assert_true(play->message_count <= PLAY_MESSAGES);
	*request = (struct ft_nccl_request){
		.has_tag = true, .tag = tag, .has_offered = true, .offered = play->offered
	};
	*message = (struct ft_nccl_message){
		.connection = 100 + connection,
		.has_k = true,
		.k = play->k[connection]++,
		.cts_frame = ++play->frame,
		.cts_ts_ns = FT_TS_UNKNOWN,
		.first_ts_ns = FT_TS_UNKNOWN,
		.last_ts_ns = FT_TS_UNKNOWN,
		.request_count = 1,
		.requests = request,
	};
	return message;
}

void play_answer(struct play *play, struct ft_nccl_message *message, uint64_t bytes)
{
	struct ft_nccl_request *request = &play->requests[message - play->messages];

	request->has_written = true;
	request->written = bytes;
	message->first_frame = ++play->frame;
	message->last_frame = ++play->frame;
	message->first_ts_ns = message->first_frame * 1000;
	message->last_ts_ns = message->last_frame * 1000;
	message->completed = true;
	message->protocol = play->protocol;
}

void play_send(struct play *play, uint32_t connection, int32_t tag, uint64_t bytes)
{
	play_answer(play, play_ask(play, connection, tag), bytes);
}

void play_step(struct play *play, uint32_t first, uint32_t ranks, const uint64_t *bytes,
	       uint32_t count)
{
	const uint32_t begin = play->message_count;

	for (uint32_t i = 0; i < ranks; i++)
		for (uint32_t j = 0; j < count; j++)
			play_ask(play, first + i, (int32_t)i);
	for (uint32_t j = 0; j < count; j++)
		for (uint32_t i = 0; i < ranks; i++)
			play_answer(play, &play->messages[begin + i * count + j], bytes[j]);
}

static int compare(const void *a, const void *b)
{
	const struct ft_nccl_message *left = a, *right = b;
	uint64_t one = left->first_frame > 0 ? left->first_frame : left->cts_frame;
	uint64_t other = right->first_frame > 0 ? right->first_frame : right->cts_frame;

	return (one > other) - (one < other);
}

void play_groups(struct play *play, struct ft_nccl_groups *groups)
{
	qsort(play->messages, play->message_count, sizeof *play->messages, compare);
	assert_int_equal(ft_nccl_groups_make(groups, play->connections, play->count, play->messages,
					     play->message_count),
			 0);
}
