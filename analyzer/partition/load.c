#include <partition/load.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foreign.h"
#include "opensm.h"
#include "signature.h"
#include "source.h"
#include "tapmap.h"
#include "topology.h"

enum { LARGEST_FILE = 1 << 30, SNIFFED = 4096 };

bool ft_is_standard_input(const char *path)
{
	return path != NULL && strcmp(path, "-") == 0;
}

size_t ft_map_files_from_input(const struct ft_map_files *files)
{
	size_t count = ft_is_standard_input(files->map) + ft_is_standard_input(files->key);

	for (size_t i = 0; i < files->topology_count; i++)
		count += ft_is_standard_input(files->topologies[i]);
	return count;
}

enum format { TAPMAP, OPENSM, UNKNOWN };

static const char *const format_names[] = { [TAPMAP] = "tapmap", [OPENSM] = "opensm" };

struct loading {
	const struct ft_map_files *files;
	struct ft_map_complaint *complaint;
	struct ft_builder builder;
};

static int complain(struct ft_map_complaint *complaint, int failed, const char *path,
		    const char *text)
{
	snprintf(complaint->text, sizeof complaint->text, "%.300s: %.180s", path, text);
	return failed;
}

static enum format named_format(const char *name)
{
	for (enum format format = TAPMAP; format < UNKNOWN; format++)
		if (strcmp(format_names[format], name) == 0)
			return format;
	return UNKNOWN;
}

/* JSON begins with a brace; OpenSM takes any text, but no map has NUL bytes. */
static enum format found_format(const struct ft_bytes *bytes)
{
	size_t at = 0;

	while (at < bytes->size && strchr(" \t\r\n", bytes->at[at]) != NULL &&
	       bytes->at[at] != '\0')
		at++;
	if (at < bytes->size && (bytes->at[at] == '{' || bytes->at[at] == '['))
		return TAPMAP;
	return memchr(bytes->at, '\0', bytes->size < SNIFFED ? bytes->size : SNIFFED) != NULL
		       ? UNKNOWN
		       : OPENSM;
}

static int add_file(struct ft_builder *builder, const char *path, const struct ft_bytes *bytes)
{
	struct ft_file *file = ft_builder_add(builder, &builder->files);

	if (file == NULL)
		return -ENOMEM;
	file->path = ft_builder_text(builder, path, strlen(path));
	ft_bytes_sha256(bytes->at, bytes->size, file->sha256);
	return file->path != NULL ? 0 : -ENOMEM;
}

static int read_file(struct loading *loading, const char *path, struct ft_bytes *bytes)
{
	int failed = ft_bytes_read(bytes, path, LARGEST_FILE);

	if (failed == -EFBIG)
		return complain(loading->complaint, -EINVAL, path, "larger than 1 GiB");
	if (failed != 0)
		return complain(loading->complaint, failed, path, strerror(-failed));
	failed = add_file(&loading->builder, path, bytes);
	if (failed == 0)
		return 0;
	ft_bytes_release(bytes);
	return complain(loading->complaint, failed, path, strerror(-failed));
}

static int read_topology(struct loading *loading, struct ft_topology *topology, const char *path)
{
	uint32_t file = (uint32_t)loading->builder.files.count;
	struct ft_bytes bytes;
	int failed = read_file(loading, path, &bytes);

	if (failed != 0)
		return failed;
	ft_topology_read(topology, file, (char *)bytes.at, bytes.size);
	ft_bytes_release(&bytes);
	return 0;
}

static int read_topologies(struct loading *loading)
{
	struct ft_topology topology;
	int failed = 0;

	ft_topology_open(&topology, &loading->builder);
	for (size_t i = 0; failed == 0 && i < loading->files->topology_count; i++)
		failed = read_topology(loading, &topology, loading->files->topologies[i]);
	ft_topology_close(&topology);
	return failed;
}

static int read_opensm(struct loading *loading, const struct ft_bytes *bytes)
{
	struct ft_opensm opensm;
	int failed;

	ft_opensm_read(&opensm, &loading->builder, 0, loading->files->allow_both_pkeys,
		       (const char *)bytes->at, bytes->size);
	loading->builder.errors = 0; /* what OpenSM gets wrong is the map's content, no refusal */
	failed = read_topologies(loading);
	ft_opensm_finish(&opensm, loading->files->topology_count != 0);
	return failed;
}

static int read_tapmap(struct loading *loading, const struct ft_bytes *bytes)
{
	int failed = ft_tapmap_read(&loading->builder, 0, (const char *)bytes->at, bytes->size);

	return failed != 0 || loading->builder.errors != 0 ? failed : read_topologies(loading);
}

static int check_signature(struct loading *loading, const struct ft_bytes *bytes)
{
	int failed;

	if (loading->files->key == NULL)
		return 0;
	if (ft_is_standard_input(loading->files->map))
		return complain(loading->complaint, -EINVAL, loading->files->map,
				"a map from standard input has no signature beside it");
	failed = ft_signature_check(&loading->builder, loading->files->map, bytes,
				    loading->files->key);
	if (failed == -EINVAL)
		return complain(loading->complaint, failed, loading->files->key,
				"no Ed25519 public key in PEM form");
	return failed != 0 ? complain(loading->complaint, failed, loading->files->key,
				      strerror(-failed))
			   : 0;
}

/* OpenSM would drop most of them, and that everybody may talk to everybody then is not what they say. */
static int refuse_foreign(struct loading *loading, const char *what)
{
	char text[160];

	snprintf(text, sizeof text,
		 "%s; maps are tapmap/1 and partitions.conf of OpenSM (if OpenSM does read this: "
		 "--map-format opensm)",
		 what);
	return complain(loading->complaint, -EINVAL, loading->files->map, text);
}

static int read_map(struct loading *loading, const struct ft_bytes *bytes)
{
	const char *name = loading->files->format;
	const char *foreign = ft_foreign_format((const char *)bytes->at, bytes->size);
	enum format format = name != NULL ? named_format(name) : found_format(bytes);
	int failed;

	if (name == NULL && foreign != NULL)
		return refuse_foreign(loading, foreign);
	if (format == UNKNOWN)
		return complain(loading->complaint, -EINVAL, loading->files->map,
				name != NULL ? "no such map format; there are tapmap and opensm"
					     : "neither a tapmap nor an OpenSM partition file: it "
					       "has NUL bytes");
	loading->builder.declared->format = format == TAPMAP ? "tapmap" : "opensm-partitions";
	failed = check_signature(loading, bytes);
	if (failed != 0 || loading->builder.errors != 0)
		return failed;
	return format == TAPMAP ? read_tapmap(loading, bytes) : read_opensm(loading, bytes);
}

/* The first error: "map.json:12: /partitions/1: interval-overlap: …" */
static void complain_first(struct loading *loading)
{
	const struct ft_diagnostic *first = loading->builder.diagnostics.items;
	const struct ft_file *files = loading->builder.files.items;
	char place[160] = "";
	size_t length = 0;

	while (first->severity != FT_ERROR)
		first++;
	if (first->origin.line != 0)
		length = (size_t)snprintf(place, sizeof place, ":%u", first->origin.line);
	if (first->origin.path != NULL && first->origin.path[0] != '\0')
		snprintf(place + length, sizeof place - length, ": %.120s", first->origin.path);
	snprintf(loading->complaint->text, sizeof loading->complaint->text,
		 "%.160s%.140s: %.40s: %.150s", files[first->origin.file].path, place, first->code,
		 first->text);
}

static int finish(struct loading *loading, struct ft_declared **declared,
		  struct ft_declared **rejected)
{
	bool refused = loading->builder.errors != 0;
	struct ft_declared *finished;

	if (refused)
		complain_first(loading);
	if (refused)
		loading->builder.declared->verdict = FT_MAP_REJECT;
	finished = ft_builder_finish(&loading->builder);
	if (finished == NULL)
		return -ENOMEM;
	if (!refused)
		*declared = finished;
	else if (rejected != NULL)
		*rejected = finished;
	else
		ft_declared_destroy(finished);
	return refused ? -EINVAL : 0;
}

static int load(struct loading *loading, const struct ft_bytes *bytes,
		struct ft_declared **declared, struct ft_declared **rejected)
{
	int failed = read_map(loading, bytes);

	if (loading->builder.out_of_memory) /* what else was found may come of it */
		failed = -ENOMEM;
	if (failed == 0)
		failed = finish(loading, declared, rejected);
	if (failed == -ENOMEM)
		complain(loading->complaint, failed, loading->files->map, strerror(ENOMEM));
	return failed;
}

int ft_map_load(struct ft_declared **declared, const struct ft_map_files *files,
		struct ft_declared **rejected, struct ft_map_complaint *complaint)
{
	struct loading loading = { .files = files, .complaint = complaint };
	struct ft_bytes bytes;
	int failed;

	complaint->text[0] = '\0';
	if (ft_builder_open(&loading.builder) != 0)
		return complain(complaint, -ENOMEM, files->map, strerror(ENOMEM));
	failed = read_file(&loading, files->map, &bytes);
	if (failed == 0) {
		failed = load(&loading, &bytes, declared, rejected);
		ft_bytes_release(&bytes);
	}
	ft_builder_close(&loading.builder);
	return failed;
}

/* A copy with a NUL behind it, entered as the map's only file. */
static int open_memory(struct loading *loading, struct ft_bytes *copy, const uint8_t *bytes,
		       size_t size)
{
	*copy = (struct ft_bytes){ malloc(size + 1), size };
	loading->complaint->text[0] = '\0';
	if (copy->at == NULL || ft_builder_open(&loading->builder) != 0) {
		ft_bytes_release(copy);
		return complain(loading->complaint, -ENOMEM, loading->files->map, strerror(ENOMEM));
	}
	if (size != 0)
		memcpy(copy->at, bytes, size);
	copy->at[size] = '\0';
	return add_file(&loading->builder, loading->files->map, copy);
}

int ft_map_load_memory(struct ft_declared **declared, const char *name, const char *format,
		       const uint8_t *bytes, size_t size, struct ft_map_complaint *complaint)
{
	const struct ft_map_files files = { .map = name, .format = format };
	struct loading loading = { .files = &files, .complaint = complaint };
	struct ft_bytes copy;
	int failed = open_memory(&loading, &copy, bytes, size);

	if (failed == 0)
		failed = load(&loading, &copy, declared, NULL);
	ft_bytes_release(&copy);
	ft_builder_close(&loading.builder);
	return failed;
}

int ft_map_load_topology(struct ft_declared **declared, const char *name, const uint8_t *bytes,
			 size_t size, struct ft_map_complaint *complaint)
{
	const struct ft_map_files files = { .map = name };
	struct loading loading = { .files = &files, .complaint = complaint };
	struct ft_topology topology;
	struct ft_bytes copy;
	int failed = open_memory(&loading, &copy, bytes, size);

	if (failed == 0) {
		loading.builder.declared->format = "topology";
		ft_topology_open(&topology, &loading.builder);
		ft_topology_read(&topology, 0, (char *)copy.at, copy.size);
		ft_topology_close(&topology);
		failed = finish(&loading, declared, NULL);
	}
	ft_bytes_release(&copy);
	ft_builder_close(&loading.builder);
	return failed;
}
