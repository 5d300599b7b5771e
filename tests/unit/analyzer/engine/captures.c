#include "captures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include <capture/source.h>
#include <decode/decode.h>

#include "observe.h"

enum { BURST = 16 };

static void observe(struct captured *captured, const struct ft_frame *frame)
{
	const struct ft_decode_config config = FT_DECODE_DEFAULTS;
	struct ft_decode_input input = { frame->bytes,     frame->captured,  frame->original,
					 frame->link_type, frame->fcs_bytes, frame->ts_ns };
	struct ft_decode_rest rest;
	struct ft_packet packet;

	captured->at = realloc(captured->at, (captured->count + 1) * sizeof *captured->at);
	assert_non_null(captured->at);
	ft_decode(&config, &input, &packet, &rest);
	ft_observe(&packet, frame, &captured->at[captured->count++]);
}

static bool find(const char *name, char path[512])
{
	const char *shared = getenv("FT_SHARED");
	const char *const folders[] = { FT_TEST_DATA, FT_TEST_DATA,
					shared != NULL ? shared : FT_TEST_DATA "/../../../shared" };

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		snprintf(path, 512, "%s/%s%s", folders[i], i == 1 ? "" : "captures/", name);
		if (access(path, R_OK) == 0)
			return true;
	}
	print_message("SKIPPED: no %s; FT_SHARED names the folder of the reference captures\n",
		      path);
	return false;
}

bool captures_read(const char *name, struct captured *captured)
{
	struct ft_source_complaint complaint;
	struct ft_frame burst[BURST];
	struct ft_source *source;
	char path[512];
	const char *found = path;
	int count;

	if (!find(name, path))
		return false;
	*captured = (struct captured){ NULL, 0 };
	assert_int_equal(ft_source_open_files(&source, &found, 1, &complaint), 0);
	while ((count = ft_source_next(source, burst, BURST)) > 0)
		for (int i = 0; i < count; i++)
			observe(captured, &burst[i]);
	ft_source_close(source);
	return true;
}

void captures_free(struct captured *captured)
{
	free(captured->at);
}
