#include "../holds.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <flow/detail.h>

/*
 * Whatever packets come: what is kept of their values counts every one of them and holds the least and the greatest;
 * up to eight different ones its quantiles are exact. Opcodes are told
 * apart up to what a record holds, and never counted twice. Five bytes are a packet: its opcode, and the
 * size of a message it completes.
 */
enum { MOST = 256, RECORDS = 2 };

static int ascending(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static unsigned different(const uint32_t *values, size_t count)
{
	unsigned found = count > 0;

	for (size_t i = 1; i < count; i++)
		found += values[i] != values[i - 1];
	return found;
}

static void quantiles_hold(const struct ft_detail *detail, const uint32_t *values, size_t count)
{
	static const double quantiles[] = { 0, 0.25, 0.5, 0.99, 1 };

	for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
		size_t at = 0;

		while ((double)(at + 1) < quantiles[i] * (double)count)
			at++;
		assert(ft_spread_quantile(&detail->sizes, quantiles[i]) == values[at]);
	}
}

static void sizes_hold(const struct ft_detail *detail, uint32_t *values, size_t count)
{
	const struct ft_spread *sizes = &detail->sizes;
	uint64_t all = 0;

	qsort(values, count, sizeof *values, ascending);
	for (unsigned i = 0; i < FT_SPREAD_EXACT; i++)
		all += sizes->counts[i];
	for (unsigned i = 0; i < FT_SPREAD_BUCKETS; i++)
		all += sizes->buckets[i];
	assert(all == count);
	if (count == 0)
		return;
	assert(sizes->least == values[0] && sizes->most == values[count - 1]);
	assert(ft_spread_quantile(sizes, 0) == sizes->least);
	assert(ft_spread_quantile(sizes, 0.5) >= sizes->least);
	assert(ft_spread_quantile(sizes, 1) <= sizes->most);
	if (different(values, count) <= FT_SPREAD_EXACT)
		quantiles_hold(detail, values, count);
}

static void opcodes_hold(const struct ft_detail *detail, const uint64_t seen[256])
{
	assert(detail->opcode_count <= FT_DETAIL_OPCODES);
	for (unsigned i = 0; i < detail->opcode_count; i++) {
		assert(detail->opcode_packets[i] <= seen[detail->opcodes[i]]);
		assert(detail->opcode_packets[i] > 0);
		for (unsigned other = 0; other < i; other++)
			assert(detail->opcodes[other] != detail->opcodes[i]);
	}
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	struct ft_details *details;
	struct ft_observed observed = { .has = FT_OBSERVED_BTH, .dest_qp = 2 };
	struct ft_step step = { .what = FT_STEP_MESSAGE, .message_flow = RECORDS };
	uint32_t values[MOST];
	uint64_t seen[256] = { 0 };
	size_t count = 0;

	assert(ft_details_create(&details, RECORDS) == 0);
	for (; count < MOST && size >= 5; count++, bytes += 5, size -= 5) {
		memcpy(&values[count], bytes + 1, sizeof *values);
		values[count] >>= bytes[1] & 31; /* also small ones, which repeat */
		step.message_bytes = values[count];
		observed.opcode = bytes[0];
		observed.frame = count + 1;
		seen[observed.opcode]++;
		ft_details_count(details, 1, &observed, &step, false);
	}
	sizes_hold(ft_details_of(details, RECORDS), values, count);
	opcodes_hold(ft_details_of(details, 1), seen);
	ft_details_destroy(details);
}
