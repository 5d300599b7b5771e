#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "ring.h"

enum { SLOTS = FT_NCCL_RING_LEAST, LANES = 4, REQUESTS = 2 };

static int create(void **state)
{
	*state = ft_pool_create();
	return *state != NULL ? 0 : -1;
}

static int destroy(void **state)
{
	ft_pool_destroy(*state);
	return 0;
}

static struct ft_nccl_ring ring_of(struct ft_pool *pool, uint32_t lanes)
{
	struct ft_nccl_ring ring = { .pool = pool };

	assert_int_equal(ft_nccl_ring_fit(&ring, SLOTS, 1, lanes), 0);
	return ring;
}

/* What it asks for and what each lane carried of it: whatever, but of this message. */
static void fill(const struct ft_nccl_ring *ring, struct ft_nccl_transfer *transfer)
{
	const uint8_t byte = (uint8_t)(transfer->message.k + 1);

	memset(ft_nccl_ring_requests(ring, transfer), byte,
	       ring->request_room * sizeof *ring->requests);
	memset(ft_nccl_ring_shares(ring, transfer), byte, ring->share_room * sizeof *ring->shares);
}

static void begin_all(struct ft_nccl_ring *ring, uint64_t first, uint64_t count)
{
	for (uint64_t k = first; k < first + count; k++) {
		ft_nccl_ring_place(ring, k)->used = false;
		fill(ring, ft_nccl_ring_begin(ring, k));
	}
}

static void are_all(const void *bytes, size_t size, uint8_t byte)
{
	for (size_t i = 0; i < size; i++)
		assert_int_equal(((const uint8_t *)bytes)[i], byte);
}

/* The first so many lanes have what was filled in, the others nothing; likewise requests. */
static void is_filled(const struct ft_nccl_ring *ring, uint64_t k, uint32_t requests,
		      uint32_t lanes)
{
	const struct ft_nccl_transfer *transfer = ft_nccl_ring_find(ring, k);
	const struct ft_nccl_request *request;
	const struct ft_nccl_share *share;

	assert_non_null(transfer);
	request = ft_nccl_ring_requests(ring, transfer);
	share = ft_nccl_ring_shares(ring, transfer);
	are_all(request, requests * sizeof *request, (uint8_t)(k + 1));
	are_all(request + requests, (ring->request_room - requests) * sizeof *request, 0);
	are_all(share, lanes * sizeof *share, (uint8_t)(k + 1));
	are_all(share + lanes, (ring->share_room - lanes) * sizeof *share, 0);
}

static void one_begins_empty_where_another_was(void **state)
{
	struct ft_nccl_ring ring = ring_of(*state, LANES);

	for (uint64_t k = 0; k < 3 * SLOTS; k++) {
		struct ft_nccl_transfer *transfer = ft_nccl_ring_begin(&ring, k);

		assert_true(transfer->used && !transfer->has_cts);
		is_filled(&ring, k, 0, 0);
		fill(&ring, transfer);
		transfer->used = false;
	}
	ft_nccl_ring_free(&ring);
}

/* Memory goes from one connection to the next as it is. */
static void one_begins_empty_where_another_connection_had_it(void **state)
{
	struct ft_nccl_ring ring = ring_of(*state, LANES);

	begin_all(&ring, 0, SLOTS);
	ft_nccl_ring_free(&ring);
	ring = ring_of(*state, LANES);
	for (uint64_t k = 0; k < SLOTS; k++)
		assert_null(ft_nccl_ring_find(&ring, k));
	for (uint64_t k = 0; k < SLOTS; k++) {
		ft_nccl_ring_begin(&ring, k);
		is_filled(&ring, k, 0, 0);
	}
	ft_nccl_ring_free(&ring);
}

/* Those of before, and those that begin in what was another connection's shares. */
static void lanes_that_come_later_have_carried_nothing(void **state)
{
	for (unsigned round = 0; round < 2; round++) {
		struct ft_nccl_ring ring = ring_of(*state, 1);

		begin_all(&ring, 0, SLOTS / 2);
		assert_int_equal(ft_nccl_ring_fit(&ring, SLOTS, 1, LANES), 0);
		for (uint64_t k = 0; k < SLOTS / 2; k++)
			is_filled(&ring, k, 1, 1);
		for (uint64_t k = SLOTS / 2; k < SLOTS; k++) {
			ft_nccl_ring_begin(&ring, k);
			is_filled(&ring, k, 0, 0);
		}
		begin_all(&ring, 0, SLOTS);
		ft_nccl_ring_free(&ring);
	}
}

/* What is over is not taken along, and leaves nothing. */
static void messages_move_to_more_places(void **state)
{
	for (unsigned round = 0; round < 2; round++) {
		struct ft_nccl_ring ring = ring_of(*state, 1);
		const uint64_t over = 3;

		begin_all(&ring, 0, SLOTS);
		ft_nccl_ring_find(&ring, over)->used = false;
		assert_int_equal(ft_nccl_ring_fit(&ring, 2 * SLOTS, REQUESTS, LANES), 0);
		for (uint64_t k = 0; k < SLOTS; k++) {
			if (k != over)
				is_filled(&ring, k, 1, 1);
		}
		assert_null(ft_nccl_ring_find(&ring, over));
		ft_nccl_ring_begin(&ring, over);
		is_filled(&ring, over, 0, 0);
		begin_all(&ring, 0, 2 * SLOTS);
		ft_nccl_ring_free(&ring);
	}
}

/* Each place that has one is among those that are looked through, and leads to it. */
static void all_that_began_are_found(void **state)
{
	struct ft_nccl_ring ring = ring_of(*state, 1);
	uint64_t found = 0;

	assert_int_equal(ring.begun, 0);
	ft_nccl_ring_begin(&ring, 5);
	ft_nccl_ring_begin(&ring, SLOTS + 2);
	assert_int_equal(ft_nccl_ring_fit(&ring, 2 * SLOTS, 1, 1), 0);
	for (uint64_t left = ring.begun; left != 0; left &= left - 1) {
		const struct ft_nccl_transfer *transfer = ft_nccl_ring_first(&ring, left);

		assert_ptr_equal(transfer, ft_nccl_ring_find(&ring, transfer->message.k));
		found += transfer->message.k;
	}
	assert_int_equal(found, 5 + SLOTS + 2);
	ft_nccl_ring_free(&ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_begins_empty_where_another_was, create,
						destroy),
		cmocka_unit_test_setup_teardown(one_begins_empty_where_another_connection_had_it,
						create, destroy),
		cmocka_unit_test_setup_teardown(lanes_that_come_later_have_carried_nothing, create,
						destroy),
		cmocka_unit_test_setup_teardown(messages_move_to_more_places, create, destroy),
		cmocka_unit_test_setup_teardown(all_that_began_are_found, create, destroy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
