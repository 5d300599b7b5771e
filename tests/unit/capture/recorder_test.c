#include <capture/recorder.h>

#include "reading.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)
#define NOON   (UINT64_C(1795262400) * SECOND) /* 2026-11-21T12:00:00Z */

enum { PAYLOAD = 1000, BLOCK = 32 + PAYLOAD };

static uint8_t payload[200000];

static const struct ft_recorder_input inputs[] = {
	{ .name = "pcap:tap0", .description = "leaf 7", .filter = "udp", .snap = 128 },
	{ .name = "pcap:tap1" },
};

/* A folder, emptied and removed at the end, and the recorder's path in it. */
struct scene {
	char *folder, *path;
	struct ft_recorder_config config;
	struct ft_recorder *recorder;
	struct ft_recorder_complaint complaint;
};

static int begin(void **state)
{
	struct scene *scene = calloc(1, sizeof *scene);

	scene->path = make_file("x.pcapng", "", 0);
	unlink(scene->path);
	scene->folder = strdup(scene->path);
	*strrchr(scene->folder, '/') = '\0';
	scene->config = (struct ft_recorder_config){
		.path = scene->path,
		.application = "app",
		.inputs = inputs,
		.input_count = 2,
	};
	*state = scene;
	return 0;
}

static int end(void **state)
{
	struct scene *scene = *state;
	struct dirent *entry;
	DIR *folder = opendir(scene->folder);
	char path[1024];

	ft_recorder_close(scene->recorder);
	while ((entry = readdir(folder)) != NULL) {
		snprintf(path, sizeof path, "%s/%s", scene->folder, entry->d_name);
		unlink(path);
	}
	closedir(folder);
	assert_int_equal(rmdir(scene->folder), 0);
	free(scene->folder);
	free(scene->path);
	free(scene);
	return 0;
}

static void open_recorder(struct scene *scene)
{
	assert_int_equal(
		ft_recorder_open(&scene->recorder, &scene->config, NOON, &scene->complaint), 0);
}

static struct ft_frame frame_at(uint64_t ts_ns)
{
	return (struct ft_frame){
		.bytes = payload,
		.captured = PAYLOAD,
		.original = PAYLOAD,
		.wire = PAYLOAD,
		.link_type = FT_LINK_ETHERNET,
		.ts_ns = ts_ns,
	};
}

static void put_frames(struct scene *scene, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct ft_frame frame = frame_at(NOON + i);

		assert_true(ft_recorder_put(scene->recorder, &frame, NULL));
	}
}

/* A small file takes up as much memory as a large one until it is written. */
static void put_patiently(struct scene *scene, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct ft_frame frame = frame_at(NOON + i);

		while (!ft_recorder_put(scene->recorder, &frame, NULL))
			usleep(100);
	}
}

static uint64_t bytes_in(const char *folder_path)
{
	DIR *folder = opendir(folder_path);
	struct dirent *entry;
	struct stat status;
	uint64_t bytes = 0;

	while ((entry = readdir(folder)) != NULL)
		if (fstatat(dirfd(folder), entry->d_name, &status, 0) == 0 &&
		    S_ISREG(status.st_mode))
			bytes += (uint64_t)status.st_size;
	closedir(folder);
	return bytes;
}

static void finish(struct scene *scene)
{
	assert_int_equal(ft_recorder_finish(scene->recorder, &scene->complaint), 0);
}

static uint64_t size_of(const char *path)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	return (uint64_t)status.st_size;
}

static uint64_t frames_in(const char *path, struct ft_source_input *known)
{
	struct ft_source_complaint complaint;
	struct ft_source *source;
	struct ft_frame burst[64];
	uint64_t frames = 0;
	int count;

	assert_int_equal(ft_source_open_files(&source, &path, 1, &complaint), 0);
	while ((count = ft_source_next(source, burst, 64)) > 0)
		frames += (uint64_t)count;
	*known = *ft_source_input(source, 0);
	ft_source_close(source);
	return frames;
}

/* What the recorder says of its files, against the files. */
struct files {
	unsigned count;
	uint64_t frames, bytes, largest;
	uint64_t most_frames, last_ns;
	char first[1024], last[1024];
};

static void visit(void *context, const struct ft_recorder_file *file)
{
	struct files *files = context;
	struct ft_source_input known;

	assert_int_equal(size_of(file->path), file->bytes);
	assert_int_equal(frames_in(file->path, &known), file->frames);
	assert_false(known.damaged);
	if (files->count++ == 0)
		snprintf(files->first, sizeof files->first, "%s", file->path);
	snprintf(files->last, sizeof files->last, "%s", file->path);
	files->last_ns = file->last_ns;
	files->frames += file->frames;
	files->bytes += file->bytes;
	if (file->bytes > files->largest)
		files->largest = file->bytes;
	if (file->frames > files->most_frames)
		files->most_frames = file->frames;
}

static struct files files_of(struct scene *scene)
{
	struct files files = { 0 };

	ft_recorder_each_file(scene->recorder, visit, &files);
	return files;
}

static void add_frames(void *context, const struct ft_recorder_file *file)
{
	*(uint64_t *)context += file->frames;
}

/* Of files that are still written: what the recorder says runs behind them for a moment. */
static bool are_written(struct scene *scene, uint64_t frames)
{
	uint64_t written = 0;

	for (unsigned patience = 10000; patience > 0; patience--) {
		written = 0;
		ft_recorder_each_file(scene->recorder, add_frames, &written);
		if (written == frames)
			break;
		usleep(1000);
	}
	return written == frames;
}

static struct ft_recorder_account account_of(struct scene *scene)
{
	struct ft_recorder_account account;

	ft_recorder_account(scene->recorder, &account);
	return account;
}

static void a_file_has_its_frames_and_statistics(void **state)
{
	struct scene *scene = *state;
	struct ft_source_input known;
	struct files files;

	open_recorder(scene);
	assert_int_equal(access(scene->path, F_OK), 0); /* before the first frame */
	put_frames(scene, 100);
	ft_recorder_count(scene->recorder, 0, 107, 7);
	finish(scene);
	files = files_of(scene);
	assert_int_equal(files.count, 1);
	assert_string_equal(files.first, scene->path);
	assert_int_equal(files.frames, 100);
	assert_int_equal(frames_in(scene->path, &known), 100);
	assert_int_equal(known.dropped, 7);
	assert_int_equal(known.first_ts_ns, NOON);
	assert_int_equal(known.last_ts_ns, NOON + 99);
}

static void interfaces_are_described_in_every_file(void **state)
{
	struct scene *scene = *state;
	uint8_t bytes[40000];
	FILE *file;
	size_t size;

	scene->config.rotate_frames = 4;
	scene->config.comment = "case 12";
	open_recorder(scene);
	for (unsigned i = 0; i < 8; i++) {
		struct ft_frame frame = frame_at(NOON + i);

		frame.input = i % 2;
		assert_true(ft_recorder_put(scene->recorder, &frame, i == 7 ? "a finding" : NULL));
	}
	finish(scene);
	file = fopen(files_of(scene).last, "rb");
	size = fread(bytes, 1, sizeof bytes, file);
	fclose(file);
	assert_non_null(memmem(bytes, size, "pcap:tap0", 9));
	assert_non_null(memmem(bytes, size, "leaf 7", 6));
	assert_non_null(memmem(bytes, size, "\0udp", 4));
	assert_non_null(memmem(bytes, size, "pcap:tap1", 9));
	assert_non_null(memmem(bytes, size, "case 12", 7));
	assert_non_null(memmem(bytes, size, "a finding", 9));
}

/* Of all files together as many are lost as were. */
static void each_file_tells_its_own_losses(void **state)
{
	struct scene *scene = *state;
	struct ft_source_input known;
	char path[1024];

	scene->config.rotate_frames = 10;
	open_recorder(scene);
	ft_recorder_count(scene->recorder, 0, 0, 0);
	put_frames(scene, 10);
	ft_recorder_count(scene->recorder, 0, 17, 7);
	put_frames(scene, 10);
	ft_recorder_count(scene->recorder, 0, 32, 12);
	finish(scene);
	for (unsigned i = 1; i <= 2; i++) {
		snprintf(path, sizeof path, "%s/x_%05u_20261121T120000.pcapng", scene->folder, i);
		assert_int_equal(frames_in(path, &known), 10);
		assert_int_equal(known.dropped, i == 1 ? 7 : 5);
	}
}

/* The option of the last statistics in a file, 8 bytes; UINT64_MAX: none. */
static uint64_t last_count(const char *path, unsigned code)
{
	static uint8_t bytes[64 << 10];
	FILE *file = fopen(path, "rb");
	uint64_t found = UINT64_MAX;
	size_t size, at = 0;

	assert_non_null(file);
	size = fread(bytes, 1, sizeof bytes, file);
	fclose(file);

	for (uint32_t length; at + 12 <= size; at += length) {
		memcpy(&length, bytes + at + 4, 4);
		if (bytes[at] != 5)
			continue;
		for (size_t option = at + 20; option + 4 < at + length;) {
			uint16_t words[2];

			memcpy(words, bytes + option, 4);
			if (words[0] == code)
				memcpy(&found, bytes + option + 4, 8);
			option += 4 + ((words[1] + 3u) & ~3u);
		}
	}
	return found;
}

/* The source tells its counts once a second, and frames come all the time. */
static void what_was_received_is_not_less_than_what_came(void **state)
{
	enum { ISB_IFRECV = 4, ISB_USRDELIV = 8 };
	struct scene *scene = *state;
	char path[1024];

	scene->config.rotate_frames = 10;
	open_recorder(scene);
	ft_recorder_count(scene->recorder, 0, 0, 0);
	put_frames(scene, 5);
	ft_recorder_count(scene->recorder, 0, 8, 3);
	put_frames(scene, 15);
	finish(scene);
	for (unsigned i = 1; i <= 2; i++) {
		snprintf(path, sizeof path, "%s/x_%05u_20261121T120000.pcapng", scene->folder, i);
		assert_int_equal(last_count(path, ISB_IFRECV), i == 1 ? 13 : 10);
		assert_int_equal(last_count(path, ISB_USRDELIV), 10);
	}
}

/* Whoever reads the file later knows no more than was known when it was written. */
static void that_nobody_counted_losses_is_in_the_file(void **state)
{
	struct scene *scene = *state;
	struct ft_source_input known;

	open_recorder(scene);
	ft_recorder_count(scene->recorder, 0, UINT64_MAX, UINT64_MAX);
	put_frames(scene, 3);
	ft_recorder_flush(scene->recorder); /* also if nothing more is written */
	assert_true(are_written(scene, 3));
	assert_int_equal(frames_in(scene->path, &known), 3);
	assert_true(known.losses_unknown);
	finish(scene);
	frames_in(scene->path, &known);
	assert_true(known.losses_unknown);
}

static void that_counting_ended_is_in_the_file(void **state)
{
	struct scene *scene = *state;
	struct ft_source_input known;

	open_recorder(scene);
	ft_recorder_count(scene->recorder, 0, 0, 0);
	put_frames(scene, 3);
	ft_recorder_count(scene->recorder, 0, UINT64_MAX, UINT64_MAX);
	finish(scene);
	frames_in(scene->path, &known);
	assert_true(known.losses_unknown);
}

static void files_end_by_count(void **state)
{
	struct scene *scene = *state;
	struct files files;

	scene->config.rotate_frames = 30;
	open_recorder(scene);
	put_frames(scene, 100);
	finish(scene);
	files = files_of(scene);
	assert_int_equal(files.count, 4);
	assert_int_equal(files.frames, 100);
	assert_int_equal(files.most_frames, 30);
	assert_says(files.first, "/x_00001_20261121T120000.pcapng");
	assert_says(files.last, "/x_00004_20261121T120000.pcapng");
}

static void files_end_before_they_exceed_a_size(void **state)
{
	struct scene *scene = *state;
	struct files files;

	scene->config.rotate_bytes = 20000;
	open_recorder(scene);
	put_patiently(scene, 100);
	finish(scene);
	files = files_of(scene);
	assert_int_equal(files.frames, 100);
	assert_true(files.largest <= 20000);
	assert_true(files.largest > 20000 - BLOCK - 200);
}

static void files_end_by_time_also_in_silence(void **state)
{
	struct scene *scene = *state;

	scene->config.rotate_ns = 10 * SECOND;
	open_recorder(scene);
	ft_recorder_tick(scene->recorder, NOON + 10 * SECOND); /* nothing in it: it goes on */
	put_frames(scene, 3);
	ft_recorder_tick(scene->recorder, NOON + 15 * SECOND);
	put_frames(scene, 3);
	ft_recorder_tick(scene->recorder, NOON + 21 * SECOND);
	put_frames(scene, 2);
	finish(scene);
	assert_int_equal(files_of(scene).count, 2);
	assert_int_equal(files_of(scene).most_frames, 6);
	assert_says(files_of(scene).last, "_00002_20261121T120021");
}

static void all_files_together_keep_the_limit(void **state)
{
	struct scene *scene = *state;
	struct ft_recorder_account account;
	struct files files;

	scene->config.rotate_bytes = 20000;
	scene->config.disk_limit = 70000;
	open_recorder(scene);
	for (unsigned i = 0; i < 40; i++) {
		put_patiently(scene, 10);
		assert_true(bytes_in(scene->folder) <= 70000);
	}
	finish(scene);
	files = files_of(scene);
	account = account_of(scene);
	assert_true(files.bytes <= 70000);
	assert_true(files.bytes > 70000 - 2 * 20000);
	assert_int_equal(account.frames, 400);
	assert_int_equal(account.files - account.removed, files.count);
	assert_true(account.removed > 10);
}

/* Nobody reads the pipe: what does not fit into memory is left out, at once, and counted. */
static void a_slow_disk_costs_frames_not_time(void **state)
{
	struct scene *scene = *state;
	struct ft_recorder_account account;
	int ends[2], saved = dup(STDOUT_FILENO);
	unsigned left_out = 0;
	pid_t reader;

	assert_int_equal(pipe(ends), 0);
	fflush(stdout);
	dup2(ends[1], STDOUT_FILENO);
	scene->config.path = "-";
	open_recorder(scene);
	for (unsigned i = 0; i < 20000; i++) { /* 20 MB */
		struct ft_frame frame = frame_at(NOON + i);

		left_out += !ft_recorder_put(scene->recorder, &frame, NULL);
	}
	assert_true(left_out > 10000);
	reader = fork();
	if (reader == 0) {
		char *const command[] = { "cat", NULL };
		int to = open(scene->folder, O_RDWR | O_TMPFILE, 0600);

		dup2(ends[0], STDIN_FILENO);
		dup2(to, STDOUT_FILENO);
		close(ends[1]);
		execvp(command[0], command);
		_exit(127);
	}
	assert_int_equal(ft_recorder_finish(scene->recorder, &scene->complaint), 0);
	account = account_of(scene);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(waitpid(reader, NULL, 0), reader);
	assert_int_equal(account.left_out, left_out);
	assert_int_equal(account.frames, 20000 - left_out);
}

static void frames_that_can_wait_do(void **state)
{
	struct scene *scene = *state;

	scene->config.patient = true;
	scene->config.rotate_frames = 10;
	open_recorder(scene);
	put_frames(scene, 1000);
	finish(scene);
	assert_int_equal(files_of(scene).frames, 1000);
	assert_int_equal(files_of(scene).count, 100);
}

/* Stand-in for a full disk that needs no disk: no file of this process may exceed 64 KiB. */
static void a_full_disk_leaves_whole_blocks(void **state)
{
	struct scene *scene = *state;
	struct rlimit before, limit;
	struct ft_source_input known;
	uint64_t frames;

	signal(SIGXFSZ, SIG_IGN);
	open_recorder(scene);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 64 << 10;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	put_frames(scene, 200);
	assert_int_equal(ft_recorder_finish(scene->recorder, &scene->complaint), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_says(scene->complaint.text, "x.pcapng: cannot write: File too large");
	frames = frames_in(scene->path, &known);
	assert_false(known.damaged);
	assert_in_range(frames, 60, 64);
	assert_int_equal(account_of(scene).error, -EFBIG);
	assert_int_equal(account_of(scene).frames, frames);
	assert_int_equal(account_of(scene).left_out, 200 - frames);
	assert_int_equal(files_of(scene).frames, frames);
	assert_int_equal(files_of(scene).last_ns, NOON + frames - 1);
}

static struct files fill_second_file(struct scene *scene, rlim_t bound)
{
	struct rlimit before, limit;
	struct files files;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = bound;
	open_recorder(scene);
	put_frames(scene, 101);
	assert_true(are_written(scene, 100));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	put_frames(scene, 99);
	assert_int_equal(ft_recorder_finish(scene->recorder, &scene->complaint), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	files = files_of(scene);
	assert_int_equal(account_of(scene).files, files.count);
	assert_int_equal(account_of(scene).frames, files.frames);
	assert_int_equal(account_of(scene).left_out, 200 - files.frames);
	assert_int_equal(bytes_in(scene->folder), files.bytes);
	ft_recorder_close(scene->recorder);
	scene->recorder = NULL;
	return files;
}

static void a_new_file_for_which_the_disk_has_no_room_is_not_there(void **state)
{
	struct scene *scene = *state;

	signal(SIGXFSZ, SIG_IGN);
	scene->config.rotate_frames = 100;
	assert_int_equal(fill_second_file(scene, 8).count, 1);
}

static void a_new_file_that_fills_the_disk_keeps_its_whole_blocks(void **state)
{
	struct scene *scene = *state;

	signal(SIGXFSZ, SIG_IGN);
	scene->config.rotate_frames = 100;
	assert_int_equal(fill_second_file(scene, 10 * BLOCK).frames, 109);
}

/* What another run left, or a link to somewhere else. */
static void a_part_that_is_there_gives_way(void **state)
{
	struct scene *scene = *state;
	char part[1024], other[1024];
	struct stat status;
	FILE *file;

	snprintf(part, sizeof part, "%s.part", scene->path);
	snprintf(other, sizeof other, "%s/other", scene->folder);
	file = fopen(other, "w");
	fputs("precious", file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(symlink(other, part), 0);
	open_recorder(scene);
	put_frames(scene, 3);
	finish(scene);
	assert_int_equal(files_of(scene).frames, 3);
	assert_int_equal(size_of(other), 8);
	assert_int_equal(lstat(scene->path, &status), 0);
	assert_true(S_ISREG(status.st_mode));
}

static void what_waits_is_written_within_half_a_second(void **state)
{
	struct scene *scene = *state;
	struct ft_source_input known;
	unsigned patience = 2000;

	open_recorder(scene);
	ft_recorder_tick(scene->recorder, NOON + SECOND);
	put_frames(scene, 5);
	ft_recorder_tick(scene->recorder, NOON + SECOND + SECOND / 2 - 1);
	usleep(20000);
	assert_int_equal(frames_in(scene->path, &known), 0);
	ft_recorder_tick(scene->recorder, NOON + SECOND + SECOND / 2);
	while (frames_in(scene->path, &known) != 5 && patience-- > 0)
		usleep(1000);
	assert_int_equal(frames_in(scene->path, &known), 5);
	put_frames(scene, 2);
	ft_recorder_flush(scene->recorder);
	while (frames_in(scene->path, &known) != 7 && patience-- > 0)
		usleep(1000);
	assert_int_equal(frames_in(scene->path, &known), 7);
}

static void write_until_killed(struct scene *scene)
{
	if (ft_recorder_open(&scene->recorder, &scene->config, NOON, &scene->complaint) != 0)
		_exit(1);
	for (uint64_t i = 0;; i++) {
		struct ft_frame frame = frame_at(NOON + i);

		frame.captured = (uint32_t)(64 + i % 900);
		ft_recorder_put(scene->recorder, &frame, NULL);
		if (i % 64 == 0)
			ft_recorder_tick(scene->recorder, NOON + i * 10000000);
	}
}

/* Whatever ends it, every file can be read to its last whole block. */
static void a_kill_leaves_readable_files(void **state)
{
	struct scene *scene = *state;
	uint64_t frames = 0;

	scene->config.rotate_bytes = 3 << 20;
	scene->config.disk_limit = 12 << 20;
	/* on a busy machine the first ones may be killed before anything is a file */
	for (unsigned round = 0; round < 20 || (frames == 0 && round < 400); round++) {
		pid_t child = fork();
		struct dirent *entry;
		DIR *folder;

		if (child == 0)
			write_until_killed(scene);
		usleep(3000 + 1777 * round);
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, NULL, 0), child);
		folder = opendir(scene->folder);
		while ((entry = readdir(folder)) != NULL) {
			char path[1024];
			struct ft_source_input known;

			if (entry->d_name[0] == '.')
				continue;
			snprintf(path, sizeof path, "%s/%s", scene->folder, entry->d_name);
			if (strstr(path, ".part") != NULL) { /* not yet a file */
				unlink(path);
				continue;
			}
			frames += frames_in(path, &known);
			if (known.damaged) /* in the midst of one block, the last */
				assert_says(known.complaint.text, "the rest of the file");
			unlink(path);
		}
		closedir(folder);
	}
	assert_true(frames > 0);
}

static void what_cannot_be_kept_is_refused(void **state)
{
	struct scene *scene = *state;
	struct ft_recorder_config config = scene->config;

	config.path = "-";
	config.rotate_frames = 1;
	assert_int_equal(ft_recorder_open(&scene->recorder, &config, NOON, &scene->complaint),
			 -EINVAL);
	assert_says(scene->complaint.text, "standard output: cannot be rotated");
	config = scene->config;
	config.rotate_bytes = 1000;
	assert_int_equal(ft_recorder_open(&scene->recorder, &config, NOON, &scene->complaint),
			 -EINVAL);
	assert_says(scene->complaint.text, "16 KiB");
	config = scene->config;
	config.path = "/nowhere/x.pcapng";
	assert_int_equal(ft_recorder_open(&scene->recorder, &config, NOON, &scene->complaint),
			 -ENOENT);
	assert_says(scene->complaint.text, "/nowhere/x.pcapng: cannot create: No such file");
	config.path = scene->folder;
	assert_int_equal(ft_recorder_open(&scene->recorder, &config, NOON, &scene->complaint),
			 -EINVAL);
	assert_says(scene->complaint.text, ": is a folder: name a file in it");
}

static void add_path(void *context, const struct ft_recorder_file *file)
{
	char **paths = context;

	while (*paths != NULL)
		paths++;
	*paths = strdup(file->path);
}

static void two_that_begin_in_the_same_second_share_no_file(void **state)
{
	struct scene *scene = *state;
	struct ft_frame frame = frame_at(NOON);
	struct ft_recorder *other;
	char *paths[3] = { NULL };
	struct ft_source_input known;

	scene->config.rotate_frames = 100;
	open_recorder(scene);
	assert_int_equal(ft_recorder_open(&other, &scene->config, NOON, &scene->complaint), 0);
	put_frames(scene, 3);
	assert_true(ft_recorder_put(other, &frame, NULL));
	finish(scene);
	assert_int_equal(ft_recorder_finish(other, &scene->complaint), 0);
	ft_recorder_each_file(scene->recorder, add_path, paths);
	ft_recorder_each_file(other, add_path, paths);
	assert_says(paths[0], "x_00001_20261121T120000.pcapng");
	assert_says(paths[1], "x_00001_20261121T120000_2.pcapng");
	assert_int_equal(frames_in(paths[0], &known), 3);
	assert_int_equal(frames_in(paths[1], &known), 1);
	free(paths[0]);
	free(paths[1]);
	ft_recorder_close(other);
}

/* It fits into no file: the others do not suffer. */
static void a_frame_larger_than_a_file_is_left_out(void **state)
{
	struct scene *scene = *state;
	struct ft_source_input known;
	struct ft_frame large = frame_at(NOON);

	large.captured = large.original = sizeof payload;
	scene->config.rotate_bytes = 20000;
	open_recorder(scene);
	put_frames(scene, 3);
	assert_false(ft_recorder_put(scene->recorder, &large, NULL));
	put_frames(scene, 3);
	finish(scene);
	assert_int_equal(account_of(scene).frames, 6);
	assert_int_equal(account_of(scene).left_out, 1);
	assert_int_equal(files_of(scene).frames, 6);
	assert_int_equal(frames_in(files_of(scene).first, &known), 6);
	assert_int_equal(known.dropped, 1); /* the file says so, too */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, begin, end)
		IN_A_FOLDER(a_file_has_its_frames_and_statistics),
		IN_A_FOLDER(interfaces_are_described_in_every_file),
		IN_A_FOLDER(each_file_tells_its_own_losses),
		IN_A_FOLDER(what_was_received_is_not_less_than_what_came),
		IN_A_FOLDER(that_nobody_counted_losses_is_in_the_file),
		IN_A_FOLDER(that_counting_ended_is_in_the_file),
		IN_A_FOLDER(files_end_by_count),
		IN_A_FOLDER(files_end_before_they_exceed_a_size),
		IN_A_FOLDER(files_end_by_time_also_in_silence),
		IN_A_FOLDER(all_files_together_keep_the_limit),
		IN_A_FOLDER(a_slow_disk_costs_frames_not_time),
		IN_A_FOLDER(frames_that_can_wait_do),
		IN_A_FOLDER(a_full_disk_leaves_whole_blocks),
		IN_A_FOLDER(a_new_file_for_which_the_disk_has_no_room_is_not_there),
		IN_A_FOLDER(a_new_file_that_fills_the_disk_keeps_its_whole_blocks),
		IN_A_FOLDER(a_part_that_is_there_gives_way),
		IN_A_FOLDER(what_waits_is_written_within_half_a_second),
		IN_A_FOLDER(a_kill_leaves_readable_files),
		IN_A_FOLDER(what_cannot_be_kept_is_refused),
		IN_A_FOLDER(two_that_begin_in_the_same_second_share_no_file),
		IN_A_FOLDER(a_frame_larger_than_a_file_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
