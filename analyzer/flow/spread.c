#include <flow/spread.h>

#include <stdbool.h>
#include <string.h>

enum {
	FINE_BITS = 6,   /* buckets to an octave, at most */
	COARSE = 5,      /* 2 to an octave; fewer only where many would be pushed together */
	FEW = 16,        /* a share of which this many may be pushed together at the low end */
	LOW_TAIL = 64,   /* likewise, that lie below the lowest bucket and count in it .. */
	HIGH_TAIL = 256, /* .. and above the highest: the 99th of a hundred is to be told */
	MOST = 1 << 28,  /* of an exact count: two of them never overflow */
	FULL = UINT16_MAX,
	WIDE = FT_SPREAD_EXACT + 1, /* kinds: the buckets are in use */
	LAST = FT_SPREAD_BUCKETS - 1,
};

/* Values that are kept exactly. */
static unsigned exact(const struct ft_spread *spread)
{
	return spread->kinds < WIDE ? spread->kinds : FT_SPREAD_EXACT;
}

/* Where a value stands among buckets of which 64 make an octave; 0 has a place, too, so that they begin one above. */
static uint32_t place_of(uint32_t value)
{
	uint64_t above = (uint64_t)value + 1;
	uint32_t octave = 63 - (uint32_t)__builtin_clzll(above);
	uint64_t part =
		octave < FINE_BITS ? above << (FINE_BITS - octave) : above >> (octave - FINE_BITS);

	return octave << FINE_BITS | ((uint32_t)part & ((1 << FINE_BITS) - 1));
}

/* The least value that stands there. */
static double value_at(uint32_t place)
{
	double octave = (double)(UINT64_C(1) << (place >> FINE_BITS));

	return octave + octave * (place & ((1 << FINE_BITS) - 1)) / (1 << FINE_BITS) - 1;
}

static uint32_t in_buckets(const struct ft_spread *spread)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < FT_SPREAD_BUCKETS; i++)
		sum += spread->buckets[i];
	return sum;
}

/* Only the shares matter; none becomes nothing. */
static void halve(struct ft_spread *spread)
{
	for (unsigned i = 0; i < exact(spread); i++)
		spread->counts[i] -= spread->counts[i] / 2;
	for (unsigned i = 0; i < FT_SPREAD_BUCKETS; i++)
		spread->buckets[i] = (uint16_t)(spread->buckets[i] - spread->buckets[i] / 2);
}

/* What does not fit fills the bucket: it will be halved. */
static void pour(struct ft_spread *spread, unsigned bucket, uint32_t times)
{
	uint32_t sum = spread->buckets[bucket] + times;

	while (sum > FULL) {
		halve(spread);
		times -= times / 2;
		sum = spread->buckets[bucket] + times;
	}
	spread->buckets[bucket] = (uint16_t)sum;
}

/* Two neighbours become one. */
static void coarsen(struct ft_spread *spread)
{
	uint16_t before[FT_SPREAD_BUCKETS];
	uint16_t origin = spread->origin;

	memcpy(before, spread->buckets, sizeof before);
	memset(spread->buckets, 0, sizeof spread->buckets);
	spread->coarse++;
	spread->origin = origin / 2;
	for (unsigned i = 0; i < FT_SPREAD_BUCKETS; i++)
		pour(spread, (i + origin % 2) / 2, before[i]);
}

/* The buckets in use. */
static void find_used(const struct ft_spread *spread, unsigned *first, unsigned *last)
{
	*first = 0;
	*last = FT_SPREAD_BUCKETS - 1;
	while (*first < *last && spread->buckets[*first] == 0)
		++*first;
	while (*last > *first && spread->buckets[*last] == 0)
		--*last;
}

/* The buckets begin at `origin` from now on; what was outside is in the outermost. */
static void move(struct ft_spread *spread, uint16_t origin)
{
	uint16_t before[FT_SPREAD_BUCKETS];

	memcpy(before, spread->buckets, sizeof before);
	memset(spread->buckets, 0, sizeof spread->buckets);
	for (int i = 0; i < FT_SPREAD_BUCKETS; i++) {
		int to = i + spread->origin - origin;

		if (before[i] == 0)
			continue;
		to = to < 0 ? 0 : to >= FT_SPREAD_BUCKETS ? FT_SPREAD_BUCKETS - 1 : to;
		pour(spread, (unsigned)to, before[i]);
	}
	spread->origin = origin;
}

/* Few lie at the far end: they may be pushed together there, so that there is room at this one. */
static bool may_move(const struct ft_spread *spread, uint16_t origin)
{
	int shift = origin - spread->origin;
	uint32_t pushed = 0;

	for (int i = 0; i < FT_SPREAD_BUCKETS; i++)
		if (i - shift < 0 || i - shift >= FT_SPREAD_BUCKETS)
			pushed += spread->buckets[i];
	return pushed <= in_buckets(spread) / (shift > 0 ? FEW : HIGH_TAIL);
}

static bool is_exact(const struct ft_spread *spread, uint32_t value)
{
	for (unsigned i = 0; i < exact(spread); i++)
		if (spread->values[i] == value)
			return true;
	return false;
}

/* Few lie at this end or beyond it: more may count there; at the high end one, the greatest, as that is known. */
static bool may_count_beyond(const struct ft_spread *spread, uint32_t place)
{
	if (place >> spread->coarse < spread->origin)
		return spread->buckets[0] < in_buckets(spread) / FEW;
	return spread->buckets[LAST] == 0 && place == place_of(spread->most) &&
	       !is_exact(spread, spread->most);
}

/* Where a value stands among the buckets; below or beyond them it is no less than there are. */
static uint32_t bucket_of(const struct ft_spread *spread, uint32_t value)
{
	return (place_of(value) >> spread->coarse) - spread->origin;
}

/* The last bucket holds one value, which lies beyond it: the greatest. */
static bool is_lone(const struct ft_spread *spread, uint32_t most)
{
	return spread->buckets[LAST] == 1 && bucket_of(spread, most) >= FT_SPREAD_BUCKETS &&
	       !is_exact(spread, most);
}

/* A place beyond one end: the buckets move, or get coarser. True if there is nothing left to do. */
static bool reach(struct ft_spread *spread, uint32_t place)
{
	uint32_t wanted = place >> spread->coarse;
	uint16_t origin =
		(uint16_t)(wanted < spread->origin ? wanted : wanted - (FT_SPREAD_BUCKETS - 1));
	unsigned first, last;

	find_used(spread, &first, &last);
	first += spread->origin;
	last += spread->origin;
	if ((wanted < first ? last - wanted : wanted - first) < FT_SPREAD_BUCKETS) {
		move(spread, origin);
		return true;
	}
	if (spread->coarse >= COARSE && may_move(spread, origin)) {
		move(spread, origin);
		return true;
	}
	if (spread->coarse >= COARSE && may_count_beyond(spread, place))
		return true;
	coarsen(spread);
	return false;
}

/* Few lie so far out: they count in the outermost bucket, and the others keep their width. */
static bool is_tail(const struct ft_spread *spread, uint32_t wanted, uint32_t times)
{
	bool low = wanted < spread->origin;
	uint32_t out = spread->buckets[low ? 0 : FT_SPREAD_BUCKETS - 1] + times;

	return out <= in_buckets(spread) / (low ? LOW_TAIL : HIGH_TAIL);
}

static void begin_wide(struct ft_spread *spread, uint32_t value)
{
	uint32_t place = place_of(value);

	spread->kinds = WIDE;
	spread->origin =
		(uint16_t)(place < FT_SPREAD_BUCKETS / 2 ? 0 : place - FT_SPREAD_BUCKETS / 2);
}

static void add_wide(struct ft_spread *spread, uint32_t value, uint32_t times)
{
	uint32_t place = place_of(value), wanted;

	while (wanted = place >> spread->coarse, wanted - spread->origin >= FT_SPREAD_BUCKETS &&
							 !is_tail(spread, wanted, times) &&
							 !reach(spread, place))
		;
	if (wanted < spread->origin)
		pour(spread, 0, times);
	else if (wanted - spread->origin >= FT_SPREAD_BUCKETS)
		pour(spread, LAST, times);
	else
		pour(spread, wanted - spread->origin, times);
}

/* The lone one, `most`, takes its own place. Where another one is as far out, both need one. */
static void add_beside(struct ft_spread *spread, uint32_t value, uint32_t times, uint32_t most)
{
	uint32_t greatest = value > most ? value : most;
	bool high = place_of(value) >> spread->coarse >= spread->origin;

	spread->buckets[LAST] = 0;
	while (high && bucket_of(spread, value) >= LAST &&
	       bucket_of(spread, greatest) >= FT_SPREAD_BUCKETS)
		coarsen(spread);
	add_wide(spread, value, times);
	add_wide(spread, most, 1);
}

/* `most`: the greatest before. */
static void add_to_buckets(struct ft_spread *spread, uint32_t value, uint32_t times, uint32_t most)
{
	uint32_t bucket;

	if (spread->kinds != WIDE)
		begin_wide(spread, value);
	bucket = bucket_of(spread, value);
	if (bucket < LAST)
		pour(spread, bucket, times);
	else if (is_lone(spread, most) &&
		 !is_tail(spread, place_of(value) >> spread->coarse, times))
		add_beside(spread, value, times, most);
	else
		add_wide(spread, value, times);
}

void ft_spread_add(struct ft_spread *spread, uint32_t value, uint32_t times)
{
	bool any = spread->kinds != 0;
	uint32_t most = spread->most;

	if (!any || value < spread->least)
		spread->least = value;
	if (!any || value > most)
		spread->most = value;
	for (unsigned i = 0; i < exact(spread); i++) {
		if (spread->values[i] != value)
			continue;
		spread->counts[i] += times;
		if (spread->counts[i] >= MOST)
			halve(spread);
		return;
	}
	if (spread->kinds >= FT_SPREAD_EXACT) {
		add_to_buckets(spread, value, times, most);
		return;
	}
	spread->values[spread->kinds] = value;
	spread->counts[spread->kinds] = times;
	spread->kinds++;
}

/* Bounds of a bucket: from, and up to but without. */
static double edge(const struct ft_spread *spread, unsigned bucket)
{
	return value_at((uint32_t)(spread->origin + bucket) << spread->coarse);
}

/* A value for all in a bucket. */
static uint32_t middle_of(const struct ft_spread *spread, unsigned bucket)
{
	if (bucket == LAST && is_lone(spread, spread->most))
		return spread->most;
	return (uint32_t)((edge(spread, bucket) + edge(spread, bucket + 1)) / 2);
}

void ft_spread_merge(struct ft_spread *spread, const struct ft_spread *other)
{
	uint32_t least = spread->least, most = spread->most;
	bool any = spread->kinds != 0;

	if (other->kinds == 0)
		return;
	for (unsigned i = 0; i < exact(other); i++)
		ft_spread_add(spread, other->values[i], other->counts[i]);
	for (unsigned i = 0; i < FT_SPREAD_BUCKETS; i++)
		if (other->buckets[i] != 0)
			ft_spread_add(spread, middle_of(other, i), other->buckets[i]);
	spread->least = any && least < other->least ? least : other->least;
	spread->most = any && most > other->most ? most : other->most;
}

/* How many are not above the value; in a bucket they are spread evenly. */
static double up_to(const struct ft_spread *spread, double value)
{
	unsigned buckets = is_lone(spread, spread->most) ? LAST : FT_SPREAD_BUCKETS;
	double sum = buckets == LAST && value >= spread->most;

	for (unsigned i = 0; i < exact(spread); i++)
		if (spread->values[i] <= value)
			sum += spread->counts[i];
	for (unsigned i = 0; i < buckets && spread->kinds == WIDE; i++) {
		double from = edge(spread, i), to = edge(spread, i + 1);

		if (value + 1 >= to)
			sum += spread->buckets[i];
		else if (value + 1 > from)
			sum += spread->buckets[i] * (value + 1 - from) / (to - from);
	}
	return sum;
}

uint32_t ft_spread_quantile(const struct ft_spread *spread, double quantile)
{
	uint32_t low = spread->least, high = spread->most;
	double wanted = in_buckets(spread);

	if (quantile >= 1)
		return spread->most;
	for (unsigned i = 0; i < exact(spread); i++)
		wanted += spread->counts[i];
	wanted *= quantile;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (up_to(spread, middle) >= wanted)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}
