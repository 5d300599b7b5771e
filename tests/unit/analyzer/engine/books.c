#include "books.h"

static const struct ft_declared pod = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }, { .name = "blue", .class = FT_CUSTOMER }),
	PORTS(IB_PORT("r1", 1), IB_PORT("b1", 2)),
	PARTITIONS({ .base = 1, .tenant = RED, ALWAYS(FULL("r1")) },
		   { .base = 2, .tenant = BLUE, ALWAYS(FULL("b1")) }),
};

void books_open(struct books *books, uint32_t findings)
{
	static const uint8_t empty[24] = {
		0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, [16] = 0xff, 0xff, [20] = FT_LINK_INFINIBAND
	};
	struct ft_source_complaint complaint;

	*books = (struct books){ .config = FT_ENGINE_DEFAULTS, .map = compiled(&pod) };
	if (findings != 0)
		books->config.findings = findings;
	books->frame = (struct ft_frame){
		.bytes = books->bytes,
		.captured = BOOKS_BYTES,
		.original = BOOKS_BYTES,
		.wire = BOOKS_BYTES,
		.link_type = FT_LINK_INFINIBAND,
	};
	assert_int_equal(ft_source_open_memory(&books->source, empty, sizeof empty, &complaint), 0);
	assert_int_equal(ft_account_init(&books->account, &books->config, books->map), 0);
	assert_int_equal(ft_account_open(&books->account, books->source), 0);
}

void books_close(struct books *books)
{
	ft_account_free(&books->account);
	ft_source_close(books->source);
	ft_map_destroy(books->map);
}
