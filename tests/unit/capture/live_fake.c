#include "live_fake.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CROWD_CALLS = 1000, NAPS_US = 200 };

#define MS UINT64_C(1000000)

int fakes_open;
int fakes_naps;

struct fake {
	char *script;
	const char *at;
	unsigned keep;
	uint8_t **kept; /* bytes of the last calls that returned frames */
	uint64_t calls;
	uint32_t frames;
	unsigned crowds; /* calls that "#" was good for */
	uint64_t start_ns, lost, errors;
	bool counts, must_poll;
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint32_t fake_number(const struct ft_frame *frame)
{
	uint32_t number;

	memcpy(&number, frame->bytes, sizeof number);
	return number;
}

static bool take_word(struct fake *fake, const char *word)
{
	size_t size = strlen(word);

	if (strncmp(fake->at, word, size) != 0)
		return false;
	fake->at += size;
	return true;
}

static uint64_t take_number(struct fake *fake)
{
	char *end;
	uint64_t number = strtoull(fake->at, &end, 10);

	fake->at = end;
	return number;
}

static void next_word(struct fake *fake)
{
	fake->at += strcspn(fake->at, " ");
	fake->at += strspn(fake->at, " ");
}

static int open_fake(void **device, const struct ft_device_config *config,
		     struct ft_source_complaint *complaint)
{
	struct fake *fake = calloc(1, sizeof *fake);

	fake->script = strdup(config->address);
	fake->at = fake->script;
	fake->keep = config->keep;
	fake->kept = calloc(config->keep, sizeof *fake->kept);
	fake->counts = true;
	for (bool option = true; option; next_word(fake)) {
		option = true;
		if (take_word(fake, "lost="))
			fake->lost = take_number(fake);
		else if (take_word(fake, "errors="))
			fake->errors = take_number(fake);
		else if (take_word(fake, "unknown"))
			fake->counts = false;
		else if (take_word(fake, "poll"))
			fake->must_poll = true;
		else
			break;
	}
	fakes_open++;
	*device = fake;
	if (!take_word(fake, "refuse"))
		return 0;
	snprintf(complaint->text, sizeof complaint->text, "fake: refused");
	fake_driver.close(fake);
	return -EPERM;
}

static int start_fake(void *device, struct ft_source_complaint *complaint)
{
	(void)complaint;
	((struct fake *)device)->start_ns = clock_ns(CLOCK_MONOTONIC);
	return 0;
}

static uint64_t take_stamp(struct fake *fake)
{
	if (take_word(fake, "?"))
		return FT_TS_UNKNOWN;
	return take_number(fake) * MS;
}

/* The stamps of one word; how many. */
static int take_stamps(struct fake *fake, uint64_t *stamps, int room)
{
	int count = 0;
	uint64_t first;

	if (*fake->at == '*') {
		stamps[0] = clock_ns(CLOCK_REALTIME);
		return 1;
	}
	if (*fake->at == '#') {
		for (; count < room; count++)
			stamps[count] = (fake->frames + (uint64_t)count) * MS;
		if (++fake->crowds == CROWD_CALLS)
			next_word(fake);
		return count;
	}
	first = take_stamp(fake);
	if (take_word(fake, "x")) {
		uint64_t from = take_number(fake);

		for (; (uint64_t)count < first / MS; count++)
			stamps[count] = (from + (uint64_t)count) * MS;
	} else {
		stamps[count++] = first;
		while (take_word(fake, ","))
			stamps[count++] = take_stamp(fake);
	}
	next_word(fake);
	return count;
}

static int give_frames(struct fake *fake, struct ft_frame *frames, int room)
{
	uint64_t stamps[1024];
	int count = take_stamps(fake, stamps, room);
	uint8_t **slot = &fake->kept[fake->calls++ % fake->keep];

	free(*slot);
	*slot = malloc((size_t)count * 4);
	for (int i = 0; i < count; i++) {
		uint8_t *bytes = *slot + 4 * i;

		memcpy(bytes, &fake->frames, 4);
		fake->frames++;
		frames[i] = (struct ft_frame){
			.bytes = bytes,
			.captured = 4,
			.original = 100,
			.wire = 100,
			.link_type = FT_LINK_ETHERNET,
			.ts_ns = stamps[i],
			.input = 77, /* is not the driver's to know */
			.number = 77,
		};
	}
	return count;
}

static int receive_fake(void *device, struct ft_frame *frames, int room)
{
	struct fake *fake = device;

	if (*fake->at == '\0')
		return 0;
	if (*fake->at == '$')
		return -ENODATA;
	if (*fake->at == '!')
		return -ENODEV;
	if (take_word(fake, ".")) {
		next_word(fake);
		return 0;
	}
	if (*fake->at == '@') {
		uint64_t ms = strtoull(fake->at + 1, NULL, 10);

		if (clock_ns(CLOCK_MONOTONIC) - fake->start_ns < ms * MS)
			return 0;
		next_word(fake);
	}
	return give_frames(fake, frames, room);
}

static void wait_fake(void *device, int ms)
{
	(void)device;
	fakes_naps += ms > 0;
	if (ms > 0)
		nanosleep(&(struct timespec){ .tv_nsec = NAPS_US * 1000 }, NULL);
}

static void count_fake(void *device, struct ft_device_counts *counts)
{
	const struct fake *fake = device;

	*counts = (struct ft_device_counts){ fake->counts ? fake->lost : FT_LOST_UNKNOWN,
					     fake->errors };
}

static void describe_fake(const void *device, struct ft_device_facts *facts)
{
	const struct fake *fake = device;

	*facts = (struct ft_device_facts){
		.driver = "fake",
		.counts_losses = fake->counts,
		.must_poll = fake->must_poll,
	};
}

static void close_fake(void *device)
{
	struct fake *fake = device;

	for (unsigned i = 0; i < fake->keep; i++)
		free(fake->kept[i]);
	free(fake->kept);
	free(fake->script);
	free(fake);
	fakes_open--;
}

const struct ft_driver fake_driver = {
	.kind = "fake",
	.open = open_fake,
	.start = start_fake,
	.receive = receive_fake,
	.wait = wait_fake,
	.count = count_fake,
	.describe = describe_fake,
	.close = close_fake,
};
