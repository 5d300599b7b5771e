#include "qp_play.h"

#include <string.h>

/* Packets by hand for each kind of traffic, between queue pair 0x20 of host 2, asked by host 1, and 0x10 of host 1. */

enum { ASKED = 0x20, ASKING = 0x10, TIMES = 20 };

static const struct words none;

static struct ft_nccl_qp *there(struct play *p, uint8_t opcode, uint32_t psn, struct words words)
{
	return play(p, 1, 2, ASKED, opcode, psn, words);
}

static struct ft_nccl_qp *back(struct play *p, uint8_t opcode, uint32_t psn, struct words words)
{
	return play(p, 2, 1, ASKING, opcode, psn, words);
}

static void assert_both(const struct play *p, enum ft_nccl_class class)
{
	assert_class(p, 2, ASKED, class);
	assert_class(p, 1, ASKING, class);
}

/* A SEND there and its ACK back, or the other way. */
static void sends(struct play *p, bool turned, uint32_t psn, const uint8_t *bytes,
		  uint32_t captured, uint32_t size)
{
	struct words words = { .bytes = bytes, .captured = captured, .size = size };

	(turned ? back : there)(p, SEND, psn, words);
	(turned ? there : back)(p, ACK, psn, none);
}

static void set_up(struct play *p, uint16_t port)
{
	play_req(p, 1, 2, 9, ASKING, port);
	play_rep(p, 2, 1, 9, ASKED);
}

/* What an NCCL connection is without anything noted: plain writes and immediates from PSN 0. */
static struct ft_nccl_qp *write_back_and_forth(struct play *p)
{
	struct ft_nccl_qp *asked = NULL;

	for (uint32_t psn = 0; psn < TIMES; psn++) {
		back(p, WRITE, psn,
		     (struct words){
			     .va = 0x1000 + 512 * psn, .rkey = 7, .length = 64, .size = 64 });
		there(p, ACK, psn, none);
		asked = there(p, WRITE_IMM, psn,
			      (struct words){ .va = 0x90000,
					      .rkey = 8,
					      .length = 800,
					      .immdt = 0x20030000,
					      .size = 800 });
		back(p, ACK, psn, none);
	}
	return asked;
}

static void what_is_noted_at_one_end_makes_both_nccl(void **state)
{
	static const struct {
		const char *sentence;
		uint16_t noted;
		bool nccl;
		double confidence;
	} rows[] = {
#define N(number) (1u << FT_NCCL_N##number)
		{ "nothing", 0, false, 0 },
		{ "metadata", N(1), true, 1 },
		{ "clear-to-sends", N(2), true, 1 },
		{ "windows", N(4), true, 1 },
		{ "a ring of writes", N(5), false, 0 },
		{ "a ring of writes, one before each message", N(5) | N(8), false, 0 },
		{ "lengths in immediates", N(6), false, 0 },
		{ "a ring, lengths in immediates", N(5) | N(6), true, 1 },
		{ "a ring, buffers", N(5) | N(7), true, 1 },
		{ "one write before each message, lines", N(8) | N(10), true, 1 },
		{ "lengths, and one write before each message", N(6) | N(8), true, 1 },
		{ "buffers alone", N(7), false, 0 },
		{ "lines alone", N(10), false, 0 },
#undef N
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct play p = play_start(100);
		struct ft_nccl_qp *qp = write_back_and_forth(&p);
		struct ft_nccl_queue_pair row;

		for (unsigned evidence = 0; evidence < FT_NCCL_EVIDENCES; evidence++)
			if ((rows[i].noted & 1u << evidence) != 0)
				ft_nccl_qp_note(qp, evidence);
		row = play_end(&p, 1, ASKING);
		if ((row.class == FT_NCCL_CLASS_NCCL) != rows[i].nccl ||
		    row.confidence != rows[i].confidence ||
		    (play_has(&row, "N9") && play_has(&row, "N11")) != (rows[i].noted != 0))
			fail_msg("%s", rows[i].sentence);
		ft_nccl_qps_destroy(p.qps);
	}
}

static void headers_show_evidence_of_nccl(void **state)
{
	struct play p = play_start(100);
	struct ft_nccl_queue_pair row;

	(void)state;
	there(&p, WRITE_IMM, 5, none); /* RETH all zero */
	back(&p, WRITE, 0, (struct words){ .va = 0x1000, .rkey = 7, .length = 64 });
	there(&p, ACK, 0, (struct words){ .syndrome = 0x2c });
	back(&p, ACK, 5, none);
	ft_nccl_qp_note(there(&p, WRITE_IMM, 6, none), FT_NCCL_N6);
	row = play_end(&p, 2, ASKED);
	assert_int_equal(row.class, FT_NCCL_CLASS_NCCL);
	assert_true(play_has(&row, "N3") && play_has(&row, "N6") && play_has(&row, "N12"));
	assert_false(play_has(&row, "N9")); /* 5 is not 0 */
	ft_nccl_qps_destroy(p.qps);
}

/* Even with metadata that names it. */
static void what_nccl_never_does_rules_it_out(void **state)
{
	static const struct {
		const char *rule;
		uint8_t opcode;
		bool turned;
		struct words words;
	} rows[] = {
		{ "X1", SEND, false, { .size = 8 } },
		{ "X1", SEND_IMM, true, { .size = 8 } },
		{ "X1", SEND_INVALIDATE, true, { .size = 8 } },
		{ "X2", COMPARE_SWAP, false, { .va = 8 } },
		{ "X3", FETCH_ADD, true, { .va = 8 } },
		{ "X4", READ, false, { .va = 8, .rkey = 8, .length = 4096 } },
		{ "X5", XRC | WRITE, false, { .va = 8, .rkey = 8, .length = 64 } },
		{ "X5", UD_SEND, false, { .size = 8 } },
		{ NULL, READ, false, { .va = 8, .rkey = 8, .length = 1 } },
		{ NULL, READ, true, { .va = 8, .rkey = 8, .length = 128 } },
		{ NULL, UC | WRITE, false, { .va = 8, .rkey = 8, .length = 64 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct play p = play_start(100);
		struct ft_nccl_queue_pair row;

		ft_nccl_qp_note(write_back_and_forth(&p), FT_NCCL_N1);
		(rows[i].turned ? back : there)(&p, rows[i].opcode, TIMES, rows[i].words);
		row = play_end(&p, 2, ASKED);
		if ((row.class == FT_NCCL_CLASS_NCCL) != (rows[i].rule == NULL))
			fail_msg("row %zu", i);
		ft_nccl_qps_destroy(p.qps);
	}
}

static void connections_that_cm_made_are_not_nccls(void **state)
{
	struct play p = play_start(100);

	(void)state;
	set_up(&p, 5000);
	ft_nccl_qp_note(write_back_and_forth(&p), FT_NCCL_N1);
	assert_both(&p, FT_NCCL_CLASS_RDMA_CM);
	assert_class(&p, 1, 1, FT_NCCL_CLASS_RDMA_CM);
	ft_nccl_qps_destroy(p.qps);
}

static void writes_that_signal_beside_nccl_are_gins(void **state)
{
	struct play p = play_start(100);

	(void)state;
	for (uint32_t psn = 0; psn < TIMES; psn += 2) {
		play(&p, 1, 2, 0x30, WRITE, psn,
		     (struct words){ .va = 0x5000 + psn, .rkey = 7, .length = 4096, .size = 4096 });
		play(&p, 1, 2, 0x30, FETCH_ADD, psn + 1, (struct words){ .va = 0x100 });
		play(&p, 2, 1, 0x31, ACK, psn + 1, none);
	}
	write_back_and_forth(&p);
	assert_class(&p, 2, 0x30, FT_NCCL_CLASS_UNKNOWN);
	ft_nccl_qp_note(there(&p, WRITE_IMM, TIMES, none), FT_NCCL_N2);
	assert_class(&p, 2, 0x30, FT_NCCL_CLASS_GIN);
	assert_class(&p, 1, 0x31, FT_NCCL_CLASS_GIN);
	assert_class(&p, 2, ASKED, FT_NCCL_CLASS_NCCL);
	ft_nccl_qps_destroy(p.qps);
}

/* Eager messages: number 2, the tag; then one without anything but credits. */
static void active_messages_are_ucxs(void **state)
{
	static const uint8_t eager[16] = { 0x02, 0x80, 0xa8, 0x37, 0x13 };
	static const uint8_t credits[1] = { 0xe0 };
	struct play p = play_start(100);

	(void)state;
	p.traffic_class = 106;
	for (uint32_t psn = 0; psn < 4; psn++) {
		sends(&p, false, psn, eager, sizeof eager, 3000);
		sends(&p, true, psn, credits, 1, 1);
	}
	assert_both(&p, FT_NCCL_CLASS_UCX);
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
		sends(&p, false, psn, eager, sizeof eager, 3000);
	there(&p, READ, 310, (struct words){ .va = 0x1000, .rkey = 7, .length = 70000 });
	row = play_end(&p, 1, ASKING);
	assert_int_equal(row.class, FT_NCCL_CLASS_UCX);
	assert_true(play_has(&row, "Open MPI's tags"));
	ft_nccl_qps_destroy(p.qps);
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

		there(&p, UD_SEND, 0, (struct words){ .qkey = rows[i].qkey, .src_qp = ASKING });
		back(&p, UD_SEND, 0, none); /* its DETH is the other one's by the QPN it names */
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
	there(&p, SEND_IMM, 77, (struct words){ .bytes = region, .captured = 48 });
	back(&p, ACK, 77, none);
	for (uint32_t psn = 900; psn < 900 + 3 * TIMES; psn += 3) {
		back(&p, WRITE_FIRST, psn,
		     (struct words){
			     .va = 0x7f5040309000, .rkey = 8, .length = 3000, .size = 1024 });
		back(&p, WRITE_MIDDLE, psn + 1, (struct words){ .size = 1024 });
		back(&p, WRITE_LAST_IMM, psn + 2,
		     (struct words){ .immdt = 0x02000000, .size = 952 });
		there(&p, ACK, psn + 2, none);
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
		back(&p, WRITE_IMM, psn,
		     (struct words){ .va = 0x1000, .rkey = 8, .length = 200, .immdt = 0xc8000000 });
		there(&p, ACK, psn, none);
	}
	assert_both(&p, FT_NCCL_CLASS_UNKNOWN);
	ft_nccl_qps_destroy(p.qps);
}

/* NVMe over Fabrics: a READ of namespace 1; 16 bytes of completion. */
static const uint8_t nvme_read[64] = { 0x02, 0x40, 0x0b, 0x00, 0x01 };
static const uint8_t nvme_done[16] = { [8] = 0x0c, [12] = 0x0b };

static void play_nvme(struct play *p, uint32_t captured)
{
	for (uint32_t psn = 500; psn < 500 + TIMES; psn++) {
		sends(p, false, psn, nvme_read, captured, 64);
		back(p, WRITE, 2 * psn,
		     (struct words){ .va = 0xff00, .rkey = 7, .length = 512, .size = 512 });
		back(p, SEND_INVALIDATE, 2 * psn + 1,
		     (struct words){ .bytes = nvme_done,
				     .captured = captured < 16 ? captured : 16,
				     .size = 16 });
		there(p, ACK, 2 * psn + 1, none);
	}
}

static void commands_and_completions_are_nvmes(void **state)
{
	static const uint32_t captured[] = { 64, 10, 0 };

	(void)state;
	for (size_t i = 0; i < sizeof captured / sizeof *captured; i++) {
		struct play p = play_start(100);

		play_nvme(&p, captured[i]);
		assert_both(&p, FT_NCCL_CLASS_NVME);
		ft_nccl_qps_destroy(p.qps);
	}
}

/* A protocol that has the sizes, but not the commands. */
static void other_commands_are_not_nvmes(void **state)
{
	static const uint8_t command[64] = { 0x02, 0x00 };
	struct play p = play_start(100);

	(void)state;
	sends(&p, false, 499, command, 64, 64);
	play_nvme(&p, 0);
	assert_both(&p, FT_NCCL_CLASS_UNKNOWN);
	ft_nccl_qps_destroy(p.qps);
}

/* RFC 7145: an iSCSI PDU, with keys to read; 48 bytes of it follow. RFC 8166: version 1, 32 credits, RDMA_MSG. */
static const uint8_t iser_pdu[76] = { 0x14, [28] = 0x01, 0xc1 };
static const uint8_t nfs_call[28] = { 0x5a, 1, 2, 3, 0, 0, 0, 1, 0, 0, 0, 32 };
/* o2iblnd: magic, version, type "immediate". MS-SMBD: credits asked and granted, offset 24, length 64, then SMB2. */
static const uint8_t lustre_message[64] = { 0x91, 0x1b, 0xe9, 0x0b, 0x12, 0, 0xd1 };
static const uint8_t smb_message[88] = {
	0xff, 0, 0x01, 0, [12] = 24, [16] = 64, [24] = 0xfe, 'S', 'M', 'B'
};

static void storage_is_known_by_its_messages_and_by_its_port(void **state)
{
	static const struct {
		const char *sentence;
		uint16_t port; /* 0: no CM was seen */
		const uint8_t *bytes;
		uint32_t captured, size;
		enum ft_nccl_class class;
	} rows[] = {
		{ "iSER", 3260, iser_pdu, 76, 76, FT_NCCL_CLASS_ISER },
		{ "iSER without CM", 0, iser_pdu, 76, 76, FT_NCCL_CLASS_ISER },
		{ "iSER without payload", 3260, NULL, 0, 76, FT_NCCL_CLASS_ISER },
		{ "sizes of iSER alone", 0, NULL, 0, 76, FT_NCCL_CLASS_UNKNOWN },
		{ "NFS", 20049, nfs_call, 28, 200, FT_NCCL_CLASS_NFS },
		{ "NFS without CM", 0, nfs_call, 28, 200, FT_NCCL_CLASS_NFS },
		{ "NFS cut", 20049, nfs_call, 10, 200, FT_NCCL_CLASS_NFS },
		{ "Lustre", 987, lustre_message, 64, 64, FT_NCCL_CLASS_LUSTRE },
		{ "Lustre without CM", 0, lustre_message, 8, 4000, FT_NCCL_CLASS_LUSTRE },
		{ "SMB Direct", 445, smb_message, 88, 88, FT_NCCL_CLASS_SMB },
		{ "SMB Direct without CM", 0, smb_message, 88, 88, FT_NCCL_CLASS_SMB },
		{ "CM for something else", 5000, NULL, 0, 333, FT_NCCL_CLASS_RDMA_CM },
		{ "nothing known", 0, NULL, 0, 333, FT_NCCL_CLASS_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct play p = play_start(100);
		struct ft_nccl_queue_pair row;

		if (rows[i].port != 0)
			set_up(&p, rows[i].port);
		for (uint32_t psn = 500; psn < 500 + TIMES; psn++) {
			sends(&p, false, psn, rows[i].bytes, rows[i].captured, rows[i].size);
			sends(&p, true, 3 * psn, rows[i].bytes, rows[i].captured, rows[i].size);
			p.ts_ns += 500000000; /* no benchmark */
		}
		row = play_end(&p, 1, ASKING);
		if (row.class != rows[i].class)
			fail_msg("%s: %s", rows[i].sentence, ft_nccl_class_name(row.class));
		ft_nccl_qps_destroy(p.qps);
	}
}

/* An old and a new form, the latter with GID ::ffff:10.0.0.1. */
static const char exchange_lid[] = "0000:0001:000010:2c554d:00000000:0000559626ef3000:00000000";
static const char exchange_gid[] = "0000:0001:000010:2c554d:00000000:0000559626ef3000:"
				   "00:00:00:00:00:00:00:00:00:00:ff:ff:0a:00:00:01:00000000:";

static void the_exchange_of_perftest_names_its_queue_pairs(void **state)
{
	static const struct {
		const char *sentence, *text;
		uint8_t from;
		uint32_t length;
		bool perftest;
	} rows[] = {
		{ "without GID", exchange_lid, 1, 59, true },
		{ "with GID, over another network", exchange_gid, 7, 108, true },
		{ "with a GID that was cut off", "0000:0001:000010:2c554d:00", 1, 108, true },
		{ "of another host", exchange_lid, 7, 59, false },
		{ "QPN in capitals", "0000:0001:00001F:2c554d:0000000", 1, 59, false },
		{ "QPN cut off", "0000:0001:00001", 1, 59, false },
		{ "another length", exchange_lid, 1, 60, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct play p = play_start(100);
		struct ft_nccl_queue_pair row;

		play_segment(&p, rows[i].from, 2, 19999, rows[i].text, rows[i].length);
		back(&p, SEND, 100, (struct words){ .size = 700 });
		row = play_end(&p, 1, ASKING);
		if ((row.class == FT_NCCL_CLASS_PERFTEST) != rows[i].perftest)
			fail_msg("%s", rows[i].sentence);
		ft_nccl_qps_destroy(p.qps);
	}
}

static void one_operation_again_and_again_is_perftests(void **state)
{
	static const struct {
		const char *sentence;
		uint8_t opcode, traffic_class;
		uint32_t va_step, step_ns;
		enum ft_nccl_class class;
	} rows[] = {
		{ "writes to one address", WRITE, 0, 0, 1000, FT_NCCL_CLASS_PERFTEST },
		{ "reads from one address", READ, 0, 0, 1000, FT_NCCL_CLASS_PERFTEST },
		{ "writes here and there", WRITE, 0, 64, 1000, FT_NCCL_CLASS_UNKNOWN },
		{ "a sign of life now and then", WRITE, 0, 0, 100000000, FT_NCCL_CLASS_UNKNOWN },
		{ "in UCX's traffic class", WRITE, 106, 0, 1000, FT_NCCL_CLASS_UNKNOWN },
		{ "with immediates", WRITE_IMM, 0, 0, 1000, FT_NCCL_CLASS_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct play p = play_start(100);
		struct ft_nccl_queue_pair row;

		p.traffic_class = rows[i].traffic_class;
		p.step_ns = rows[i].step_ns;
		for (uint32_t psn = 50; psn < 50 + TIMES; psn++)
			there(&p, rows[i].opcode, psn,
			      (struct words){ 0x8000 + psn * rows[i].va_step, 7, 64, .immdt = 64 });
		row = play_end(&p, 2, ASKED);
		if (row.class != rows[i].class)
			fail_msg("%s: %s", rows[i].sentence, ft_nccl_class_name(row.class));
		ft_nccl_qps_destroy(p.qps);
	}
}

/* Cut to headers, its TCP port must do: 5 seconds at most before the first packet. */
static void perftests_port_must_be_used_just_before(void **state)
{
	static const struct {
		uint16_t port;
		uint8_t host;
		uint64_t wait_ns;
		enum ft_nccl_class class;
	} rows[] = {
		{ 18515, 1, 1000, FT_NCCL_CLASS_PERFTEST },
		{ 18515, 1, 6000000000, FT_NCCL_CLASS_UNKNOWN },
		{ 18515, 7, 1000, FT_NCCL_CLASS_UNKNOWN },
		{ 18516, 1, 1000, FT_NCCL_CLASS_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct play p = play_start(100);

		play_segment(&p, rows[i].host, 2, rows[i].port, "", 16);
		p.ts_ns += rows[i].wait_ns;
		for (uint32_t psn = 50; psn < 50 + TIMES; psn++) {
			there(&p, SEND, psn, (struct words){ .size = 512 });
			back(&p, ACK, psn, none);
		}
		assert_both(&p, rows[i].class);
		ft_nccl_qps_destroy(p.qps);
	}
}

static void perftest_over_cm_has_its_port(void **state)
{
	struct play p = play_start(100);

	(void)state;
	set_up(&p, 18515);
	sends(&p, false, 99, NULL, 0, 16);
	assert_both(&p, FT_NCCL_CLASS_PERFTEST);
	ft_nccl_qps_destroy(p.qps);
}

/* A REQ whose path is another than that of its own packet: anybody may name anybody's queue pairs. */
static void a_req_for_others_says_nothing(void **state)
{
	struct play p = play_start(100);
	uint8_t mad[256] = { 1, 7, 0, 3, [17] = 0x10, [24 + 14] = 0x11, 0x44, [24 + 34] = ASKING };

	(void)state;
	play(&p, 1, 2, 1, UD_SEND, 0, (struct words){ .bytes = mad, .captured = sizeof mad });
	sends(&p, false, 99, NULL, 0, 333);
	assert_both(&p, FT_NCCL_CLASS_UNKNOWN);
	ft_nccl_qps_destroy(p.qps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_noted_at_one_end_makes_both_nccl),
		cmocka_unit_test(headers_show_evidence_of_nccl),
		cmocka_unit_test(what_nccl_never_does_rules_it_out),
		cmocka_unit_test(connections_that_cm_made_are_not_nccls),
		cmocka_unit_test(writes_that_signal_beside_nccl_are_gins),
		cmocka_unit_test(active_messages_are_ucxs),
		cmocka_unit_test(tags_of_open_mpi_are_seen_in_ucx_messages),
		cmocka_unit_test(datagrams_are_known_by_their_key),
		cmocka_unit_test(announced_memory_is_gloos),
		cmocka_unit_test(immediates_alone_are_not_gloos),
		cmocka_unit_test(commands_and_completions_are_nvmes),
		cmocka_unit_test(other_commands_are_not_nvmes),
		cmocka_unit_test(storage_is_known_by_its_messages_and_by_its_port),
		cmocka_unit_test(the_exchange_of_perftest_names_its_queue_pairs),
		cmocka_unit_test(one_operation_again_and_again_is_perftests),
		cmocka_unit_test(perftests_port_must_be_used_just_before),
		cmocka_unit_test(perftest_over_cm_has_its_port),
		cmocka_unit_test(a_req_for_others_says_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
