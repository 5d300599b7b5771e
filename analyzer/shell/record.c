#include "record.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include <capture/clock.h>

#include "build.h"
#include "log.h"
#include "signals.h"

#define MEMORY (UINT64_C(64) << 20) /* what a disk that stalls can be behind */

/* --- opening --- */

static void name_inputs(struct ft_record *record, size_t count, const char *description)
{
	const struct ft_live_line *live = &record->job->live;

	for (size_t i = 0; i < count; i++) {
		bool is_live = i < live->count;

		record->inputs[i] = (struct ft_recorder_input){
			.name = is_live ? live->addresses[i] : record->job->captures[i],
			.description = description,
			.filter = is_live ? live->config.filter : NULL,
			.snap = is_live ? live->config.snap : 0,
		};
	}
}

/* What wrote the files, and on which system. */
static void name_writer(struct ft_record *record, struct ft_recorder_config *config)
{
	struct utsname host;

	snprintf(record->application, sizeof record->application, "fabtap %s", ft_build_version());
	config->application = record->application;
	if (uname(&host) != 0)
		return;
	snprintf(record->system, sizeof record->system, "%s %s", host.sysname, host.release);
	config->system = record->system;
}

enum ft_exit ft_record_open(struct ft_record *record, const struct ft_job *job,
			    struct ft_recorder_config *config, const char *description)
{
	size_t count = ft_job_is_live(job) ? job->live.count : job->capture_count;
	struct ft_recorder_complaint complaint;

	*record = (struct ft_record){ .job = job, .inputs = calloc(count, sizeof *record->inputs) };
	if (record->inputs == NULL) {
		ft_log("out of memory");
		return FT_EXIT_FAILED;
	}
	name_inputs(record, count, description);
	name_writer(record, config);
	config->inputs = record->inputs;
	config->input_count = (uint32_t)count;
	config->patient = !ft_job_is_live(job);
	config->memory = MEMORY;
	if (ft_recorder_open(&record->recorder, config, ft_clock_wall_ns(), &complaint) == 0)
		return FT_EXIT_CLEAN;
	ft_log("%s", complaint.text);
	return FT_EXIT_FAILED;
}

/* --- while it runs, and the end --- */

static void count_inputs(struct ft_record *record)
{
	const struct ft_source *source = record->job->source;

	for (uint32_t i = 0; i < ft_source_input_count(source); i++) {
		const struct ft_source_input *input = ft_source_input(source, i);
		uint64_t dropped = input->losses_unknown ? UINT64_MAX : input->dropped;

		ft_recorder_count(record->recorder, i,
				  dropped == UINT64_MAX ? UINT64_MAX : input->frames + dropped,
				  dropped);
	}
}

void ft_record_tick(struct ft_record *record)
{
	uint64_t now_ns = ft_clock_wall_ns();
	struct ft_recorder_account account;

	ft_recorder_tick(record->recorder, now_ns);
	if (ft_request_take(FT_REQUEST_FLUSH))
		ft_recorder_flush(record->recorder);
	count_inputs(record);
	if (now_ns - record->told_ns < 1000000000)
		return;
	record->told_ns = now_ns;
	ft_recorder_account(record->recorder, &account);
	record->failed = account.error != 0;
}

int ft_record_finish(struct ft_record *record, struct ft_recorder_complaint *complaint)
{
	record->told_ns = 0;
	ft_record_tick(record);
	return ft_recorder_finish(record->recorder, complaint);
}

void ft_record_close(struct ft_record *record)
{
	ft_recorder_close(record->recorder);
	free(record->inputs);
}
