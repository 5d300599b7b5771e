#include "frame_rows.h"

#include <string.h>

#include <decode/nccl_ras.h>

enum { MOST = 65536 };

/* 10.1.2.3 port 50000, and fd00::9 port 50001 */
#define INET  "0200 c350 0a010203 00*20 "
#define INET6 "0a00 c351 00000000 fd00 00*13 09 00000000 "

static uint8_t message[FRAME_BYTES_MAX];

static enum ft_nccl_verdict take(const char *hex, struct ft_nccl_body *body)
{
	return ft_nccl_body_take(message, (uint32_t)frame_bytes(hex, message), MOST, body);
}

static struct ft_nccl_body body_of(const char *hex)
{
	return (struct ft_nccl_body){ message, (uint32_t)frame_bytes(hex, message) };
}

static bool address_is(const struct ft_nccl_address *address, const char *hex, uint16_t port)
{
	uint8_t ip[16];

	frame_bytes(hex, ip);
	return memcmp(address->ip, ip, sizeof ip) == 0 && address->port == port;
}

static bool is_inet(const struct ft_nccl_address *address)
{
	return address->version == 4 && address_is(address, "00*10 ffff 0a010203", 50000);
}

static bool is_inet6(const struct ft_nccl_address *address)
{
	return address->version == 6 && address_is(address, "fd00 00*13 09", 50001);
}

static void a_message_has_its_length_in_front(void **state)
{
	struct ft_nccl_body body = { .length = 77 };

	(void)state;
	assert_int_equal(take("080000", &body), FT_NCCL_CUT);
	assert_int_equal(take("08000000 00*7", &body), FT_NCCL_CUT);
	assert_int_equal(take("01000100 00*7", &body), FT_NCCL_NOT);
	assert_int_equal(body.length, 77);
	assert_int_equal(take("08000000 00*9", &body), FT_NCCL_READ);
	assert_int_equal(body.length, 8);
	assert_ptr_equal(body.bytes, message + 4);
}

static void addresses_are_of_two_families(void **state)
{
	struct ft_nccl_address address = { 0 };

	(void)state;
	frame_bytes(INET, message);
	assert_int_equal(ft_nccl_address_read(message, 27, &address), FT_NCCL_CUT);
	assert_int_equal(ft_nccl_address_read(message, 28, &address), FT_NCCL_READ);
	assert_true(is_inet(&address));
	frame_bytes(INET6, message);
	assert_int_equal(ft_nccl_address_read(message, 28, &address), FT_NCCL_READ);
	assert_true(is_inet6(&address));
	message[0] = 0;
	assert_int_equal(ft_nccl_address_read(message, 28, &address), FT_NCCL_NOT);
}

static void a_process_checks_in(void **state)
{
	static const struct {
		const char *sentence, *hex;
		enum ft_nccl_verdict verdict;
		int32_t rank, ranks, root, roots, offset;
		uint8_t minor_first, minor_last, addresses;
	} rows[] = {
		{ "2.6", "03000000 08000000 11*128", FT_NCCL_READ, 3, 8, 0, 1, 0, 6, 7, 0 },
		{ "2.8", "03000000 08000000 " INET INET6, FT_NCCL_READ, 3, 8, 0, 1, 0, 8, 22, 2 },
		{ "2.23", "03000000 08000000 01000000 02000000 " INET "11*128", FT_NCCL_READ, 3, 8,
		  1, 2, 0, 23, 28, 1 },
		{ "2.29", "03000000 08000000 01000000 02000000 04000000 " INET "11*128",
		  FT_NCCL_READ, 3, 8, 1, 2, 4, 29, 30, 1 },
		{ "2.23, the ring is of sockets",
		  "03000000 08000000 01000000 02000000 " INET INET6 "00*100", FT_NCCL_READ, 3, 8, 1,
		  2, 0, 23, 28, 2 },
		{ "2.29, the ring is of sockets",
		  "03000000 08000000 01000000 02000000 04000000 " INET INET6 "00*100", FT_NCCL_READ,
		  3, 8, 1, 2, 4, 29, 30, 2 },
		{ "a length of no release", "03000000 08000000 11*127", FT_NCCL_NOT, 0, 0, 0, 0, 0,
		  0, 0, 0 },
		{ "a rank that does not exist", "08000000 08000000 " INET INET6, FT_NCCL_NOT, 0, 0,
		  0, 0, 0, 0, 0, 0 },
		{ "a negative rank", "ffffffff 08000000 " INET INET6, FT_NCCL_NOT, 0, 0, 0, 0, 0, 0,
		  0, 0 },
		{ "a root that does not exist",
		  "03000000 08000000 02000000 02000000 " INET "11*128", FT_NCCL_NOT, 0, 0, 0, 0, 0,
		  0, 0, 0 },
		{ "no address", "03000000 08000000 " INET "00*28", FT_NCCL_NOT, 0, 0, 0, 0, 0, 0, 0,
		  0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_nccl_body body = body_of(rows[i].hex);
		struct ft_nccl_check_in in = { 0 };

		if (ft_nccl_check_in_read(&body, &in) != rows[i].verdict ||
		    in.rank != rows[i].rank || in.ranks != rows[i].ranks ||
		    in.root != rows[i].root || in.roots != rows[i].roots ||
		    in.offset != rows[i].offset || in.minor_first != rows[i].minor_first ||
		    in.minor_last != rows[i].minor_last || in.address_count != rows[i].addresses)
			fail_msg("%s", rows[i].sentence);
		assert_true(in.address_count < 1 || is_inet(&in.listen_root));
		assert_true(in.address_count < 2 || is_inet6(&in.listen));
	}
}

/* So many bytes of it are enough, and say the same as all of it. */
static void the_front_of_a_check_in_says_who_and_where(void **state)
{
	static const struct {
		const char *sentence, *hex;
		uint32_t enough; /* 0: none are */
	} rows[] = {
		{ "2.6 has no address", "03000000 08000000 11*128", 0 },
		{ "2.8", "03000000 08000000 " INET INET6, 16 },
		{ "2.8, IPv6", "03000000 08000000 " INET6 INET, 32 },
		{ "2.23", "03000000 08000000 01000000 02000000 " INET "11*128", 24 },
		{ "2.29", "03000000 08000000 01000000 02000000 04000000 " INET "11*128", 28 },
		{ "2.29, IPv6", "03000000 08000000 01000000 02000000 04000000 " INET6 "11*128",
		  44 },
		{ "a rank that does not exist", "08000000 08000000 " INET INET6, 0 },
		{ "no address", "03000000 08000000 00*28 " INET, 0 },
		{ "a length of no release", "03000000 08000000 " INET "11*29", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_nccl_body body = body_of(rows[i].hex);
		struct ft_nccl_check_in whole = { 0 };

		ft_nccl_check_in_read(&body, &whole);
		for (uint32_t captured = 0; captured <= body.length; captured++) {
			struct ft_nccl_check_in in = { .rank = 77 };
			bool is_read =
				ft_nccl_check_in_read_front(&body, captured, &in) == FT_NCCL_READ;

			if (is_read != (rows[i].enough != 0 && captured >= rows[i].enough) ||
			    (is_read && (in.rank != whole.rank || in.ranks != whole.ranks ||
					 in.root != whole.root || in.offset != whole.offset ||
					 in.address_count != 1 ||
					 memcmp(&in.listen_root, &whole.listen_root,
						sizeof in.listen_root) != 0)) ||
			    (!is_read && in.rank != 77))
				fail_msg("%s, %u bytes", rows[i].sentence, captured);
		}
	}
}

static void a_sender_names_itself(void **state)
{
	struct ft_nccl_sender sender = { 77, 77 };
	struct ft_nccl_body body = body_of("03000000 fdffffff");

	(void)state;
	assert_int_equal(ft_nccl_sender_read(&body, &sender), FT_NCCL_READ);
	assert_int_equal(sender.rank, 3);
	assert_int_equal(sender.tag, -3);
	body.length = 7;
	assert_int_equal(ft_nccl_sender_read(&body, &sender), FT_NCCL_NOT);
	body = body_of("ffffffff 00000000");
	assert_int_equal(ft_nccl_sender_read(&body, &sender), FT_NCCL_NOT);
}

#define MEMBER INET "39300000 02000000 05000000 1111111111111111 2222222222222222 "

static void a_block_of_a_ring_is_about_its_sender(void **state)
{
	static const struct {
		const char *sentence, *hex;
		enum ft_nccl_verdict verdict;
		uint8_t minor_first, minor_last;
		bool has_proxy, has_ras;
	} rows[] = {
		{ "2.8", INET, FT_NCCL_READ, 8, 22, false, false },
		{ "2.23", INET INET6 "55*8", FT_NCCL_READ, 23, 23, true, false },
		{ "2.24", INET INET6 "55*8 " MEMBER, FT_NCCL_READ, 24, 30, true, true },
		{ "a length of no release", INET INET6 "55*9", FT_NCCL_NOT, 0, 0, false, false },
		{ "no peer's address", "03*28 " INET6 "55*8", FT_NCCL_NOT, 0, 0, false, false },
		{ "no proxy's address", INET "03*28 55*8", FT_NCCL_NOT, 0, 0, false, false },
		{ "no address in RAS", INET INET6 "55*8 03*56", FT_NCCL_NOT, 0, 0, false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_nccl_body body = body_of(rows[i].hex);
		struct ft_nccl_ring_block block = { .minor_first = 0 };
		const struct ft_nccl_ras_member *ras = &block.ras;

		if (ft_nccl_ring_block_read(&body, &block) != rows[i].verdict ||
		    block.minor_first != rows[i].minor_first ||
		    block.minor_last != rows[i].minor_last ||
		    block.has_proxy != rows[i].has_proxy || block.has_ras != rows[i].has_ras)
			fail_msg("%s", rows[i].sentence);
		assert_true(block.minor_first == 0 || is_inet(&block.peer));
		assert_true(!block.has_proxy || is_inet6(&block.proxy));
		assert_true(!block.has_ras ||
			    (is_inet(&ras->listen) && ras->pid == 12345 && ras->cuda_device == 2 &&
			     ras->nvml_device == 5 && ras->host_hash == 0x1111111111111111 &&
			     ras->pid_hash == 0x2222222222222222));
	}
}

static void the_root_names_the_next_one(void **state)
{
	struct ft_nccl_address next = { .port = 77 };
	struct ft_nccl_body body = body_of("11*128");

	(void)state;
	assert_int_equal(ft_nccl_next_read(&body, &next), FT_NCCL_NOT);
	body = body_of(INET "00");
	assert_int_equal(ft_nccl_next_read(&body, &next), FT_NCCL_NOT);
	assert_int_equal(next.port, 77);
	body = body_of(INET6 "00*100");
	assert_int_equal(ft_nccl_next_read(&body, &next), FT_NCCL_READ);
	assert_true(is_inet6(&next));
	body = body_of(INET);
	assert_int_equal(ft_nccl_next_read(&body, &next), FT_NCCL_READ);
	assert_true(is_inet(&next));
}

#define HASHES  "1111111111111111 2222222222222222 "
#define PEER(n) INET n "000000 0300000000000000 0500000000000000 " HASHES
#define UPDATE  "04000000 00000000 " HASHES "02000000 01000000 " PEER("07") PEER("08") INET6

static void the_greeting_says_the_release(void **state)
{
	struct ft_nccl_body body;
	struct ft_nccl_ras ras;

	(void)state;
	assert_int_equal(take("38000000 0100000000000000 b3580000 " INET HASHES, &body),
			 FT_NCCL_READ);
	assert_int_equal(ft_nccl_ras_read(&body, &ras), FT_NCCL_READ);
	assert_int_equal(ras.type, FT_NCCL_RAS_INIT);
	assert_int_equal(ras.release, 22707);
	assert_true(is_inet(&ras.listen));
	assert_int_equal(ras.peers_hash, 0x1111111111111111);
	assert_int_equal(ras.dead_hash, 0x2222222222222222);
	assert_int_equal(ras.nack | ras.links, 0);
}

static void other_types_have_their_fields(void **state)
{
	struct ft_nccl_body body = body_of("02000000 00000000 01000000");
	struct ft_nccl_ras ras;

	(void)state;
	assert_int_equal(ft_nccl_ras_read(&body, &ras), FT_NCCL_READ);
	assert_int_equal(ras.type, FT_NCCL_RAS_INIT_ACK);
	assert_int_equal(ras.nack, 1);
	body = body_of("03000000 00000000 " HASHES "05000000 00000000 33*16 01000000 00000000");
	assert_int_equal(ft_nccl_ras_read(&body, &ras), FT_NCCL_READ);
	assert_int_equal(ras.type, FT_NCCL_RAS_KEEP_ALIVE);
	assert_int_equal(ras.links, 5);
	assert_int_equal(ras.nack, 1);
	assert_int_equal(ras.peers_hash, 0x1111111111111111);
	body = body_of("06000000 55*9");
	assert_int_equal(ft_nccl_ras_read(&body, &ras), FT_NCCL_READ);
	assert_int_equal(ras.type, FT_NCCL_RAS_COLLECTED);
}

static void an_update_lists_peers_and_the_dead(void **state)
{
	struct ft_nccl_body body = body_of(UPDATE);
	struct ft_nccl_address dead;
	struct ft_nccl_ras_peer peer;
	struct ft_nccl_ras ras;

	(void)state;
	assert_int_equal(ft_nccl_ras_read(&body, &ras), FT_NCCL_READ);
	assert_int_equal(ras.peers, 2);
	assert_int_equal(ras.dead, 1);
	assert_int_equal(ft_nccl_ras_peer_read(&body, 1, &peer), FT_NCCL_READ);
	assert_true(is_inet(&peer.listen));
	assert_int_equal(peer.pid, 8);
	assert_int_equal(peer.cuda_devices, 3);
	assert_int_equal(peer.nvml_devices, 5);
	assert_int_equal(peer.host_hash, 0x1111111111111111);
	assert_int_equal(peer.pid_hash, 0x2222222222222222);
	assert_int_equal(ft_nccl_ras_dead_read(&body, 0, &dead), FT_NCCL_READ);
	assert_true(is_inet6(&dead));
	assert_int_equal(ft_nccl_ras_peer_read(&body, 2, &peer), FT_NCCL_NOT);
	assert_int_equal(ft_nccl_ras_dead_read(&body, 1, &dead), FT_NCCL_NOT);
}

static void other_bodies_are_not_of_ras(void **state)
{
	static const char *const rows[] = {
		"",
		"01000000",
		"00*56",
		"07000000 00*52",
		"02000000 00*9",
		"01000000 00000000 b3580000 00*28 00*16",
		"04000000 00000000 " HASHES "02000000 01000000 " PEER("07") PEER("08"),
		"04000000 00000000 " HASHES "ffffffff ffffffff",
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_nccl_body body = body_of(rows[i]);
		struct ft_nccl_ras ras = { .release = 77 };

		if (ft_nccl_ras_read(&body, &ras) != FT_NCCL_NOT || ras.release != 77)
			fail_msg("%s", rows[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_has_its_length_in_front),
		cmocka_unit_test(addresses_are_of_two_families),
		cmocka_unit_test(a_process_checks_in),
		cmocka_unit_test(the_front_of_a_check_in_says_who_and_where),
		cmocka_unit_test(a_sender_names_itself),
		cmocka_unit_test(a_block_of_a_ring_is_about_its_sender),
		cmocka_unit_test(the_root_names_the_next_one),
		cmocka_unit_test(the_greeting_says_the_release),
		cmocka_unit_test(other_types_have_their_fields),
		cmocka_unit_test(an_update_lists_peers_and_the_dead),
		cmocka_unit_test(other_bodies_are_not_of_ras),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
