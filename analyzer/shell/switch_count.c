#include "switch_count.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "interrupt.h"
#include "number.h"

#define SECOND_NS UINT64_C(1000000000)

enum { WAIT_S = 60, NAPS_PER_S = 10, TEXT = 64 };

/* Of a file, that is: a pipe without a writer would not answer. */
static uint64_t read_count(const char *path, uint64_t *written_ns)
{
	int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	uint64_t count = FT_TX_UNREADABLE;
	char text[TEXT];
	struct stat status;
	ssize_t size;

	if (file < 0)
		return count;
	size = read(file, text, sizeof text - 1);
	if (size > 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
		text[size] = '\0';
		text[strcspn(text, " \t\n")] = '\0';
		*written_ns = (uint64_t)status.st_mtim.tv_sec * SECOND_NS +
			      (uint64_t)status.st_mtim.tv_nsec;
		ft_number_read(text, 0, INT64_MAX, &count);
	}
	close(file);
	return count;
}

uint64_t ft_switch_count(const char *path)
{
	uint64_t written_ns;

	return read_count(path, &written_ns);
}

/* A number that is still being written may lack digits: it counts once it was the same twice. */
uint64_t ft_switch_count_since(const char *path, uint64_t since_ns)
{
	const struct timespec nap = { .tv_nsec = (long)(SECOND_NS / NAPS_PER_S) };
	uint64_t last = FT_TX_UNREADABLE;

	for (int naps = 0; naps < WAIT_S * NAPS_PER_S && !ft_interrupted(); naps++) {
		uint64_t written_ns = 0, count = read_count(path, &written_ns);

		if (written_ns <= since_ns)
			count = FT_TX_UNREADABLE;
		if (count != FT_TX_UNREADABLE && count == last)
			return count;
		last = count;
		nanosleep(&nap, NULL);
	}
	return last;
}
