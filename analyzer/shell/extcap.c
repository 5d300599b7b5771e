#include "extcap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <capture/filter.h>
#include <partition/load.h>

#include "build.h"
#include "extcap_capture.h"
#include "extcap_line.h"
#include "extcap_sentences.h"
#include "log.h"
#include "output.h"
#include "sources_live.h"

bool ft_extcap_is_called(int argc, char **argv)
{
	for (int i = 1; i < argc && strncmp(argv[1], "--", 2) == 0; i++)
		if (strcmp(argv[i], "--capture") == 0 || strncmp(argv[i], "--extcap-", 9) == 0)
			return true;
	return false;
}

/* --- what can be answered at once --- */

static enum ft_exit put_interfaces(const struct ft_extcap_line *line)
{
	struct ft_device_list list;
	int error = ft_device_list_fill(&list);

	(void)line;
	if (error == 0)
		ft_extcap_put_interfaces(stdout, ft_build_version(), list.rows, list.count);
	ft_device_list_free(&list);
	return error == 0 ? FT_EXIT_CLEAN : FT_EXIT_FAILED;
}

static enum ft_exit put_dlts(const struct ft_extcap_line *line)
{
	struct ft_device_list list;
	const char *about = NULL;

	ft_device_list_fill(&list);
	for (size_t i = 0; i < list.count; i++)
		if (strcmp(list.rows[i].address, line->address) == 0)
			about = list.rows[i].about;
	ft_extcap_put_dlt(stdout, line->interface, about);
	ft_device_list_free(&list);
	return FT_EXIT_CLEAN;
}

static enum ft_exit put_config(const struct ft_extcap_line *line)
{
	ft_extcap_put_config(stdout, line->interface);
	return FT_EXIT_CLEAN;
}

static enum ft_exit put_values(const struct ft_extcap_line *line)
{
	const struct ft_map_files *files = &line->job.files;
	struct ft_map_complaint complaint;
	struct ft_declared *declared = NULL;

	if (strcmp(line->reload, FT_EXTCAP_TENANT) != 0) {
		ft_log("extcap: nothing to choose from for %s", line->reload);
		return FT_EXIT_FAILED;
	}
	if (files->map != NULL && ft_map_load(&declared, files, NULL, &complaint) != 0) {
		ft_log("%s", complaint.text);
		return FT_EXIT_FAILED;
	}
	ft_extcap_put_tenants(stdout, declared);
	ft_declared_destroy(declared);
	return FT_EXIT_CLEAN;
}

/* What is wrong goes to standard output, and the status says that it was answered. */
static enum ft_exit check_filter(const struct ft_extcap_line *line)
{
	struct ft_source_complaint complaint;

	if (ft_live_filter_check(line->address, line->filter, &complaint) != 0)
		puts(complaint.text);
	return FT_EXIT_CLEAN;
}

static enum ft_exit answer(const struct ft_extcap_line *line)
{
	static enum ft_exit (*const answers[])(const struct ft_extcap_line *) = {
		[FT_EXTCAP_INTERFACES] = put_interfaces, [FT_EXTCAP_DLTS] = put_dlts,
		[FT_EXTCAP_CONFIG] = put_config,         [FT_EXTCAP_RELOAD] = put_values,
		[FT_EXTCAP_FILTER] = check_filter,
	};

	return answers[line->request] != NULL ? answers[line->request](line) : FT_EXIT_CLEAN;
}

/* --- captures --- */

static const char *fifo_of(int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i++)
		if (strcmp(argv[i], "--fifo") == 0)
			return argv[i + 1];
	return NULL;
}

/*
 * Standard output becomes the FIFO. Its reader waits until somebody opens it, and would for ever: whatever
 * else may fail comes later.
 */
static enum ft_exit open_fifo(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	int error = fd < 0 || dup2(fd, STDOUT_FILENO) < 0 ? errno : 0;

	if (fd >= 0)
		close(fd);
	if (error == 0)
		return FT_EXIT_CLEAN;
	ft_log("%s: cannot open: %s", path, strerror(error));
	return FT_EXIT_FAILED;
}

enum ft_exit ft_extcap_run(int argc, char **argv)
{
	const char *fifo = fifo_of(argc, argv);
	struct ft_extcap_line line;
	enum ft_exit status = FT_EXIT_FAILED;

	if (fifo != NULL && open_fifo(fifo) != FT_EXIT_CLEAN)
		return FT_EXIT_FAILED;
	if (ft_extcap_line_init(&line, argc) != 0)
		return FT_EXIT_FAILED;
	if (ft_extcap_line_read(&line, argc, argv) == FT_EXIT_CLEAN)
		status = line.request == FT_EXTCAP_CAPTURE ? ft_extcap_capture(&line)
							   : answer(&line);
	ft_extcap_line_free(&line);
	return status;
}
