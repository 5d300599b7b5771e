#include "tcp_play.h"

#include <string.h>

#include <frame_rows.h>

/* Bootstrap and RAS, made by hand from the layouts of NCCL's releases. */

#define HELLO(kind)   "6c9d4bfcf2b94a56 0" #kind "000000 "
#define JOB(kind)     "1122334455667788 0" #kind "000000 "
#define COMM_ID(kind) "8002800280028002 0" #kind "000000 "

/* 10.0.0.1 ports 50000 and 50001, 10.0.0.2 port 50000 + connection, 10.9.9.9 port 7 */
#define AT_CLIENT   "0200 c350 0a000001 00*20 "
#define AT_CLIENT_2 "0200 c351 0a000001 00*20 "
#define AT_SERVER   "0200 c350 0a000002 00*20 "
#define AT_THIRD    "0200 0007 0a090909 00*20 "

#define CHECK_IN_2_8  "40000000 03000000 08000000 " AT_THIRD AT_CLIENT
#define CHECK_IN_2_23 "ac000000 05000000 10000000 00000000 01000000 " AT_CLIENT "11*128 "
#define CHECK_IN_2_29 "b0000000 06000000 10000000 00000000 01000000 00000000 " AT_CLIENT "11*128 "
#define CHECK_IN_2_6  "88000000 02000000 04000000 11*128 "

#define HASHES     "1111111111111111 2222222222222222 "
#define INIT(at)   "38000000 0100000000000000 b3580000 " at HASHES
#define ACK        "0c000000 02000000 00000000 00000000 "
#define KEEP_ALIVE "38000000 03000000 00000000 " HASHES "05000000 00000000 33*16 00000000 00000000 "
#define PEER(at)   at "07000000 0300000000000000 0500000000000000 " HASHES
#define UPDATE                                                                                     \
	"a0000000 04000000 00000000 " HASHES "02000000 00000000 " PEER(AT_CLIENT_2) PEER(AT_THIRD)
#define DEAD(at) "7c000000 04000000 00000000 " HASHES "01000000 01000000 " PEER(AT_THIRD) at
#define COLLECT  "08000000 05000000 99*4 "

static void send_hex(struct play *play, unsigned connection, enum play_end from, uint32_t *at,
		     const char *hex)
{
	uint8_t bytes[FRAME_BYTES_MAX];
	struct play_piece piece = { .from = from, .at = *at, .bytes = bytes };

	piece.size = (uint32_t)frame_bytes(hex, bytes);
	play_piece(play, connection, &piece);
	*at += piece.size;
}

static bool is_process(const struct ft_nccl_process *process, const char *address, int32_t rank,
		       int32_t ranks, int32_t release)
{
	uint8_t bytes[16] = { [10] = 0xff, 0xff };

	frame_bytes(address, bytes + 12);
	return memcmp(process->place.address, bytes, sizeof bytes) == 0 &&
	       process->has_rank == (ranks != 0) && process->rank == rank &&
	       process->ranks == ranks && process->release == release;
}

static void check_ins_tell_ranks(void **state)
{
	static const struct {
		const char *sentence, *hex, *address;
		int32_t rank, ranks;
		uint64_t magic;
	} rows[] = {
		{ "2.6, which has no hello and no readable address", CHECK_IN_2_6, "0a000001", 2, 4,
		  0 },
		{ "2.8, which has no hello", CHECK_IN_2_8, "0a090909", 3, 8, 0 },
		{ "2.16, a magic of the job's own", JOB(1) CHECK_IN_2_8, "0a090909", 3, 8,
		  0x8877665544332211 },
		{ "2.23, the magic of NCCL_COMM_ID", COMM_ID(1) CHECK_IN_2_23, "0a000001", 5, 16,
		  FT_NCCL_MAGIC_COMM },
		{ "2.29", JOB(1) CHECK_IN_2_29, "0a000001", 6, 16, 0x8877665544332211 },
	};
	static struct play play;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct ft_nccl_process *processes;
		const struct ft_nccl_contact *contact = &play.contacts[0];
		uint32_t at = 0;
		size_t count;

		play_open(&play, 4);
		play_open_connection(&play, 0);
		send_hex(&play, 0, PLAY_CLIENT, &at, rows[i].hex);
		processes = ft_nccl_side_processes(play.side, &count);
		if (count != 1 ||
		    !is_process(processes, rows[i].address, rows[i].rank, rows[i].ranks, 0) ||
		    processes->first_frame != 4 || processes->last_frame != 4 ||
		    play.contact_count != 1 || contact->kind != FT_NCCL_CONTACT_BOOTSTRAP ||
		    contact->magic != rows[i].magic || contact->frame != 4 ||
		    play.exchange_count != 0)
			fail_msg("%s", rows[i].sentence);
		play_close(&play);
	}
}

/* Root to rank, rank to the next of the ring, rank to rank. */
static void other_messages_of_a_bootstrap_tell_of_the_contact(void **state)
{
	static const struct {
		const char *sentence, *hex;
		bool has_listener;
	} rows[] = {
		{ "the next one, 2.16", JOB(1) "1c000000 " AT_THIRD, false },
		{ "the next one, 2.23", JOB(1) "80000000 " AT_THIRD "00*100", false },
		{ "a ring's first block, 2.23", JOB(1) "40000000 " AT_CLIENT AT_CLIENT_2 "55*8",
		  false },
		{ "a ring's first block, 2.24",
		  JOB(1) "78000000 " AT_CLIENT AT_CLIENT_2 "55*8 " AT_THIRD "39300000 00*24",
		  true },
		{ "point to point", JOB(1) "08000000 03000000 07000000", false },
	};
	static struct play play;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct ft_nccl_process *processes;
		uint32_t at = 0;
		size_t count;

		play_open(&play, 4);
		play_open_connection(&play, 0);
		send_hex(&play, 0, PLAY_CLIENT, &at, rows[i].hex);
		processes = ft_nccl_side_processes(play.side, &count);
		if (play.contact_count != 1 || play.contacts[0].kind != FT_NCCL_CONTACT_BOOTSTRAP ||
		    count != rows[i].has_listener ||
		    (count == 1 && !is_process(processes, "0a090909", 0, 0, 0)))
			fail_msg("%s", rows[i].sentence);
		play_close(&play);
	}
}

static void a_check_in_comes_byte_by_byte(void **state)
{
	static struct play play;
	uint8_t bytes[FRAME_BYTES_MAX];
	uint32_t size = (uint32_t)frame_bytes(JOB(1) CHECK_IN_2_23, bytes);
	size_t count;

	(void)state;
	play_open(&play, 4);
	play_open_connection(&play, 0);
	for (uint32_t at = 0; at < size; at++) {
		assert_int_equal(play.contact_count, 0);
		play_piece(&play, 0,
			   &(struct play_piece){ .at = at, .bytes = bytes + at, .size = 1 });
	}
	assert_int_equal(play.contact_count, 1);
	ft_nccl_side_processes(play.side, &count);
	assert_int_equal(count, 1);
	play_close(&play);
}

/* Messages from rank to rank have a connection of their own, which may end with the segment that it began with. */
static void a_connection_may_be_one_segment(void **state)
{
	static struct play play;
	uint8_t bytes[FRAME_BYTES_MAX];
	struct play_piece piece = { .flags = PLAY_FIN, .bytes = bytes };

	(void)state;
	play_open(&play, 4);
	play_open_connection(&play, 0);
	piece.size = (uint32_t)frame_bytes(JOB(1) "08000000 03000000 07000000", bytes);
	play_piece(&play, 0, &piece);
	assert_int_equal(play.contact_count, 1);
	play_close(&play);
}

static void an_unknown_magic_alone_tells_nothing(void **state)
{
	static const char *const rows[] = {
		JOB(1) "ffffff00 00*40", /* a message of 16 MiB */
		JOB(1) "40000000 00*64", /* as long as a check-in */
		JOB(4) "00*100",
		JOB(5) "38000000 00*56",
		JOB(2) CHECK_IN_2_8,
		"08000000 03000000 07000000", /* without a hello, as from rank to rank before 2.16 */
		"40000000 03000000 08000000 00*56", /* begins as a check-in */
		"0000 0000 0100 0000 1800 0000 00*40",
	};
	static struct play play;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint32_t at = 0;
		size_t count;

		play_open(&play, 4);
		play_open_connection(&play, 0);
		send_hex(&play, 0, PLAY_CLIENT, &at, rows[i]);
		ft_nccl_side_processes(play.side, &count);
		if (count != 0 || play.contact_count != 0)
			fail_msg("row %zu", i);
		play_close(&play);
	}
}

static void a_process_is_listed_once(void **state)
{
	static struct play play;
	const struct ft_nccl_process *processes;
	size_t count;

	(void)state;
	play_open(&play, 8);
	for (unsigned i = 0; i < 3; i++) {
		uint32_t at = 0;

		play_open_connection(&play, i);
		send_hex(&play, i, PLAY_CLIENT, &at,
			 i == 1 ? JOB(1) CHECK_IN_2_8 : JOB(1) CHECK_IN_2_23);
	}
	processes = ft_nccl_side_processes(play.side, &count);
	assert_int_equal(count, 2);
	assert_true(is_process(&processes[0], "0a000001", 5, 16, 0));
	assert_int_equal(processes[0].first_frame, 4);
	assert_int_equal(processes[0].last_frame, 12);
	assert_true(is_process(&processes[1], "0a090909", 3, 8, 0));
	play_close(&play);
}

static void ras_tells_releases_and_peers(void **state)
{
	static struct play play;
	const struct ft_nccl_process *processes;
	uint32_t here = 0, there = 0;
	size_t count;

	(void)state;
	play_open(&play, 4);
	play_open_connection(&play, 0);
	send_hex(&play, 0, PLAY_CLIENT, &here, HELLO(5) INIT(AT_CLIENT));
	send_hex(&play, 0, PLAY_SERVER, &there, ACK);
	send_hex(&play, 0, PLAY_SERVER, &there, COLLECT KEEP_ALIVE UPDATE);
	send_hex(&play, 0, PLAY_CLIENT, &here, KEEP_ALIVE);
	assert_int_equal(play.contact_count, 1);
	assert_int_equal(play.contacts[0].kind, FT_NCCL_CONTACT_RAS);
	assert_int_equal(play.contacts[0].frame, 4);
	assert_int_equal(play.contacts[0].magic, FT_NCCL_MAGIC_SOCKET);
	processes = ft_nccl_side_processes(play.side, &count);
	assert_int_equal(count, 4);
	assert_true(is_process(&processes[0], "0a000001", 0, 0, 22707));
	assert_int_equal(processes[0].first_frame, 4);
	assert_int_equal(processes[0].last_frame, 7);
	assert_true(is_process(&processes[1], "0a000002", 0, 0, 0));
	assert_int_equal(processes[1].first_frame, 5);
	assert_int_equal(processes[1].last_frame, 6);
	assert_true(is_process(&processes[2], "0a000001", 0, 0, 0));
	assert_true(is_process(&processes[3], "0a090909", 0, 0, 0));
	play_close(&play);
}

static void ras_and_bootstrap_speak_of_one_process(void **state)
{
	static struct play play;
	const struct ft_nccl_process *processes;
	uint64_t checked_in;
	uint32_t at = 0;
	size_t count;

	(void)state;
	play_open(&play, 4);
	play_open_connection(&play, 0);
	send_hex(&play, 0, PLAY_CLIENT, &at, JOB(1) CHECK_IN_2_23);
	checked_in = play.frame;
	play_open_connection(&play, 1);
	at = 0;
	send_hex(&play, 1, PLAY_CLIENT, &at, HELLO(5) INIT(AT_CLIENT));
	for (unsigned i = 0; i < 2; i++) {
		processes = ft_nccl_side_processes(play.side, &count);
		assert_int_equal(count, 1);
		assert_true(is_process(processes, "0a000001", 5, 16, 22707));
		assert_int_equal(processes->first_frame, checked_in);
		assert_int_equal(processes->last_frame, play.frame);
		send_hex(&play, 1, PLAY_CLIENT, &at, KEEP_ALIVE); /* it lives */
	}
	play_close(&play);
}

/* Of a host where one rank checked in it is that one; of two it may be either. */
static void ras_tells_who_is_dead(void **state)
{
	for (unsigned ranks = 0; ranks < 3; ranks++) {
		static struct play play;
		const struct ft_nccl_process *processes;
		uint32_t at = 0;
		uint64_t told;
		size_t count;

		(void)state;
		play_open(&play, 4);
		for (unsigned i = 0; i < ranks; i++) {
			at = 0;
			play_open_connection(&play, i);
			send_hex(&play, i, PLAY_CLIENT, &at,
				 i == 0 ? JOB(1) CHECK_IN_2_23 : JOB(1) CHECK_IN_2_29);
		}
		at = 0;
		play_open_connection(&play, ranks);
		send_hex(&play, ranks, PLAY_CLIENT, &at, HELLO(5) KEEP_ALIVE DEAD(AT_CLIENT_2));
		told = play.frame;
		send_hex(&play, ranks, PLAY_CLIENT, &at, DEAD(AT_CLIENT_2));
		processes = ft_nccl_side_processes(play.side, &count);
		assert_int_equal(count, ranks == 2 ? 4 : 2);
		for (size_t i = 0; i < count; i++) {
			bool is_it = is_process(&processes[i], "0a000001", ranks == 1 ? 5 : 0,
						ranks == 1 ? 16 : 0, 0);

			assert_int_equal(processes[i].dead_frame, is_it ? told : 0);
		}
		play_close(&play);
	}
}

static void ras_goes_on_behind_a_loss(void **state)
{
	static struct play play;
	const struct ft_nccl_process *processes;
	uint32_t at = 0;
	size_t count;

	(void)state;
	play_open(&play, 4);
	play_open_connection(&play, 0);
	send_hex(&play, 0, PLAY_CLIENT, &at, HELLO(5) INIT(AT_CLIENT));
	at += 60; /* the mirror lost one */
	for (unsigned i = 0; i < 3; i++)
		send_hex(&play, 0, PLAY_CLIENT, &at, KEEP_ALIVE);
	processes = ft_nccl_side_processes(play.side, &count);
	assert_int_equal(processes[0].last_frame, 4);
	send_hex(&play, 0, PLAY_CLIENT, &at, KEEP_ALIVE);
	processes = ft_nccl_side_processes(play.side, &count);
	assert_int_equal(processes[0].last_frame, 8);
	send_hex(&play, 0, PLAY_CLIENT, &at, UPDATE);
	ft_nccl_side_processes(play.side, &count);
	assert_int_equal(count, 3);
	play_close(&play);
}

/* An update of 300 peers is longer than what is kept of a stream; what follows it is read. */
static void a_long_message_is_passed_over(void **state)
{
	static struct play play;
	const struct ft_nccl_process *processes;
	uint32_t at = 0;
	size_t count;

	(void)state;
	play_open(&play, 4);
	play_open_connection(&play, 0);
	send_hex(&play, 0, PLAY_CLIENT, &at, HELLO(5) INIT(AT_CLIENT));
	send_hex(&play, 0, PLAY_CLIENT, &at,
		 "204b0000 04000000 00000000 " HASHES "2c010000 00000000 00*1400");
	for (unsigned i = 0; i < 12; i++)
		send_hex(&play, 0, PLAY_CLIENT, &at, "00*1400");
	/* the next one begins in the same segment */
	send_hex(&play, 0, PLAY_CLIENT, &at, "00*1000" UPDATE);
	assert_int_equal(at, 12 + 60 + 4 + 32 + 300 * 64 + 164);
	processes = ft_nccl_side_processes(play.side, &count);
	assert_int_equal(count, 3);
	assert_int_equal(processes[0].last_frame, play.frame);
	play_close(&play);
}

static void nonsense_is_passed_over_until_a_message_begins(void **state)
{
	static struct play play;
	const struct ft_nccl_process *processes;
	uint32_t at = 0;
	size_t count;

	(void)state;
	play_open(&play, 4);
	play_open_connection(&play, 0);
	send_hex(&play, 0, PLAY_CLIENT, &at, HELLO(5) INIT(AT_CLIENT));
	send_hex(&play, 0, PLAY_CLIENT, &at, "ffffffff 09000000 00*50");
	send_hex(&play, 0, PLAY_CLIENT, &at, "10000000 09000000 00*12");
	/* of 4096 bytes, it says */
	send_hex(&play, 0, PLAY_CLIENT, &at, "00100000 07000000 00*12");
	send_hex(&play, 0, PLAY_CLIENT, &at, "38000000 02000000 00*52"); /* not the type's length */
	send_hex(&play, 0, PLAY_CLIENT, &at, "12"); /* spoils the message behind it */
	send_hex(&play, 0, PLAY_CLIENT, &at, KEEP_ALIVE);
	send_hex(&play, 0, PLAY_CLIENT, &at, KEEP_ALIVE);
	processes = ft_nccl_side_processes(play.side, &count);
	assert_int_equal(count, 1);
	assert_int_equal(processes[0].last_frame, play.frame);
	play_close(&play);
}

static void listeners_that_differ_say_no_release(void **state)
{
	static const char *const inits[] = {
		HELLO(5) INIT(AT_CLIENT),
		HELLO(5) "38000000 0100000000000000 c4590000 " AT_CLIENT_2 HASHES,
		JOB(1) CHECK_IN_2_23,
	};
	static struct play play;
	const struct ft_nccl_process *processes;
	size_t count;

	(void)state;
	play_open(&play, 4);
	for (unsigned i = 0; i < 3; i++) {
		uint32_t at = 0;

		processes = ft_nccl_side_processes(play.side, &count);
		assert_int_equal(count, i);
		play_open_connection(&play, i);
		send_hex(&play, i, PLAY_CLIENT, &at, inits[i]);
	}
	processes = ft_nccl_side_processes(play.side, &count);
	assert_int_equal(count, 1);
	assert_true(is_process(&processes[0], "0a000001", 5, 16, 0));
	play_close(&play);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(check_ins_tell_ranks),
		cmocka_unit_test(other_messages_of_a_bootstrap_tell_of_the_contact),
		cmocka_unit_test(a_check_in_comes_byte_by_byte),
		cmocka_unit_test(a_connection_may_be_one_segment),
		cmocka_unit_test(an_unknown_magic_alone_tells_nothing),
		cmocka_unit_test(a_process_is_listed_once),
		cmocka_unit_test(ras_tells_releases_and_peers),
		cmocka_unit_test(ras_tells_who_is_dead),
		cmocka_unit_test(ras_and_bootstrap_speak_of_one_process),
		cmocka_unit_test(ras_goes_on_behind_a_loss),
		cmocka_unit_test(a_long_message_is_passed_over),
		cmocka_unit_test(nonsense_is_passed_over_until_a_message_begins),
		cmocka_unit_test(listeners_that_differ_say_no_release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
