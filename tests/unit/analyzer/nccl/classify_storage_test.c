#include "qp_play.h"

#include <string.h>

/* Storage over RDMA. */

enum { TIMES = 20 };

static const struct words none;

/* NVMe over Fabrics: a READ of namespace 1; 16 bytes of completion. */
static const uint8_t nvme_read[64] = { 0x02, 0x40, 0x0b, 0x00, 0x01 };
static const uint8_t nvme_done[16] = { [8] = 0x0c, [12] = 0x0b };

static void play_nvme(struct play *p, uint32_t captured)
{
	for (uint32_t psn = 500; psn < 500 + TIMES; psn++) {
		play_send(p, false, psn, nvme_read, captured, 64);
		play_back(p, WRITE, 2 * psn,
			  (struct words){ .va = 0xff00, .rkey = 7, .length = 512, .size = 512 });
		play_back(p, SEND_INVALIDATE, 2 * psn + 1,
			  (struct words){ .bytes = nvme_done,
					  .captured = captured < 16 ? captured : 16,
					  .size = 16 });
		play_there(p, ACK, 2 * psn + 1, none);
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
	play_send(&p, false, 499, command, 64, 64);
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
		const uint8_t *bytes;
		uint32_t port; /* 0: no CM was seen */
		uint32_t captured, size;
		enum ft_nccl_class class;
	} rows[] = {
		{ "iSER", iser_pdu, 3260, 76, 76, FT_NCCL_CLASS_ISER },
		{ "iSER without CM", iser_pdu, 0, 76, 76, FT_NCCL_CLASS_ISER },
		{ "iSER without payload", NULL, 3260, 0, 76, FT_NCCL_CLASS_ISER },
		{ "sizes of iSER alone", NULL, 0, 0, 76, FT_NCCL_CLASS_UNKNOWN },
		{ "NFS", nfs_call, 20049, 28, 200, FT_NCCL_CLASS_NFS },
		{ "NFS without CM", nfs_call, 0, 28, 200, FT_NCCL_CLASS_NFS },
		{ "NFS cut", nfs_call, 20049, 10, 200, FT_NCCL_CLASS_NFS },
		{ "Lustre", lustre_message, 987, 64, 64, FT_NCCL_CLASS_LUSTRE },
		{ "Lustre without CM", lustre_message, 0, 8, 4000, FT_NCCL_CLASS_LUSTRE },
		{ "SMB Direct", smb_message, 445, 88, 88, FT_NCCL_CLASS_SMB },
		{ "SMB Direct without CM", smb_message, 0, 88, 88, FT_NCCL_CLASS_SMB },
		{ "CM for something else", NULL, 5000, 0, 333, FT_NCCL_CLASS_RDMA_CM },
		{ "nothing known", NULL, 0, 0, 333, FT_NCCL_CLASS_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct play p = play_start(100);
		struct ft_nccl_queue_pair row;

		if (rows[i].port != 0)
			play_set_up(&p, (uint16_t)rows[i].port);
		for (uint32_t psn = 500; psn < 500 + TIMES; psn++) {
			play_send(&p, false, psn, rows[i].bytes, rows[i].captured, rows[i].size);
			play_send(&p, true, 3 * psn, rows[i].bytes, rows[i].captured, rows[i].size);
			p.ts_ns += 500000000; /* no benchmark */
		}
		row = play_end(&p, 1, ASKING);
		if (row.class != rows[i].class)
			fail_msg("%s: %s", rows[i].sentence, ft_nccl_class_name(row.class));
		ft_nccl_qps_destroy(p.qps);
	}
}

/* One command at a time, back to back, whose data goes to the same buffer each time: a benchmark of storage does that. */
static void one_buffer_makes_no_benchmark_of_rdma(void **state)
{
	static const struct {
		const uint8_t *bytes;
		uint32_t size;
		enum ft_nccl_class class;
	} rows[] = {
		{ iser_pdu, 76, FT_NCCL_CLASS_ISER },
		{ nfs_call, 200, FT_NCCL_CLASS_NFS },
		{ smb_message, 88, FT_NCCL_CLASS_SMB },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct play p = play_start(100);
		uint32_t captured = i == 1 ? 28 : rows[i].size;
		struct ft_nccl_queue_pair row;

		for (uint32_t psn = 500; psn < 500 + TIMES; psn++) {
			play_send(&p, false, psn, rows[i].bytes, captured, rows[i].size);
			play_back(&p, WRITE, 2 * psn,
				  (struct words){
					  .va = 0xff00, .rkey = 7, .length = 512, .size = 512 });
			play_send(&p, true, 2 * psn + 1, rows[i].bytes, captured, rows[i].size);
		}
		row = play_end(&p, 1, ASKING);
		if (row.class != rows[i].class)
			fail_msg("row %zu: %s", i, ft_nccl_class_name(row.class));
		ft_nccl_qps_destroy(p.qps);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_and_completions_are_nvmes),
		cmocka_unit_test(other_commands_are_not_nvmes),
		cmocka_unit_test(storage_is_known_by_its_messages_and_by_its_port),
		cmocka_unit_test(one_buffer_makes_no_benchmark_of_rdma),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
