#pragma once

#include <nccl/model.h>
#include <report/model.h>
#include <report/render.h>

/*
 * What was found out about NCCL, for machines (fabtap.nccl/1), for people, and as the records that NCCL's own inspector
 * writes on the hosts. docs/nccl.md, docs/formats.md.
 */
struct ft_report_nccl {
	/* tool, capture, coverage, and findings, of which those of nccl.* are printed */
	const struct ft_report *about;
	const struct ft_nccl_report *nccl;
};

/* The document; the same report gives the same bytes. `keys`: R_Keys too. 0 or -errno of the handle. */
int ft_render_nccl_json(FILE *out, const struct ft_report_nccl *report, bool keys);

/* For people; `messages`: most rows of messages and of operations. 0, -ENOMEM or -errno of the handle. */
int ft_render_nccl_text(FILE *out, const struct ft_report_nccl *report, size_t messages,
			const struct ft_render_options *options);

/*
 * One JSON object per line for each operation, with the names of NCCL's inspector plugin where they mean the same; what
 * the wire does not show is left out. 0, -ENOMEM or -errno of the handle.
 */
int ft_render_nccl_inspector(FILE *out, const struct ft_report_nccl *report);
