#include "dpdk_file.h"

#include "complain.h"

#include <errno.h>
#include <stdlib.h>

enum { BURST = 64, ROOM_FIRST = 1 << 16 };

static int check(const struct ft_frame *frames, int count, const char *path,
		 struct ft_source_complaint *complaint)
{
	for (int i = 0; i < count; i++) {
		if (frames[i].link_type != FT_LINK_ETHERNET) {
			ft_complain(complaint->text, sizeof complaint->text, path,
				    "net_pcap takes every frame for Ethernet, but link type %u is "
				    "here; "
				    "give the file itself instead",
				    frames[i].link_type);
			return -EOPNOTSUPP;
		}
	}
	return 0;
}

static int note(struct ft_dpdk_file *file, size_t *room, const struct ft_frame *frames, int count)
{
	if (file->frames + BURST > *room) {
		size_t more = *room == 0 ? ROOM_FIRST : *room * 2;
		uint32_t *grown = realloc(file->originals, more * sizeof *grown);

		if (grown == NULL)
			return -ENOMEM;
		file->originals = grown;
		*room = more;
	}
	for (int i = 0; i < count; i++) {
		file->originals[file->frames++] = frames[i].original;
		if (frames[i].captured > file->longest)
			file->longest = frames[i].captured;
	}
	return 0;
}

int ft_dpdk_file_look(struct ft_dpdk_file *file, const char *path,
		      struct ft_source_complaint *complaint)
{
	struct ft_dpdk_file seen = { .originals = NULL };
	struct ft_frame frames[BURST];
	struct ft_source *source;
	size_t room = 0;
	int count, error;

	error = ft_source_open_files(&source, &path, 1, complaint);
	if (error != 0)
		return error;
	while (error == 0 && (count = ft_source_next(source, frames, BURST)) > 0) {
		error = check(frames, count, path, complaint);
		if (error == 0)
			error = note(&seen, &room, frames, count);
		if (error == -ENOMEM)
			ft_complain(complaint->text, sizeof complaint->text, path, "no memory");
	}
	ft_source_close(source);
	if (error == 0)
		*file = seen;
	else
		free(seen.originals);
	return error;
}
