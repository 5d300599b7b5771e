#include "sources_live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <capture/clock.h>

#include "interrupt.h"
#include "live_line.h"
#include "log.h"
#include "output.h"

static int keep_row(void *context, const struct ft_device_listing *listing)
{
	struct ft_device_list *list = context;
	struct ft_device_listing row = {
		.address = strdup(listing->address),
		.about = strdup(listing->about),
		.usable = listing->usable,
	};

	if (list->count == list->room) {
		size_t room = 2 * list->room + 16;
		struct ft_device_listing *rows = reallocarray(list->rows, room, sizeof(*rows));

		if (rows != NULL) {
			list->rows = rows;
			list->room = room;
		}
	}
	if (row.address == NULL || row.about == NULL || list->count == list->room) {
		free((char *)(uintptr_t)row.address);
		free((char *)(uintptr_t)row.about);
		return -ENOMEM;
	}
	list->rows[list->count++] = row;
	return 0;
}

int ft_device_list_fill(struct ft_device_list *list)
{
	int error;

	*list = (struct ft_device_list){ 0 };
	error = ft_live_list(keep_row, list);
	if (error != 0)
		ft_log("cannot list live sources: %s", strerror(-error));
	return error;
}

void ft_device_list_free(struct ft_device_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free((char *)(uintptr_t)list->rows[i].address);
		free((char *)(uintptr_t)list->rows[i].about);
	}
	free(list->rows);
}

/* Until the time is over, the source ends, or somebody interrupts; how long that was. */
static uint64_t receive(struct ft_source *source, uint64_t duration_ns)
{
	enum { BURST = 64 };
	struct ft_frame frames[BURST];
	uint64_t start = ft_clock_monotonic_ns(), listened = 0;
	bool stopped = false;

	while (ft_source_next(source, frames, BURST) >= 0) {
		if (stopped)
			continue;
		listened = ft_clock_monotonic_ns() - start;
		if (listened < duration_ns && !ft_interrupted())
			continue;
		ft_source_stop(source);
		stopped = true;
	}
	return stopped ? listened : ft_clock_monotonic_ns() - start;
}

/* *source is what can be told of; NULL: it could not be opened. */
static enum ft_exit try_one(const char *address, const struct ft_live_config *config,
			    uint64_t duration_ns, struct ft_source **source,
			    struct ft_source_trial *trial)
{
	struct ft_source_complaint complaint;
	struct ft_source *opened;
	int error = ft_live_open(&opened, &address, 1, config, &complaint);

	if (error == 0) {
		error = ft_live_start(opened, &complaint);
		if (error != 0)
			ft_source_close(opened);
	}
	if (error != 0) {
		ft_log("%s", complaint.text);
		return FT_EXIT_FAILED;
	}
	ft_live_warn(opened);
	trial->duration_ns = receive(opened, duration_ns);
	trial->input = ft_source_input(opened, 0);
	trial->facts = ft_live_facts(opened, 0);
	*source = opened;
	if (!trial->input->damaged)
		return FT_EXIT_CLEAN;
	ft_log("%s", trial->input->complaint.text);
	return FT_EXIT_FAILED;
}

enum ft_exit ft_sources_try(const char *const *addresses, size_t count,
			    const struct ft_live_config *config, uint64_t duration_ns, bool json)
{
	struct ft_source_trial *trials = calloc(count, sizeof(*trials));
	struct ft_source **opened = calloc(count, sizeof(struct ft_source *));
	struct ft_sources sources = { .trials = trials };
	enum ft_exit status = FT_EXIT_CLEAN;
	int error = trials == NULL || opened == NULL ? -ENOMEM : 0;

	ft_interrupt_catch();
	for (size_t i = 0; i < count && error == 0 && !ft_interrupted(); i++) {
		size_t tried = sources.trial_count;

		if (try_one(addresses[i], config, duration_ns, &opened[tried], &trials[tried]) !=
		    FT_EXIT_CLEAN)
			status = FT_EXIT_FAILED;
		sources.trial_count += opened[tried] != NULL;
	}
	if (error == 0)
		error = json ? ft_sources_json(stdout, &sources)
			     : ft_sources_trials_text(stdout, &sources);
	for (size_t i = 0; i < sources.trial_count; i++)
		ft_source_close(opened[i]);
	free(opened);
	free(trials);
	return ft_output_status(error, status);
}
