#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

/*
 * Random numbers that are none: FAKE_SEED as a number of 64 bits, in the order of the machine's bytes, as often as there is room
 * for it. The seed of all hash tables is drawn from them.
 */
__attribute__((visibility("default"))) ssize_t getrandom(void *bytes, size_t count, unsigned flags)
{
	const char *text = getenv("FAKE_SEED");
	const uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : 0;

	(void)flags;
	for (size_t i = 0; i < count; i++)
		((uint8_t *)bytes)[i] = ((const uint8_t *)&seed)[i % sizeof seed];
	return (ssize_t)count;
}
