#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include <capture/live.h>

enum { CALLS_PER_LOOK = 64 };
#define REDRAW_S 0.2

void ft_progress_start(struct ft_progress *progress, bool streams)
{
	*progress = (struct ft_progress){
		.shown = isatty(STDERR_FILENO) && !(streams && isatty(STDOUT_FILENO)),
	};
	clock_gettime(CLOCK_MONOTONIC, &progress->started);
	progress->last = progress->started;
}

static double seconds(const struct timespec *from, const struct timespec *to)
{
	return (double)(to->tv_sec - from->tv_sec) + (double)(to->tv_nsec - from->tv_nsec) / 1e9;
}

/* Of live sources: how long, how many, and what they lost. */
static void draw_live(const struct ft_source *source, uint64_t frames, double elapsed)
{
	uint64_t lost = 0;
	bool unknown = false;

	for (size_t i = 0; i < ft_source_input_count(source); i++) {
		const struct ft_source_input *input = ft_source_input(source, i);

		lost += input->dropped;
		unknown |= input->losses_unknown;
	}
	fprintf(stderr, "\r\033[K%.0f s, %" PRIu64 " frames, %.3g M frames/s, ", elapsed, frames,
		(double)frames / elapsed / 1e6);
	if (unknown)
		fputs("losses not known", stderr);
	else
		fprintf(stderr, "%" PRIu64 " lost", lost);
	fflush(stderr);
}

static void draw_files(const struct ft_source *source, uint64_t frames, double elapsed)
{
	uint64_t done, total;

	ft_source_progress(source, &done, &total);
	fprintf(stderr, "\r\033[K%.1f MB", (double)done / 1e6);
	if (total > 0)
		fprintf(stderr, " of %.1f MB (%.0f %%)", (double)total / 1e6,
			100 * (double)done / (double)total);
	fprintf(stderr, ", %" PRIu64 " frames, %.3g M frames/s", frames,
		(double)frames / elapsed / 1e6);
	if (total > 0 && done > 0 && done <= total)
		fprintf(stderr, ", %.0f s left", elapsed * (double)(total - done) / (double)done);
	fflush(stderr);
}

void ft_progress_step(struct ft_progress *progress, const struct ft_source *source, uint64_t frames)
{
	struct timespec now;

	if (!progress->shown || ++progress->calls % CALLS_PER_LOOK != 0)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (seconds(&progress->last, &now) < REDRAW_S)
		return;
	progress->last = now;
	if (ft_live_facts(source, 0) != NULL)
		draw_live(source, frames, seconds(&progress->started, &now));
	else
		draw_files(source, frames, seconds(&progress->started, &now));
}

void ft_progress_end(struct ft_progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->shown = false;
}
