#include <report/recording.h>

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "capture_json.h"
#include "coverage_json.h"
#include "document.h"
#include "human.h"

static void files(struct ft_document *json, const struct ft_recording *recording)
{
	ft_member_begin(json, "files", '[');
	for (size_t i = 0; i < recording->file_count; i++) {
		const struct ft_recorder_file *file = &recording->files[i];

		ft_member_begin(json, NULL, '{');
		ft_member_text(json, "name", file->path);
		ft_member_number(json, "bytes", file->bytes);
		ft_member_number(json, "frames", file->frames);
		ft_member_time(json, "first_ts", file->first_ns);
		ft_member_time(json, "last_ts", file->last_ns);
		ft_member_end(json, '}');
	}
	ft_member_end(json, ']');
}

int ft_recording_json(FILE *out, const struct ft_recording *recording)
{
	const struct ft_recorder_account *account = &recording->account;
	const struct ft_report *report = recording->report;
	struct ft_document json;

	ft_document_open(&json, out);
	ft_member_text(&json, "schema", "fabtap.capture/1");
	ft_tool_json(&json, report->version, report->build);
	ft_capture_json(&json, report);
	ft_member_begin(&json, "coverage", '{');
	ft_lost_by_json(&json, &report->coverage);
	ft_member_end(&json, '}');
	files(&json, recording);
	ft_member_number(&json, "kept", account->frames);
	ft_member_number(&json, "lost_for_disk", account->left_out);
	ft_member_number(&json, "files_begun", account->files);
	ft_member_number(&json, "files_removed", account->removed);
	return ft_document_close(&json);
}

static void say_losses(FILE *out, const struct ft_report_coverage *coverage)
{
	for (size_t i = 0; i < coverage->lost_by_count; i++) {
		const struct ft_report_loss *loss = &coverage->lost_by[i];

		if (loss->frames == FT_UNKNOWN)
			fprintf(out, "  lost by %s: not known, it does not count\n", loss->source);
		else
			fprintf(out, "  lost by %s: %" PRIu64 "\n", loss->source, loss->frames);
	}
}

static void say_files(FILE *out, const struct ft_recording *recording)
{
	const struct ft_recorder_account *account = &recording->account;
	uint64_t bytes = 0;
	struct ft_human human;

	for (size_t i = 0; i < recording->file_count; i++)
		bytes += recording->files[i].bytes;
	if (account->files == 1) {
		fprintf(out, "  %s: %s\n", recording->files[0].path, ft_human_bytes(&human, bytes));
		return;
	}
	fprintf(out, "  %" PRIu64 " files, %s", account->files, ft_human_bytes(&human, bytes));
	if (account->removed != 0)
		fprintf(out, "; the oldest %" PRIu64 " went for the disk limit", account->removed);
	fputc('\n', out);
}

int ft_recording_text(FILE *out, const struct ft_recording *recording)
{
	const struct ft_recorder_account *account = &recording->account;

	fprintf(out, "fabtap: %" PRIu64 " frame%s captured, %" PRIu64 " kept",
		recording->report->frames, ft_plural(recording->report->frames), account->frames);
	if (account->left_out != 0)
		fprintf(out, ", %" PRIu64 " lost for the disk", account->left_out);
	if (recording->report->stopped_after != 0)
		fputs("; -c ended it", out);
	fputc('\n', out);
	say_losses(out, &recording->report->coverage);
	if (recording->file_count != 0)
		say_files(out, recording);
	return fflush(out) != 0 ? -errno : 0;
}
