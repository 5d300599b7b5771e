#include "tapmap.h"

static void read_pkey(struct ft_reading *reading, struct ft_value value, void *into)
{
	uint64_t base;

	if (ft_read_hex(reading, value, 1, FT_PKEY_DEFAULT, "pkey-out-of-range", &base))
		((struct ft_partition *)into)->base = (uint16_t)base;
}

static void read_partition_tenant(struct ft_reading *reading, struct ft_value value, void *into)
{
	((struct ft_partition *)into)->tenant = ft_read_tenant(reading, value);
}

static void read_ipoib(struct ft_reading *reading, struct ft_value value, void *into)
{
	ft_read_bool(reading, value, &((struct ft_partition *)into)->ipoib);
}

static void read_mtu(struct ft_reading *reading, struct ft_value value, void *into)
{
	int64_t mtu;

	if (!ft_read_integer(reading, value, 256, 4096, &mtu))
		return;
	if ((mtu & (mtu - 1)) != 0)
		ft_refuse(reading, value, "out-of-range", "an MTU is 256, 512, 1024, 2048 or 4096");
	else
		((struct ft_partition *)into)->mtu = (int)mtu;
}

static void read_sl(struct ft_reading *reading, struct ft_value value, void *into)
{
	int64_t sl;

	if (ft_read_integer(reading, value, 0, 15, &sl))
		((struct ft_partition *)into)->sl = (int)sl;
}

static void read_partition_intervals(struct ft_reading *reading, struct ft_value value, void *into)
{
	struct ft_partition *partition = into;
	struct ft_interval_list list = { .segment = false };

	ft_tapmap_intervals(reading, value, &list);
	partition->intervals = list.intervals;
	partition->interval_count = list.count;
}

static void read_partition(struct ft_reading *reading, struct ft_value value, void *into)
{
	static const struct ft_object_field fields[] = {
		{ "pkey", true, read_pkey },
		{ "tenant", true, read_partition_tenant },
		{ "ipoib", false, read_ipoib },
		{ "mtu", false, read_mtu },
		{ "sl", false, read_sl },
		{ "intervals", true, read_partition_intervals },
		{ 0 },
	};
	struct ft_partition partition = { .tenant = FT_NONE, .mtu = -1, .rate = -1, .sl = -1 };
	struct ft_partition *added;

	(void)into;
	partition.origin = ft_reading_origin(reading, value);
	ft_read_object(reading, value, fields, &partition, NULL);
	added = ft_builder_add(reading->builder, &reading->builder->partitions);
	if (added != NULL)
		*added = partition;
}

int ft_tapmap_partitions(struct ft_reading *reading, const struct ft_long_array *partitions)
{
	return ft_read_elements(reading, partitions, read_partition, NULL);
}

static void read_segment_name(struct ft_reading *reading, struct ft_value value, void *into)
{
	((struct ft_segment *)into)->name = ft_read_name(reading, value);
}

static void read_segment_tenant(struct ft_reading *reading, struct ft_value value, void *into)
{
	((struct ft_segment *)into)->tenant = ft_read_tenant(reading, value);
}

static void read_segment_intervals(struct ft_reading *reading, struct ft_value value, void *into)
{
	struct ft_segment *segment = into;
	struct ft_interval_list list = { .segment = true };

	ft_tapmap_intervals(reading, value, &list);
	segment->intervals = list.intervals;
	segment->interval_count = list.count;
}

static void read_segment(struct ft_reading *reading, struct ft_value value, void *into)
{
	static const struct ft_object_field fields[] = {
		{ "name", true, read_segment_name },
		{ "tenant", true, read_segment_tenant },
		{ "intervals", true, read_segment_intervals },
		{ 0 },
	};
	struct ft_segment segment = { .tenant = FT_NONE };
	struct ft_segment *added;

	(void)into;
	segment.origin = ft_reading_origin(reading, value);
	ft_read_object(reading, value, fields, &segment, NULL);
	added = ft_builder_add(reading->builder, &reading->builder->segments);
	if (added != NULL)
		*added = segment;
}

int ft_tapmap_segments(struct ft_reading *reading, const struct ft_long_array *segments)
{
	return ft_read_elements(reading, segments, read_segment, NULL);
}
