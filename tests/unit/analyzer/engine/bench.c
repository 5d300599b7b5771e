#include "bench.h"

void bench_open(struct bench *bench, const struct ft_declared *declared, unsigned workers)
{
	bench->map = compiled(declared);
	for (unsigned i = 0; i < workers; i++)
		assert_int_equal(ft_worker_create(&bench->workers[i], &bench->config, bench->map),
				 0);
}

int bench_close(void **state)
{
	struct bench *bench = *state;

	for (unsigned i = 0; i < 2 && bench->workers[i] != NULL; i++)
		ft_worker_destroy(bench->workers[i]);
	ft_map_destroy(bench->map);
	return 0;
}

const struct ft_item *bench_take(struct bench *bench, const uint8_t *bytes, size_t size,
				 enum ft_link_type link_type, uint64_t ts_ns)
{
	struct ft_worker *worker = bench->workers[0];

	bench->block.frames[0] = (struct ft_frame){
		.bytes = bytes,
		.captured = (uint32_t)size,
		.original = (uint32_t)size,
		.wire = (uint32_t)size,
		.link_type = (uint16_t)link_type,
		.ts_ns = ts_ns,
		.number = ++bench->sent,
	};
	bench->block.frame_count = 1;
	ft_batch_fill(&worker->batch, &bench->block, &bench->config.decode, bench->config.seed);
	assert_int_equal(worker->batch.count, 1);
	ft_worker_run(worker);
	return &worker->batch.items[0];
}
