#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crew.h"

/* Enough for three turns of all blocks. */
enum {
	WORKERS_MOST = 7,
	BLOCKS_MOST = WORKERS_MOST + FT_CREW_AHEAD,
	FRAMES = 3 * BLOCKS_MOST * FT_BLOCK_FRAMES + 57,
	FRAME_BYTES = 60,
};
enum { FILE_HEADER = 24, RECORD = 16 + FRAME_BYTES, NEVER = -1, HANGS_S = 120 };

static uint8_t file[FILE_HEADER + FRAMES * RECORD];

/* A pcap file of frames that are not RDMA, each with its number in its first bytes. */
static int build_file(void **state)
{
	static const uint8_t header[FILE_HEADER] = {
		0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, [16] = 0xff, 0xff, [20] = FT_LINK_ETHERNET
	};
	uint32_t record[4] = { 0, 0, FRAME_BYTES, FRAME_BYTES };

	(void)state;
	memcpy(file, header, sizeof header);
	for (uint32_t i = 0; i < FRAMES; i++) {
		uint8_t *at = file + FILE_HEADER + i * RECORD;
		uint32_t number = i + 1;

		record[0] = 1 + i / 1000000;
		record[1] = i % 1000000;
		memcpy(at, record, sizeof record);
		memcpy(at + sizeof record, &number, sizeof number);
	}
	return 0;
}

/* Threads that the system refuses: the nth, counted from 0, and all after it. */
static int refused = NEVER, asked;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
			  void *context);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
			  void *context);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
			  void *context)
{
	if (refused != NEVER && asked++ >= refused)
		return EAGAIN;
	return __real_pthread_create(thread, attributes, run, context);
}

/* A disk that is slow at times: others go on while a block is being read. */
static bool slow_disk;

/* A source that nothing comes from at every other call. */
static bool silent_source;
static unsigned calls, silences;

int __real_ft_block_read(struct ft_block *block, struct ft_source *source, unsigned most);
int __wrap_ft_block_read(struct ft_block *block, struct ft_source *source, unsigned most);

int __wrap_ft_block_read(struct ft_block *block, struct ft_source *source, unsigned most)
{
	int count;

	if (silent_source && calls++ % 2 == 0) {
		silences++;
		return 0;
	}
	count = __real_ft_block_read(block, source, most);
	if (slow_disk)
		usleep(500);
	return count;
}

/* What the last step saw, and how it behaves. */
struct account {
	uint64_t frames; /* in order, without one missing */
	uint64_t out_of_order, changed, blocks;
	_Atomic unsigned inside;
	unsigned together;   /* times that two threads were in it */
	uint64_t fail_after; /* frames; 0: never */
	bool dawdles;
	uint64_t stop_after; /* frames read; UINT64_MAX: never */
	uint64_t asked;
};

static void see_frame(struct account *account, const struct ft_frame *frame)
{
	uint32_t number;

	memcpy(&number, frame->bytes, sizeof number);
	account->out_of_order += frame->number != ++account->frames;
	account->changed += number != frame->number;
}

static int end_block(struct account *account)
{
	if (account->dawdles && ++account->blocks % 8 == 0)
		usleep(200);
	atomic_fetch_sub(&account->inside, 1);
	return account->fail_after != 0 && account->frames >= account->fail_after ? -ENOSPC : 0;
}

static int account_for(void *context, const struct ft_source *source, const struct ft_batch *batch)
{
	struct account *account = context;

	(void)source;
	account->together += atomic_fetch_add(&account->inside, 1) != 0;
	for (unsigned i = 0; i < batch->count; i++)
		see_frame(account, batch->items[i].frame);
	return end_block(account);
}

static int account_for_share(void *context, const struct ft_source *source, struct ft_share *share)
{
	struct account *account = context;

	(void)source;
	account->together += atomic_fetch_add(&account->inside, 1) != 0;
	for (unsigned i = 0, count = ft_share_order(share, FT_ACCOUNT_NOTHING); i < count; i++)
		see_frame(account, ft_share_frame(share, share->places[i]));
	return end_block(account);
}

static bool go_on(void *context, uint64_t frames)
{
	struct account *account = context;

	account->asked++;
	return frames < account->stop_after;
}

struct team {
	struct ft_engine_config config;
	struct ft_worker *workers[WORKERS_MOST];
	struct ft_crew crew;
	struct ft_source *source;
};

static void assemble(struct team *team, unsigned workers)
{
	struct ft_source_complaint complaint;

	*team = (struct team){ .config = FT_ENGINE_DEFAULTS };
	team->config.flows = 64;
	team->config.workers = workers;
	team->config.details = true; /* or they would have nothing to do */
	for (unsigned i = 0; i < workers; i++)
		assert_int_equal(ft_worker_create(&team->workers[i], &team->config, NULL), 0);
	assert_int_equal(ft_crew_init(&team->crew, team->workers, workers), 0);
	assert_int_equal(ft_source_open_memory(&team->source, file, sizeof file, &complaint), 0);
}

static void dismiss(struct team *team)
{
	ft_crew_free(&team->crew);
	for (unsigned i = 0; i < team->config.workers; i++)
		ft_worker_destroy(team->workers[i]);
	ft_source_close(team->source);
}

static int run(struct team *team, struct account *account, uint64_t most)
{
	return ft_crew_run(&team->crew,
			   &(struct ft_crew_run){
				   .source = team->source,
				   .most = most,
				   .account = { account_for, account_for_share, account },
				   .go_on = go_on,
				   .go_on_context = account,
			   });
}

static void assert_in_order(const struct account *account)
{
	assert_int_equal(account->out_of_order, 0);
	assert_int_equal(account->changed, 0);
	assert_int_equal(account->together, 0);
}

static const unsigned crews[] = { 1, 2, 5, 7 };
#define CREWS (sizeof crews / sizeof *crews)

static void frames_are_accounted_for_in_order_by_any_number_of_workers(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * CREWS; i++) {
		struct account account = { .stop_after = UINT64_MAX, .dawdles = i >= CREWS };
		struct team team;

		assemble(&team, crews[i % CREWS]);
		assert_int_equal(run(&team, &account, UINT64_MAX), 0);
		assert_in_order(&account);
		assert_int_equal(account.frames, FRAMES);
		assert_int_equal(team.crew.frames_read, FRAMES);
		assert_true(account.asked > 0);
		dismiss(&team);
	}
}

/* Each frame falls to one worker: what they counted adds up to what there was. */
static void every_frame_is_worked_on_once(void **state)
{
	(void)state;
	for (size_t i = 0; i < CREWS; i++) {
		struct account account = { .stop_after = UINT64_MAX };
		uint64_t counted = 0;
		struct team team;

		assemble(&team, crews[i]);
		assert_int_equal(run(&team, &account, UINT64_MAX), 0);
		for (unsigned worker = 0; worker < crews[i]; worker++)
			counted += team.workers[worker]->tally.not_rdma;
		assert_int_equal(counted, FRAMES);
		dismiss(&team);
	}
}

static void no_more_frames_are_read_than_asked_for(void **state)
{
	static const uint64_t most[] = { 0,    1,         FT_BLOCK_FRAMES, FT_BLOCK_FRAMES + 1,
					 5000, FRAMES - 1 };

	(void)state;
	for (size_t i = 0; i < CREWS; i++)
		for (size_t j = 0; j < sizeof most / sizeof *most; j++) {
			struct account account = { .stop_after = UINT64_MAX };
			struct team team;

			assemble(&team, crews[i]);
			assert_int_equal(run(&team, &account, most[j]), 0);
			assert_in_order(&account);
			assert_int_equal(account.frames, most[j]);
			assert_int_equal(team.crew.frames_read, most[j]);
			dismiss(&team);
		}
}

/* What was read before is accounted for, and nothing else. */
static void whoever_is_asked_can_end_the_run(void **state)
{
	static const uint64_t stops[] = { 0, 2000 };

	(void)state;
	for (size_t i = 0; i < CREWS; i++)
		for (size_t j = 0; j < 2; j++) {
			struct account account = { .stop_after = stops[j] };
			struct team team;

			assemble(&team, crews[i]);
			assert_int_equal(run(&team, &account, UINT64_MAX), 0);
			assert_in_order(&account);
			assert_int_equal(account.frames, team.crew.frames_read);
			assert_true(account.frames >= stops[j]);
			if (crews[i] == 1 && stops[j] == 0)
				assert_int_equal(account.frames, 0);
			dismiss(&team);
		}
}

static void assert_error_ends(unsigned workers, uint64_t fail_after)
{
	struct account account = { .stop_after = UINT64_MAX, .fail_after = fail_after };
	struct team team;

	assemble(&team, workers);
	assert_int_equal(run(&team, &account, UINT64_MAX), -ENOSPC);
	assert_in_order(&account);
	assert_true(account.frames >= fail_after);
	assert_true(account.frames < fail_after + FT_BLOCK_FRAMES);
	dismiss(&team);
}

/* Nothing is accounted for behind it, and all threads come home. */
static void an_error_of_the_account_ends_the_run(void **state)
{
	(void)state;
	for (size_t i = 0; i < CREWS; i++) {
		assert_error_ends(crews[i], 1);
		assert_error_ends(crews[i], 3000);
		assert_error_ends(crews[i], FRAMES);
	}
}

/* Nobody may go home before the block that is being read meanwhile. */
static void an_error_while_a_block_is_read_ends_the_run(void **state)
{
	(void)state;
	slow_disk = true;
	for (size_t i = 0; i < CREWS; i++)
		assert_error_ends(crews[i], 3000);
	slow_disk = false;
}

/* There is time to ask, and whoever is asked can end it; what comes later is not missed. */
static void silence_does_not_end_the_run(void **state)
{
	(void)state;
	silent_source = true;
	for (size_t i = 0; i < CREWS; i++) {
		struct account account = { .stop_after = UINT64_MAX };
		struct team team;

		calls = silences = 0;
		assemble(&team, crews[i]);
		assert_int_equal(run(&team, &account, UINT64_MAX), 0);
		assert_in_order(&account);
		assert_int_equal(account.frames, FRAMES);
		assert_true(silences > FRAMES / FT_BLOCK_FRAMES);
		if (crews[i] == 1)
			assert_true(account.asked >= silences);
		dismiss(&team);
	}
	silent_source = false;
}

static void a_thread_that_cannot_be_started_ends_the_run(void **state)
{
	(void)state;
	for (int nth = 0; nth < 4; nth++) {
		struct account account = { .stop_after = UINT64_MAX };
		struct team team;

		assemble(&team, 5);
		refused = nth;
		asked = 0;
		assert_int_equal(run(&team, &account, UINT64_MAX), -EAGAIN);
		refused = NEVER;
		assert_int_equal(account.frames, 0);
		dismiss(&team);
	}
}

static void a_crew_of_one_starts_no_thread(void **state)
{
	struct account account = { .stop_after = UINT64_MAX };
	struct team team;

	(void)state;
	assemble(&team, 1);
	refused = 0;
	asked = 0;
	assert_int_equal(run(&team, &account, UINT64_MAX), 0);
	refused = NEVER;
	assert_int_equal(asked, 0);
	assert_int_equal(account.frames, FRAMES);
	dismiss(&team);
}

/* A source that was read from cannot keep the frames of several blocks any more. */
static void a_source_that_cannot_keep_frames_is_refused(void **state)
{
	struct account account = { .stop_after = UINT64_MAX };
	struct ft_frame frame;
	struct team team;

	(void)state;
	assemble(&team, 2);
	assert_int_equal(ft_source_next(team.source, &frame, 1), 1);
	assert_int_equal(run(&team, &account, UINT64_MAX), -EINVAL);
	assert_int_equal(account.frames, 0);
	dismiss(&team);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_accounted_for_in_order_by_any_number_of_workers),
		cmocka_unit_test(every_frame_is_worked_on_once),
		cmocka_unit_test(no_more_frames_are_read_than_asked_for),
		cmocka_unit_test(whoever_is_asked_can_end_the_run),
		cmocka_unit_test(an_error_of_the_account_ends_the_run),
		cmocka_unit_test(an_error_while_a_block_is_read_ends_the_run),
		cmocka_unit_test(silence_does_not_end_the_run),
		cmocka_unit_test(a_thread_that_cannot_be_started_ends_the_run),
		cmocka_unit_test(a_crew_of_one_starts_no_thread),
		cmocka_unit_test(a_source_that_cannot_keep_frames_is_refused),
	};

	alarm(HANGS_S);
	return cmocka_run_group_tests(tests, build_file, NULL);
}
