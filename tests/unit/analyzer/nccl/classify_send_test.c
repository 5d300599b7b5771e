#include "qp_play.h"

#include <string.h>

/* UCX, Open MPI over it, and Gloo. */

enum { TIMES = 20 };

static const struct words none;

/* Eager messages: number 2, the tag; then one without anything but credits. */
static void active_messages_are_ucxs(void **state)
{
	static const uint8_t eager[16] = { 0x02, 0x80, 0xa8, 0x37, 0x13 };
	static const uint8_t credits[1] = { 0xe0 };
	struct play p = play_start(100);

	(void)state;
	p.traffic_class = 106;
	for (uint32_t psn = 0; psn < 4; psn++) {
		play_send(&p, false, psn, eager, sizeof eager, 3000);
		play_send(&p, true, psn, credits, 1, 1);
	}
	assert_both(&p, FT_NCCL_CLASS_UCX);
	ft_nccl_qps_destroy(p.qps);
}

/* All else is as UCX does it, but for one SEND that has no active message's number. */
static void one_send_of_another_kind_is_not_ucxs(void **state)
{
	static const uint8_t other[16] = { 0x1e };
	struct play p = play_start(100);

	(void)state;
	p.traffic_class = 106;
	for (uint32_t psn = 0; psn < 8; psn += 2) {
		play_send(&p, false, psn, NULL, 0, 3000);
		play_there(&p, WRITE, psn + 1, none);
		play_send(&p, true, psn / 2, NULL, 0, 40);
	}
	assert_both(&p, FT_NCCL_CLASS_UCX);
	play_send(&p, false, 8, other, sizeof other, 3000);
	assert_both(&p, FT_NCCL_CLASS_UNKNOWN);
	ft_nccl_qps_destroy(p.qps);
}

/* From the middle, without its traffic class: tags of a collective of Open MPI, rank 3 in communicator 0. */
static void tags_of_open_mpi_are_seen_in_ucx_messages(void **state)
{
	static const uint8_t eager[16] = { 0x02, 0x00, 0x00, 0x30, 0x00, 0x00, 0xf4, 0xff, 0xff };
	struct play p = play_start(100);
	struct ft_nccl_queue_pair row;

	(void)state;
	for (uint32_t psn = 300; psn < 310; psn++)
		play_send(&p, false, psn, eager, sizeof eager, 3000);
	play_there(&p, READ, 310, (struct words){ .va = 0x1000, .rkey = 7, .length = 70000 });
	row = play_end(&p, 1, ASKING);
	assert_int_equal(row.class, FT_NCCL_CLASS_UCX);
	assert_true(play_has(&row, "Open MPI's tags"));
	ft_nccl_qps_destroy(p.qps);
}

/* btl/openib's header with its tag, then pml/ob1's: a match, from rank 1; with the padding of some builds and without. */
static void headers_of_open_mpi_are_known_without_ucx(void **state)
{
	static const struct {
		const char *sentence;
		uint8_t bytes[24];
		enum ft_nccl_class class;
	} rows[] = {
		{ "padded",
		  { 0x41, 0, 0, 5, [8] = 0x41, [12] = 1, [16] = 0xf4, 0xff, 0xff, 0xff },
		  FT_NCCL_CLASS_OPENMPI },
		{ "not padded",
		  { 0x42, 0, 0, 5, 0x42, 1, [8] = 1, [12] = 0xf4, 0xff, 0xff, 0xff },
		  FT_NCCL_CLASS_OPENMPI },
		{ "two types", { 0x41, 0, 0, 5, 0x42, [8] = 0x43 }, FT_NCCL_CLASS_UNKNOWN },
		{ "no type", { 0x4a, 0, 0, 5, 0x4a, [8] = 0x4a }, FT_NCCL_CLASS_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct play p = play_start(100);
		struct ft_nccl_queue_pair row;

		for (uint32_t psn = 300; psn < 306; psn++)
			play_send(&p, psn % 2 != 0, psn, rows[i].bytes, 24, 200 + psn);
		row = play_end(&p, 1, ASKING);
		if (row.class != rows[i].class)
			fail_msg("%s: %s", rows[i].sentence, ft_nccl_class_name(row.class));
		ft_nccl_qps_destroy(p.qps);
	}
}

static void datagrams_are_known_by_their_key(void **state)
{
	static const struct {
		uint32_t qkey;
		enum ft_nccl_class class;
	} rows[] = { { 0x1ee7a330, FT_NCCL_CLASS_UCX },
		     { 0x01234567, FT_NCCL_CLASS_RDMA_CM },
		     { 0x11111111, FT_NCCL_CLASS_UNKNOWN } };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct play p = play_start(100);

		play_there(&p, UD_SEND, 0,
			   (struct words){ .qkey = rows[i].qkey, .src_qp = ASKING });
		/* its DETH is the other one's by the QPN it names */
		play_back(&p, UD_SEND, 0, none);
		assert_class(&p, 2, ASKED, rows[i].class);
		ft_nccl_qps_destroy(p.qps);
	}
}

/* struct ibv_mr of a 64-bit host: context, protection domain, address, length, handle, keys. */
static void announced_memory_is_gloos(void **state)
{
	static const uint8_t region[48] = {
		0x10, 0x20, 0x30, 0x40, 0x50, 0x55, 0, 0, 0x10, 0x20, 0x31, 0x40, 0x50, 0x55, 0, 0,
		0x00, 0x90, 0x30, 0x40, 0x50, 0x7f, 0, 0, 0x80, 0x3e, 0,    0,    0,    0,    0, 0,
		0x01, 0,    0,    0,    0x05, 0x06, 0, 0, 0x07, 0x08, 0,    0,    0,    0,    0, 0,
	};
	struct play p = play_start(100);

	(void)state;
	play_there(&p, SEND_IMM, 77, (struct words){ .bytes = region, .captured = 48 });
	play_back(&p, ACK, 77, none);
	for (uint32_t psn = 900; psn < 900 + 3 * TIMES; psn += 3) {
		play_back(&p, WRITE_FIRST, psn,
			  (struct words){
				  .va = 0x7f5040309000, .rkey = 8, .length = 3000, .size = 1024 });
		play_back(&p, WRITE_MIDDLE, psn + 1, (struct words){ .size = 1024 });
		play_back(&p, WRITE_LAST_IMM, psn + 2,
			  (struct words){ .immdt = 0x02000000, .size = 952 });
		play_there(&p, ACK, psn + 2, none);
	}
	assert_both(&p, FT_NCCL_CLASS_GLOO);
	ft_nccl_qps_destroy(p.qps);
}

/* Immediates that are lengths number nothing: could be anybody's. */
static void immediates_alone_are_not_gloos(void **state)
{
	struct play p = play_start(100);

	(void)state;
	for (uint32_t psn = 900; psn < 900 + TIMES; psn++) {
		play_back(&p, WRITE_IMM, psn,
			  (struct words){
				  .va = 0x1000, .rkey = 8, .length = 200, .immdt = 0xc8000000 });
		play_there(&p, ACK, psn, none);
	}
	assert_both(&p, FT_NCCL_CLASS_UNKNOWN);
	ft_nccl_qps_destroy(p.qps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(active_messages_are_ucxs),
		cmocka_unit_test(one_send_of_another_kind_is_not_ucxs),
		cmocka_unit_test(tags_of_open_mpi_are_seen_in_ucx_messages),
		cmocka_unit_test(headers_of_open_mpi_are_known_without_ucx),
		cmocka_unit_test(datagrams_are_known_by_their_key),
		cmocka_unit_test(announced_memory_is_gloos),
		cmocka_unit_test(immediates_alone_are_not_gloos),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
