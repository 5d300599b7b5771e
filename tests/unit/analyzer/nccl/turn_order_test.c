#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "turn_order.h"

/*
 * Queue pairs that take turns (NCCL_IB_SPLIT_DATA_ON_QPS=0: message i goes over queue pair i mod Q). Messages are written
 * down by how many requests each was asked for, `.` where that is not known; those of a queue pair likewise, `|` where a hole
 * in what was seen begins, after `?` if the first ones may be missing.
 */

enum { MOST = 3 };

static const struct row {
	const char *what;
	const char *asked; /* all messages, from number 0 on */
	struct {
		uint32_t qpn;
		const char *sent;
	} qps[MOST];
	enum ft_nccl_turn_order found;
	uint32_t order[MOST]; /* queue pairs, with FT_NCCL_TURNS_SURE */
	unsigned several;
} rows[] = {
	{ "one alone", "1211", { { 10, "1211" } }, FT_NCCL_TURNS_SURE, { 10 }, 1 },
	{ "one alone, asked for something else",
	  "1211",
	  { { 10, "1111" } },
	  FT_NCCL_TURNS_WRONG,
	  { 0 },
	  0 },
	{ "in the order of their numbers",
	  "12121212",
	  { { 10, "1111" }, { 20, "2222" } },
	  FT_NCCL_TURNS_SURE,
	  { 10, 20 },
	  4 },
	{ "in another order",
	  "12121212",
	  { { 10, "2222" }, { 20, "1111" } },
	  FT_NCCL_TURNS_SURE,
	  { 20, 10 },
	  4 },
	{ "all alike: any order",
	  "11111111",
	  { { 10, "1111" }, { 20, "1111" } },
	  FT_NCCL_TURNS_BY_NUMBER,
	  { 0 },
	  0 },
	{ "nothing is known: any order",
	  "........",
	  { { 20, "1314" }, { 10, "1111" } },
	  FT_NCCL_TURNS_BY_NUMBER,
	  { 0 },
	  2 },
	{ "one message tells them apart",
	  "111112",
	  { { 10, "112" }, { 20, "111" } },
	  FT_NCCL_TURNS_SURE,
	  { 20, 10 },
	  1 },
	{ "neither has what was asked for",
	  "12121212",
	  { { 10, "1111" }, { 20, "3333" } },
	  FT_NCCL_TURNS_WRONG,
	  { 0 },
	  4 },
	{ "both had to be the first",
	  "12121212",
	  { { 10, "1111" }, { 20, "1111" } },
	  FT_NCCL_TURNS_WRONG,
	  { 0 },
	  0 },
	{ "three in an order of their own",
	  "123123123",
	  { { 10, "222" }, { 20, "333" }, { 30, "111" } },
	  FT_NCCL_TURNS_SURE,
	  { 30, 10, 20 },
	  6 },
	{ "two of three alike, where their numbers fit",
	  "112112112",
	  { { 10, "111" }, { 20, "111" }, { 30, "222" } },
	  FT_NCCL_TURNS_BY_NUMBER,
	  { 0 },
	  3 },
	{ "two of three alike, where they do not",
	  "112112112",
	  { { 10, "222" }, { 20, "111" }, { 30, "111" } },
	  FT_NCCL_TURNS_WRONG,
	  { 0 },
	  3 },
	{ "what is not known is left to who may have it",
	  "1.1.1.1.",
	  { { 10, "2222" }, { 20, "1111" } },
	  FT_NCCL_TURNS_SURE,
	  { 20, 10 },
	  4 },
	{ "one leaves the next no choice, and that the third",
	  "22.1..",
	  { { 10, "53" }, { 20, "23" }, { 30, "21" } },
	  FT_NCCL_TURNS_SURE,
	  { 30, 20, 10 },
	  5 },
	{ "likewise, the other way round",
	  "22.1..",
	  { { 10, "21" }, { 20, "23" }, { 30, "53" } },
	  FT_NCCL_TURNS_SURE,
	  { 10, 20, 30 },
	  5 },
	{ "whose first messages may be missing can have any turn",
	  "12121212",
	  { { 10, "?1111" }, { 20, "1111" } },
	  FT_NCCL_TURNS_SURE,
	  { 20, 10 },
	  0 },
	{ "behind a hole nothing is compared, or counted",
	  "12121212",
	  { { 10, "22|11" }, { 20, "1111" } },
	  FT_NCCL_TURNS_SURE,
	  { 20, 10 },
	  2 },
	{ "behind a hole, of what would fit",
	  "12121212",
	  { { 10, "1|222" }, { 20, "2222" } },
	  FT_NCCL_TURNS_SURE,
	  { 10, 20 },
	  4 },
};

static void read_requests(const char *text, uint8_t *requests)
{
	for (size_t i = 0; text[i] != '\0'; i++)
		requests[i] = text[i] == '.' ? 0 : (uint8_t)(text[i] - '0');
}

static void read_reply(const char *sent, struct ft_nccl_reply *reply)
{
	const char *hole = strchr(sent, '|');

	reply->is_whole = *sent != '?';
	for (const char *at = sent + (*sent == '?'); *at != '\0'; at++)
		if (*at != '|')
			reply->requests[reply->count++] = (uint8_t)(*at - '0');
	reply->is_broken = hole != NULL;
	reply->unbroken = hole != NULL ? (unsigned)(hole - sent) : reply->count;
}

/* `first`: which of them is handed over first; that changes nothing. */
static void check(const struct row *row, unsigned first)
{
	struct ft_nccl_stranger strangers[MOST];
	struct ft_nccl_reply replies[MOST];
	uint8_t asked[FT_NCCL_REPLY_MESSAGES] = { 0 };
	unsigned count = 0, several = 99;

	memset(strangers, 0, sizeof strangers);
	memset(replies, 0, sizeof replies);
	read_requests(row->asked, asked);
	while (count < MOST && row->qps[count].qpn != 0)
		count++;
	for (unsigned i = 0; i < count; i++) {
		unsigned at = (first + i) % count;

		strangers[i].qpn = row->qps[at].qpn;
		replies[i].stranger = &strangers[i];
		read_reply(row->qps[at].sent, &replies[i]);
	}
	assert_int_equal(ft_nccl_turn_order_find(asked, replies, count, &several), row->found);
	assert_int_equal(several, row->several);
	for (unsigned i = 0; i < count && row->found == FT_NCCL_TURNS_SURE; i++) {
		assert_int_equal(replies[i].stranger->qpn, row->order[i]);
		assert_int_equal(replies[i].turn, i);
	}
}

static void requests_tell_in_which_order_they_take_turns(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		print_message("%s\n", rows[i].what);
		for (unsigned first = 0; first < MOST; first++)
			check(&rows[i], first);
	}
}

/* As many as are looked at together, in reverse: each has its own number of requests. */
static void sixteen_are_put_in_order(void **state)
{
	static struct ft_nccl_stranger strangers[FT_NCCL_REPLIES_MOST];
	static struct ft_nccl_reply replies[FT_NCCL_REPLIES_MOST];
	uint8_t asked[FT_NCCL_REPLY_MESSAGES];
	unsigned several;

	(void)state;
	for (unsigned i = 0; i < FT_NCCL_REPLY_MESSAGES; i++)
		asked[i] = (uint8_t)(1 + i % FT_NCCL_REPLIES_MOST);
	for (unsigned i = 0; i < FT_NCCL_REPLIES_MOST; i++) {
		strangers[i].qpn = 100 + i;
		replies[i] = (struct ft_nccl_reply){
			.stranger = &strangers[i], .count = 8, .unbroken = 8, .is_whole = true
		};
		/* the last ones lie behind all messages that are known */
		memset(replies[i].requests, (int)(FT_NCCL_REPLIES_MOST - i), 8);
	}
	assert_int_equal(ft_nccl_turn_order_find(asked, replies, FT_NCCL_REPLIES_MOST, &several),
			 FT_NCCL_TURNS_SURE);
	for (unsigned i = 0; i < FT_NCCL_REPLIES_MOST; i++)
		assert_int_equal(replies[i].stranger->qpn, 100 + FT_NCCL_REPLIES_MOST - 1 - i);
	assert_int_equal(several, 15 * 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_tell_in_which_order_they_take_turns),
		cmocka_unit_test(sixteen_are_put_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
