#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <report/recording.h>
#include <report/source_row.h>

#include "build.h"
#include "capture_line.h"
#include "frame_choice.h"
#include "interrupt.h"
#include "log.h"
#include "output.h"
#include "record.h"

static const char usage[] =
	"usage: fabtap capture -i SOURCE -w FILE [options]\n"
	"       fabtap capture -w FILE [options] CAPTURE...\n"
	"\n"
	"Writes frames to pcapng. Writing never holds up capturing: what the disk is too slow for\n"
	"is left out and counted. With rotation or a limit x.pcapng becomes\n"
	"x_00001_20261121T120000.pcapng (UTC) and so on.\n"
	"\n"
	"options:\n"
	"  -w, --write FILE       pcapng; - is standard output\n"
	"      --rotate-size SIZE next file before this one would exceed SIZE (64K, 512M, 2G)\n"
	"      --rotate-time T    next file after T (seconds, or 90s, 5m, 2h)\n"
	"      --rotate-count N   next file after N frames\n"
	"      --disk-limit SIZE  all files together never exceed SIZE: the oldest go\n"
	"      --tenant NAME      keep only frames of these tenants (with -m)\n"
	"      --pkey P_KEY       ... with this P_Key base\n"
	"      --qp N             ... to this queue pair\n"
	"      --address A        ... from or to this address, prefix, or lid:N\n"
	"      --rule NAME        ... that break this rule, or one of spoof.* (with -m);\n"
	"                         not nccl.*, nor what is about the map or a tenant's quota\n"
	"                         several values, A,B: any of them; several options: all\n"
	"      --json             the account as JSON, on standard output\n" FT_JOB_USAGE "\n"
	"With a map the rules that a frame breaks stand in its comment. -c counts frames that "
	"match.\n"
	"Frames of captures wait for the disk. One thread does it all, whatever --workers says.\n"
	"\n"
	"exit status: 0 ended as asked, frames lost or not; 2 could not do it (or not all)\n";

struct capture {
	struct ft_capture_line line;
	struct ft_record record;
	uint64_t last_frame;          /* the newest one that was chosen */
	uint64_t chosen, most_chosen; /* where frames are chosen: -c counts those */
};

enum { BURST = 64 };

/* --- the account --- */

struct rows {
	struct ft_recorder_file *files;
	size_t count, room;
	int error;
};

static void add_file(void *context, const struct ft_recorder_file *file)
{
	struct rows *rows = context;
	size_t room = 2 * rows->room + 8;
	struct ft_recorder_file *files = rows->files;

	if (rows->count == rows->room) {
		files = reallocarray(rows->files, room, sizeof *files);
		if (files == NULL) {
			rows->error = -ENOMEM;
			return;
		}
		rows->files = files;
		rows->room = room;
	}
	files[rows->count++] = *file;
}

/* Frames after which -c ended the run; 0: it did not. */
static uint64_t stopped_after(const struct capture *capture)
{
	if (capture->most_chosen != 0)
		return capture->chosen == capture->most_chosen ? capture->chosen : 0;
	return ft_job_stopped_after(&capture->line.job);
}

static void describe(const struct capture *capture, struct ft_report *report,
		     struct ft_report_source *sources, struct ft_report_loss *losses)
{
	const struct ft_source *source = capture->line.job.source;
	size_t count = ft_source_input_count(source);

	for (size_t i = 0; i < count; i++) {
		const struct ft_source_input *input = ft_source_input(source, i);

		sources[i] = ft_report_source_of(input);
		report->frames += input->frames;
		report->bytes += input->bytes;
		if (ft_report_source_loss(input, &losses[report->coverage.lost_by_count]))
			report->coverage.lost_by_count++;
	}
	report->sources = sources;
	report->source_count = count;
	ft_report_span(report);
	report->coverage.lost_by = losses;
	report->version = ft_build_version();
	report->build = ft_build_text();
	report->stopped_after = stopped_after(capture);
}

static int tell(struct capture *capture)
{
	size_t count = ft_source_input_count(capture->line.job.source);
	struct ft_report_source *sources = calloc(count, sizeof *sources);
	struct ft_report_loss *losses = calloc(count, sizeof *losses);
	struct ft_report report = { 0 };
	struct ft_recording recording = { .report = &report };
	struct rows rows = { 0 };
	int error = -ENOMEM;

	if (sources != NULL && losses != NULL) {
		describe(capture, &report, sources, losses);
		ft_recorder_account(capture->record.recorder, &recording.account);
		ft_recorder_each_file(capture->record.recorder, add_file, &rows);
		recording.files = rows.files;
		recording.file_count = rows.count;
		error = rows.error;
		if (error == 0)
			error = ft_recording_text(stderr, &recording);
		if (rows.error == 0 && capture->line.json)
			error = ft_recording_json(stdout, &recording);
	}
	free(rows.files);
	free(losses);
	free(sources);
	if (error == -ENOMEM)
		ft_log("%s: no account of what was captured", strerror(ENOMEM));
	return error;
}

static void tell_so_far(void *context)
{
	struct capture *capture = context;

	tell(capture);
	fflush(stdout);
}

/* --- frames --- */

/* Every frame of which a packet is one of those asked for. */
static int keep_chosen(void *context, const struct ft_frame_view *view)
{
	struct capture *capture = context;
	char comment[FT_CHOICE_COMMENT];

	if (view->frame->number % BURST == 0)
		ft_record_tick(&capture->record);
	if (view->frame->number == capture->last_frame || capture->chosen == capture->most_chosen ||
	    !ft_frame_is_chosen(&capture->line.choice, view))
		return 0;
	capture->last_frame = view->frame->number;
	capture->chosen++;
	ft_recorder_put(capture->record.recorder, view->frame, ft_frame_comment(view, comment));
	return 0;
}

static bool go_on(void *context)
{
	struct capture *capture = context;

	ft_record_tick(&capture->record);
	return !capture->record.failed &&
	       (capture->most_chosen == 0 || capture->chosen < capture->most_chosen);
}

static int keep_all(void *context, const struct ft_frame *frames, int count)
{
	struct capture *capture = context;

	for (int i = 0; i < count; i++)
		ft_recorder_put(capture->record.recorder, &frames[i], NULL);
	return 0;
}

/* A tenant may be gone: then no frame matches any more. */
static void check_choice_again(void *context)
{
	const struct capture *capture = context;
	struct ft_flow_complaint complaint;

	if (ft_flow_choice_check(&capture->line.choice, capture->line.job.map, &complaint) != 0)
		ft_log("capture: --%s as it was read again", complaint.text);
}

static int take_frames(struct capture *capture)
{
	struct ft_job *job = &capture->line.job;

	job->interim = tell_so_far;
	job->asked_context = capture;
	job->beat = go_on;
	job->beat_context = capture;
	if (!ft_capture_line_chooses(&capture->line))
		return ft_job_pass(job, keep_all, capture);
	job->reloaded = check_choice_again;
	capture->most_chosen = job->most_frames;
	job->most_frames = UINT64_MAX;
	ft_engine_observe(job->engine, keep_chosen, capture);
	return ft_job_run(job);
}

/* --- the run --- */

static enum ft_exit finish(struct capture *capture, int error)
{
	struct ft_recorder_complaint complaint;
	enum ft_exit status = FT_EXIT_CLEAN;

	if (error == -EINTR)
		status = FT_EXIT_FAILED;
	error = ft_record_finish(&capture->record, &complaint);
	if (tell(capture) != 0)
		status = FT_EXIT_FAILED;
	if (error != 0) {
		ft_log("%s", complaint.text);
		status = FT_EXIT_FAILED;
	}
	return ft_job_tell_damage(&capture->line.job, status);
}

static enum ft_exit check_choice(const struct capture *capture)
{
	struct ft_flow_complaint complaint;

	if (capture->line.choice.nccl)
		return ft_usage_error(&ft_verb_capture,
				      "--rule nccl.*: capture does not follow NCCL; audit -w keeps "
				      "the frames of its findings");
	if (ft_flow_choice_check(&capture->line.choice, capture->line.job.map, &complaint) != 0)
		return ft_usage_error(&ft_verb_capture, "--%s", complaint.text);
	if (capture->line.choice.packetless)
		return ft_usage_error(&ft_verb_capture,
				      "--rule: one of these is about the map or a tenant, and no "
				      "frame breaks it");
	return FT_EXIT_CLEAN;
}

/* Not before all sources receive: one that cannot must cost no file. */
static int open_files(void *context)
{
	struct capture *capture = context;
	enum ft_exit status =
		ft_record_open(&capture->record, &capture->line.job, &capture->line.recorder, NULL);

	return status == FT_EXIT_CLEAN ? 0 : -EIO;
}

/* Whatever the frames come from. */
static enum ft_exit begin(struct capture *capture)
{
	struct ft_job *job = &capture->line.job;

	if (!ft_job_is_live(job))
		return open_files(capture) == 0 ? FT_EXIT_CLEAN : FT_EXIT_FAILED;
	job->live.receiving = open_files;
	job->live.receiving_context = capture;
	return ft_job_listen(job);
}

static enum ft_exit run_line(struct capture *capture, int argc, char **argv)
{
	struct ft_job *job = &capture->line.job;
	const char *path;

	if (ft_capture_line_read(&capture->line, argc, argv) != FT_EXIT_CLEAN)
		return FT_EXIT_FAILED;
	if (capture->line.help)
		return ft_usage_print(&ft_verb_capture);
	path = capture->line.recorder.path;
	job->config.workers = 1; /* the recorder is told of time and frames by one thread */
	if (ft_job_prepare(job, strcmp(path, "-") == 0 ? NULL : path) != FT_EXIT_CLEAN ||
	    check_choice(capture) != FT_EXIT_CLEAN || ft_job_open_source(job) != FT_EXIT_CLEAN ||
	    begin(capture) != FT_EXIT_CLEAN)
		return FT_EXIT_FAILED;
	return finish(capture, take_frames(capture));
}

static enum ft_exit run(int argc, char **argv)
{
	struct capture capture = { 0 };
	enum ft_exit status = FT_EXIT_FAILED;

	if (ft_flow_choice_init(&capture.line.choice) != 0)
		ft_log("out of memory");
	else if (ft_job_init(&capture.line.job, &ft_verb_capture, argc) == 0) {
		status = run_line(&capture, argc, argv);
		ft_record_close(&capture.record);
		ft_job_close(&capture.line.job);
	}
	ft_flow_choice_free(&capture.line.choice);
	return status;
}

const struct ft_verb ft_verb_capture = { "capture", "frames to pcapng, with rotation and limits",
					 usage, run };
