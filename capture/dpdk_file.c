#include "dpdk_file.h"

#include "complain.h"

#include <errno.h>

enum { BURST = 64 };

static int check(struct ft_dpdk_file *file, const struct ft_frame *frames, int count,
		 const char *path, struct ft_source_complaint *complaint)
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
		file->longest =
			frames[i].captured > file->longest ? frames[i].captured : file->longest;
	}
	file->frames += (uint64_t)count;
	return 0;
}

int ft_dpdk_file_look(struct ft_dpdk_file *file, const char *path, bool whole,
		      struct ft_source_complaint *complaint)
{
	struct ft_dpdk_file seen = { 0 };
	struct ft_frame frames[BURST];
	struct ft_source *source;
	int count, error;

	error = ft_source_open_files(&source, &path, 1, complaint);
	if (error != 0)
		return error;
	do {
		count = ft_source_next(source, frames, BURST);
		if (count > 0)
			error = check(&seen, frames, count, path, complaint);
	} while (whole && count > 0 && error == 0);
	ft_source_close(source);
	if (error == 0)
		*file = seen;
	return error;
}
