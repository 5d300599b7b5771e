#include <capture/recorder.h>

#include "complain.h"
#include "recorder_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	MEMORY_MIN = 8 << 20,
	FILES_OF_LIMIT = 10, /* where nothing says how large files may be */
};

#define WAIT_NS UINT64_C(500000000) /* frames wait no longer for their chunk to fill */

/* --- opening --- */

static int refuse(struct ft_recorder_complaint *complaint, const char *path, const char *why)
{
	ft_complain(complaint->text, sizeof complaint->text, path, "%s", why);
	return -EINVAL;
}

static const char *name_of(const struct ft_recorder_config *config)
{
	return strcmp(config->path, "-") == 0 ? "standard output" : config->path;
}

static bool is_folder(const char *path)
{
	size_t length = strlen(path);
	struct stat status;

	return (length != 0 && path[length - 1] == '/') ||
	       (stat(path, &status) == 0 && S_ISDIR(status.st_mode));
}

static int check(const struct ft_recorder_config *config, struct ft_recorder_complaint *complaint)
{
	const char *path = config->path;

	if (strcmp(path, "-") == 0 && ft_recorder_rotates(config))
		return refuse(complaint, name_of(config),
			      "cannot be rotated or limited: name a file");
	if (is_folder(path))
		return refuse(complaint, path, "is a folder: name a file in it");
	if ((config->rotate_bytes != 0 && config->rotate_bytes < FT_RECORDER_FILE_MIN) ||
	    (config->disk_limit != 0 && config->disk_limit < FT_RECORDER_FILE_MIN))
		return refuse(complaint, path, "files of less than 16 KiB are not made");
	return 0;
}

/* A single file must not outgrow what all of them may have, nor its end cost most of what is kept. */
static void bound_files(struct ft_recorder_config *config)
{
	uint64_t limit = config->disk_limit, share = limit / FILES_OF_LIMIT;

	if (limit == 0)
		return;
	if (config->rotate_bytes == 0)
		config->rotate_bytes = share > FT_RECORDER_FILE_MIN ? share : FT_RECORDER_FILE_MIN;
	if (config->rotate_bytes > limit)
		config->rotate_bytes = limit;
}

static int create(struct ft_recorder **recorder, const struct ft_recorder_config *config,
		  uint64_t now_ns)
{
	struct ft_recorder *made = calloc(1, sizeof *made);
	uint64_t memory = config->memory > MEMORY_MIN ? config->memory : MEMORY_MIN;
	int error;

	if (made == NULL)
		return -ENOMEM;
	made->config = *config;
	bound_files(&made->config);
	made->now_ns = now_ns;
	made->counted = calloc(2 * (size_t)config->input_count + 1, sizeof *made->counted);
	error = made->counted == NULL ? -ENOMEM : ft_pcapng_numbers_create(&made->numbers);
	if (error == 0)
		error = ft_disk_create(&made->disk, memory / FT_CHUNK_BYTES, config->disk_limit);
	if (error != 0) {
		ft_recorder_close(made);
		return error;
	}
	for (uint32_t i = 0; i < config->input_count; i++)
		made->counted[i].received = made->counted[i].dropped = FT_PCAPNG_NOT_COUNTED;
	*recorder = made;
	return 0;
}

/* The first file exists, with its section, before anything is captured. */
static int begin(struct ft_recorder *recorder)
{
	const struct ft_pcapng_section section = {
		.application = recorder->config.application,
		.system = recorder->config.system,
		.comment = recorder->config.comment,
	};
	struct ft_chunk *first;
	int error;

	recorder->section_size = ft_pcapng_put_section(recorder->section, &section);
	error = ft_recorder_begin_file(recorder);
	if (error != 0)
		return error;
	first = recorder->chunk;
	recorder->chunk = NULL;
	return ft_disk_write_now(recorder->disk, first);
}

int ft_recorder_open(struct ft_recorder **recorder, const struct ft_recorder_config *config,
		     uint64_t now_ns, struct ft_recorder_complaint *complaint)
{
	struct ft_recorder *made = NULL;
	int error = check(config, complaint);

	if (error != 0)
		return error;
	error = create(&made, config, now_ns);
	if (error == 0)
		error = begin(made);
	if (error != 0) {
		ft_complain(complaint->text, sizeof complaint->text, name_of(config), "%s: %s",
			    strcmp(config->path, "-") == 0 ? "cannot write" : "cannot create",
			    strerror(-error));
		ft_recorder_close(made);
		return error;
	}
	*recorder = made;
	return 0;
}

/* --- frames --- */

void ft_recorder_count(struct ft_recorder *recorder, uint32_t input, uint64_t received,
		       uint64_t dropped)
{
	recorder->counted[input].received = received;
	recorder->counted[input].dropped = dropped;
	recorder->counted[input].uncounted = dropped == FT_PCAPNG_NOT_COUNTED;
}

static size_t make_interface(const struct ft_recorder *recorder, const struct ft_frame *frame,
			     uint8_t *block)
{
	const struct ft_recorder_input *input = &recorder->config.inputs[frame->input];
	const struct ft_pcapng_interface interface = {
		.link_type = frame->link_type,
		.snap = input->snap,
		.name = input->name,
		.description = input->description,
		.filter = input->filter,
		.comment = ft_recorder_remark(&recorder->counted[frame->input]),
	};

	return ft_pcapng_put_interface(block, &interface);
}

/* A new interface: its block goes here and into every file that follows. */
static bool describe(struct ft_recorder *recorder, const struct ft_frame *frame)
{
	struct ft_described *described = &recorder->interfaces[recorder->interface_count];
	uint8_t block[FT_PCAPNG_BLOCK_ROOM];
	size_t size = make_interface(recorder, frame, block);

	described->block = malloc(size);
	if (described->block == NULL ||
	    !ft_recorder_find_room(recorder, size + FT_STATISTICS_ROOM)) {
		free(described->block);
		return false;
	}
	memcpy(described->block, block, size);
	described->size = size;
	described->input = frame->input;
	recorder->interface_count++;
	ft_recorder_append(recorder, block, size);
	return true;
}

/* Its interface, described if it is new. False: there is no room for another one. */
static bool find_interface(struct ft_recorder *recorder, const struct ft_frame *frame,
			   uint32_t *number)
{
	if (ft_pcapng_numbers_find(recorder->numbers, frame, number) < 0)
		return false;
	return *number < recorder->interface_count ||
	       (*number == recorder->interface_count && *number < FT_RECORDER_INTERFACES &&
		describe(recorder, frame));
}

static void keep(struct ft_recorder *recorder, const struct ft_frame *frame, uint32_t number,
		 const char *comment)
{
	struct ft_chunk *chunk = recorder->chunk;
	size_t size = ft_pcapng_put_packet(chunk->bytes + chunk->used, frame, number, comment);

	if (chunk->frames++ == 0)
		recorder->waits_since_ns = recorder->now_ns;
	if (chunk->first_ns == FT_TS_UNKNOWN)
		chunk->first_ns = frame->ts_ns;
	chunk->last_ns = frame->ts_ns;
	chunk->used += size;
	recorder->file.bytes += size;
	recorder->file.frames++;
	recorder->account.frames++;
}

/* Whether there is a point in trying again, now. */
static bool wait_for_disk(struct ft_recorder *recorder)
{
	if (!recorder->config.patient || ft_disk_stock(recorder->disk) > FT_CHUNK_RESERVE)
		return false;
	ft_disk_wait(recorder->disk, FT_CHUNK_RESERVE + 1);
	recorder->account.error = ft_disk_error(recorder->disk, &(uint64_t){ 0 });
	return true;
}

bool ft_recorder_put(struct ft_recorder *recorder, const struct ft_frame *frame,
		     const char *comment)
{
	size_t size = ft_pcapng_packet_size(frame, comment);
	uint32_t number;
	bool found;

	do {
		found = recorder->account.error == 0 && find_interface(recorder, frame, &number) &&
			ft_recorder_find_room(recorder, size);
	} while (!found && wait_for_disk(recorder));
	recorder->counted[frame->input].put++; /* it is the next file's that it begins */
	if (found) {
		keep(recorder, frame, number, comment);
		return true;
	}
	recorder->counted[frame->input].left_out++;
	recorder->account.left_out++;
	return false;
}

void ft_recorder_flush(struct ft_recorder *recorder)
{
	ft_recorder_hand_over(recorder);
}

void ft_recorder_tick(struct ft_recorder *recorder, uint64_t now_ns)
{
	const struct ft_chunk *chunk = recorder->chunk;
	uint64_t rotate_ns = recorder->config.rotate_ns, dropped;

	if (now_ns < recorder->now_ns) /* the clock was set back */
		recorder->file.since_ns = recorder->waits_since_ns = now_ns;
	recorder->now_ns = now_ns;
	recorder->account.error = ft_disk_error(recorder->disk, &dropped);
	if (rotate_ns != 0 && now_ns - recorder->file.since_ns >= rotate_ns) {
		if (recorder->file.frames != 0)
			ft_recorder_turn(recorder);
		else
			recorder->file.since_ns = now_ns;
	}
	if (chunk != NULL && chunk == recorder->chunk && chunk->frames != 0 &&
	    now_ns - recorder->waits_since_ns >= WAIT_NS)
		ft_recorder_hand_over(recorder);
}

/* --- accounts and the end --- */

void ft_recorder_account(struct ft_recorder *recorder, struct ft_recorder_account *account)
{
	uint64_t dropped;

	recorder->account.error = ft_disk_error(recorder->disk, &dropped);
	ft_disk_files(recorder->disk, &recorder->account.files, &recorder->account.removed);
	*account = recorder->account;
	account->frames -= dropped;
	account->left_out += dropped;
}

void ft_recorder_each_file(struct ft_recorder *recorder,
			   void (*visit)(void *context, const struct ft_recorder_file *file),
			   void *context)
{
	ft_disk_each_file(recorder->disk, visit, context);
}

int ft_recorder_finish(struct ft_recorder *recorder, struct ft_recorder_complaint *complaint)
{
	int error;

	while (!ft_recorder_end_file(recorder) &&
	       ft_disk_error(recorder->disk, &(uint64_t){ 0 }) == 0)
		ft_disk_wait(recorder->disk, 1);
	error = ft_disk_finish(recorder->disk);
	if (error != 0)
		ft_complain(complaint->text, sizeof complaint->text, name_of(&recorder->config),
			    "cannot write: %s", strerror(-error));
	return error;
}

void ft_recorder_close(struct ft_recorder *recorder)
{
	if (recorder == NULL)
		return;
	if (recorder->chunk != NULL)
		ft_recorder_hand_over(recorder);
	ft_disk_destroy(recorder->disk);
	ft_pcapng_numbers_destroy(recorder->numbers);
	for (uint32_t i = 0; i < recorder->interface_count; i++)
		free(recorder->interfaces[i].block);
	free(recorder->counted);
	free(recorder);
}
