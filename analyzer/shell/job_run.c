#include <errno.h>
#include <string.h>

#include <capture/clock.h>

#include "interrupt.h"
#include "job_map.h"
#include "log.h"
#include "signals.h"

/* Frames are taken until they end, a signal says so, or the time is over. */
struct run {
	struct ft_job *job;
	struct ft_progress progress;
	uint64_t before; /* frames of earlier rounds */
	uint64_t end_ns; /* monotonic; 0: none */
	bool stopped;    /* by the beat */
};

/* False: something is asked for that has to wait for the round to end. A stopped source still hands out what is at hand. */
static bool go_on_live(const struct run *run)
{
	bool over = run->end_ns != 0 && ft_clock_monotonic_ns() >= run->end_ns;

	if (ft_interrupted() || over)
		ft_source_stop(run->job->source);
	return !ft_requested(FT_REQUEST_REPORT) && !ft_requested(FT_REQUEST_RELOAD);
}

static bool go_on(void *context, uint64_t frames)
{
	struct run *run = context;
	struct ft_job *job = run->job;

	ft_progress_step(&run->progress, job->source, run->before + frames);
	if (job->beat != NULL && !job->beat(job->beat_context)) {
		run->stopped = true;
		return false;
	}
	if (ft_job_is_live(job))
		return go_on_live(run);
	return !ft_interrupted() || ft_source_is_piped(job->source);
}

static int run_engine(void *context, uint64_t *frames)
{
	struct run *run = context;
	const struct ft_engine_run engine_run = {
		.source = run->job->source,
		.most = run->job->most_frames - run->job->frames,
		.go_on = go_on,
		.context = run,
	};

	return ft_engine_run(run->job->engine, &engine_run, frames);
}

/* Do what was asked for, between two rounds. False: nothing was. */
static bool answer(struct ft_job *job)
{
	bool report = ft_request_take(FT_REQUEST_REPORT);
	bool reload = ft_request_take(FT_REQUEST_RELOAD);

	if (report && job->interim != NULL)
		job->interim(job->asked_context);
	if (reload)
		ft_job_reload(job);
	return report || reload;
}

/* Files that a signal keeps from being read to their end; a pipe has none but where it is stopped. */
static bool was_cut(const struct ft_job *job)
{
	return ft_interrupted() && !ft_job_is_live(job) && !ft_source_is_piped(job->source);
}

/* Rounds until the end; whenever something was asked for, the round ends and another one begins. */
static int run_rounds(struct run *run, int (*round)(void *context, uint64_t *frames), void *context)
{
	struct ft_job *job = run->job;
	bool again = true;
	int error = 0;

	if (job->live.duration_ns != 0)
		run->end_ns = ft_clock_monotonic_ns() + job->live.duration_ns;
	ft_progress_start(&run->progress, job->streams);
	while (again && error == 0) {
		uint64_t frames = 0;

		error = round(context, &frames);
		job->frames += frames;
		run->before = job->frames;
		again = error == 0 && !run->stopped && answer(job);
	}
	ft_progress_end(&run->progress);
	return was_cut(job) ? -EINTR : error;
}

int ft_job_run(struct ft_job *job)
{
	struct run run = { .job = job };

	return run_rounds(&run, run_engine, &run);
}

enum ft_exit ft_job_failed(const struct ft_job *job, int error, const char *lacking)
{
	ft_log("%s after %llu frame%s: %s", error == -EINTR ? "interrupted" : strerror(-error),
	       (unsigned long long)job->frames, job->frames == 1 ? "" : "s", lacking);
	return FT_EXIT_FAILED;
}

struct pass {
	struct run run;
	ft_job_taker *take;
	void *context;
};

static int run_pass(void *context, uint64_t *frames)
{
	enum { BURST = 64 };
	struct pass *pass = context;
	struct ft_job *job = pass->run.job;
	struct ft_frame burst[BURST];

	while (go_on(&pass->run, *frames)) {
		uint64_t left = job->most_frames - job->frames - *frames;
		int room = left < BURST ? (int)left : BURST;
		int count = room > 0 ? ft_source_next(job->source, burst, room) : -ENODATA;
		int error;

		if (count == -ENODATA)
			return 0;
		error = count > 0 ? pass->take(pass->context, burst, count) : 0;
		*frames += (uint64_t)count;
		if (error != 0)
			return error;
	}
	return 0;
}

int ft_job_pass(struct ft_job *job, ft_job_taker *take, void *context)
{
	struct pass pass = { .run = { .job = job }, .take = take, .context = context };

	return run_rounds(&pass.run, run_pass, &pass);
}
