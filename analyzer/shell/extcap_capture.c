#include "extcap_capture.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <capture/clock.h>

#include "extcap_erf.h"
#include "frame_choice.h"
#include "interrupt.h"
#include "log.h"
#include "record.h"

/* Somebody watches: a frame is shown at once, but many together. */
#define FLUSH_NS UINT64_C(50000000)

enum { PATIENCE_MS = 2000 };

struct capture {
	struct ft_extcap_line *line;
	struct ft_record record;
	uint64_t last_frame; /* the newest one that was kept */
	uint64_t flushed_ns; /* monotonic */
	bool waiting;        /* frames are, since then */
	uint8_t erf[FT_EXTCAP_RECORD];
	char description[512]; /* of the interface */
};

static bool reader_is_gone(void)
{
	struct pollfd output = { .fd = STDOUT_FILENO };

	return poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

/* --- frames --- */

static void flush_in_time(struct capture *capture)
{
	uint64_t now_ns = ft_clock_monotonic_ns();

	if (!capture->waiting || now_ns - capture->flushed_ns < FLUSH_NS)
		return;
	ft_recorder_flush(capture->record.recorder);
	capture->flushed_ns = now_ns;
	capture->waiting = false;
}

static bool go_on(void *context)
{
	struct capture *capture = context;

	flush_in_time(capture);
	ft_record_tick(&capture->record);
	return !capture->record.failed && !reader_is_gone();
}

static void keep(struct capture *capture, const struct ft_frame *frame, const char *comment)
{
	const struct ft_frame written = ft_extcap_frame(frame, capture->erf);

	capture->waiting = true;
	ft_recorder_put(capture->record.recorder, &written, comment);
}

static int keep_judged(void *context, const struct ft_frame_view *view)
{
	struct capture *capture = context;
	char text[FT_CHOICE_COMMENT];
	const char *comment = ft_frame_comment(view, text);

	if (view->frame->number == capture->last_frame ||
	    (comment == NULL && capture->line->only_violations) ||
	    !ft_frame_is_chosen(&capture->line->choice, view))
		return 0;
	capture->last_frame = view->frame->number;
	keep(capture, view->frame, comment);
	return 0;
}

static int keep_all(void *context, const struct ft_frame *frames, int count)
{
	for (int i = 0; i < count; i++)
		keep(context, &frames[i], NULL);
	return 0;
}

static int take_frames(struct capture *capture)
{
	struct ft_job *job = &capture->line->job;

	job->beat = go_on;
	job->beat_context = capture;
	if (job->map == NULL)
		return ft_job_pass(job, keep_all, capture);
	ft_engine_observe(job->engine, keep_judged, capture);
	return ft_job_run(job);
}

/* --- the run --- */

static enum ft_exit prepare(struct ft_extcap_line *line)
{
	struct ft_flow_complaint complaint;

	if (ft_job_prepare(&line->job, NULL) != FT_EXIT_CLEAN)
		return FT_EXIT_FAILED;
	if (ft_flow_choice_check(&line->choice, line->job.map, &complaint) == 0)
		return FT_EXIT_CLEAN;
	return ft_usage_error(line->job.verb, "--%s", complaint.text);
}

/* The file begins when the source receives, and says what a user should know of it. */
static enum ft_exit open_record(struct capture *capture)
{
	const struct ft_job *job = &capture->line->job;
	const struct ft_device_facts *facts = ft_live_facts(job->source, 0);
	struct ft_recorder_config config = { .path = "-" };

	snprintf(capture->description, sizeof capture->description, "%s%s%s", facts->driver,
		 facts->note != NULL ? "; " : "", facts->note != NULL ? facts->note : "");
	return ft_record_open(&capture->record, job, &config, capture->description);
}

/* A reader that takes nothing more, and does not leave either, would hold up the end for ever. */
static void leave_if_stuck(struct capture *capture)
{
	struct pollfd output = { .fd = STDOUT_FILENO, .events = POLLOUT };

	if (poll(&output, 1, PATIENCE_MS) != 0)
		return;
	ft_extcap_line_free(capture->line);
	_exit(FT_EXIT_CLEAN);
}

static enum ft_exit finish(struct capture *capture, int error)
{
	struct ft_recorder_complaint complaint;
	int recorded;

	leave_if_stuck(capture);
	recorded = ft_record_finish(&capture->record, &complaint);

	if (error != 0 || (recorded != 0 && recorded != -EPIPE)) {
		ft_log("%s", error != 0 ? strerror(-error) : complaint.text);
		return FT_EXIT_FAILED;
	}
	return ft_job_tell_damage(&capture->line->job, FT_EXIT_CLEAN);
}

enum ft_exit ft_extcap_capture(struct ft_extcap_line *line)
{
	struct capture capture = { .line = line };
	enum ft_exit status = FT_EXIT_FAILED;

	ft_interrupt_catch();
	if (prepare(line) == FT_EXIT_CLEAN && ft_job_open_source(&line->job) == FT_EXIT_CLEAN &&
	    ft_job_listen(&line->job) == FT_EXIT_CLEAN && open_record(&capture) == FT_EXIT_CLEAN)
		status = finish(&capture, take_frames(&capture));
	ft_record_close(&capture.record);
	return status;
}
