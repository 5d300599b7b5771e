#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <partition/ask.h>
#include <partition/convert.h>
#include <partition/diff.h>
#include <partition/lint.h>
#include <partition/moment.h>
#include <partition/show.h>

#include "log.h"
#include "map_line.h"
#include "output.h"

static const char usage[] =
	"usage: fabtap map VERB [options] FILE\n"
	"\n"
	"The declared tenant partition map, without any capture.\n"
	"\n"
	"  map check FILE         complaints, then what the file is good for\n"
	"  map show FILE          the map as fabtap understands it\n"
	"  map ask [--at TIME] --port P FILE\n"
	"                         the partitions and the owner of a port\n"
	"  map ask [--at TIME] --pair A B FILE\n"
	"                         may two ports talk, and by what\n"
	"  map lint FILE          what an operator would want to know before deploying it\n"
	"  map diff OLD NEW       which tenants a change lets talk, and which no longer\n"
	"  map convert FILE       the same map as tapmap/1\n"
	"\n"
	"A port is a GUID, LID, host name, IP address, GID or MAC; TIME is 2026-11-20T10:00:00Z\n"
	"(default: now).\n"
	"\n"
	"options:\n"
	"      --map-format NAME  tapmap or opensm, when the content does not tell\n"
	"      --topology FILE    ibnetdiscover, guid2lid, smpquery or saquery output "
	"(repeatable)\n"
	"      --key PUB.pem      refuse a map that this Ed25519 key has not signed\n"
	"      --allow-both-pkeys OpenSM runs with -W\n"
	"  -o, --output FORMAT    text (default) or json; --json is short for -o json\n"
	"\n"
	"exit status: 0 done; 1 lint or diff have something to say; 2 the map cannot be used\n"
	"(check: neither a refused map nor one that OpenSM drops can)\n";

/* What a writer returned: an error of standard output, or `status`. */
static enum ft_exit written(int error, enum ft_exit status)
{
	return error != 0 ? ft_output_failed(error) : status;
}

/* The map also if it was refused: then its verdict says so. -errno after a line if there is none at all. */
static int load_anyway(const struct ft_map_line *line, struct ft_declared **declared,
		       struct ft_map_complaint *complaint)
{
	struct ft_map_files files = line->files;
	struct ft_declared *rejected = NULL;
	int error;

	files.map = line->paths[0];
	error = ft_map_load(declared, &files, &rejected, complaint);
	if (error == 0)
		return 0;
	if (rejected == NULL) {
		ft_log("%s", complaint->text);
		return error;
	}
	*declared = rejected;
	return 0;
}

static enum ft_exit check(const struct ft_map_line *line)
{
	struct ft_map_complaint complaint;
	struct ft_declared *declared;
	enum ft_exit status;

	if (load_anyway(line, &declared, &complaint) != 0)
		return FT_EXIT_FAILED;
	status = declared->verdict == FT_MAP_OK || declared->verdict == FT_MAP_WARN
			 ? FT_EXIT_CLEAN
			 : FT_EXIT_FAILED;
	status = written(ft_map_check_write(declared, stdout), status);
	ft_declared_destroy(declared);
	return status;
}

static enum ft_exit show(const struct ft_map_line *line)
{
	struct ft_map_complaint complaint;
	struct ft_declared *declared;
	enum ft_exit status = FT_EXIT_CLEAN;

	if (load_anyway(line, &declared, &complaint) != 0)
		return FT_EXIT_FAILED;
	if (declared->verdict == FT_MAP_REJECT) {
		ft_log("%s", complaint.text);
		status = FT_EXIT_FAILED;
	}
	status = written(ft_map_show(declared, line->json, stdout), status);
	ft_declared_destroy(declared);
	return status;
}

static int read_instant(const struct ft_map_line *line, int64_t *at_ns)
{
	struct timespec now;

	if (line->at != NULL) {
		if (ft_moment_read(line->at, at_ns))
			return 0;
		ft_usage_error(&ft_verb_map, "--at %s: not a time like 2026-11-20T10:00:00Z",
			       line->at);
		return -EINVAL;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	*at_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	return 0;
}

static enum ft_exit ask(const struct ft_map_line *line)
{
	struct ft_question question = { .port = line->port != NULL ? line->port : line->pair[0],
					.other = line->pair[1] };
	struct ft_map_complaint complaint = { .text = "" };
	struct ft_declared *declared = NULL;
	struct ft_map *map = NULL;
	enum ft_exit status = FT_EXIT_FAILED;
	int error;

	if ((line->port == NULL) == (line->pair[0] == NULL))
		return ft_usage_error(&ft_verb_map,
				      "ask about one port with --port, or about two with --pair");
	if (read_instant(line, &question.at_ns) != 0)
		return FT_EXIT_FAILED;
	if (ft_map_line_compile(line, line->paths[0], &declared, &map) == 0) {
		error = ft_map_ask(map, &question, line->json, stdout, &complaint);
		if (error == -ENOENT)
			ft_log("%s", complaint.text);
		else
			status = written(error, FT_EXIT_CLEAN);
	}
	ft_map_destroy(map);
	ft_declared_destroy(declared);
	return status;
}

static enum ft_exit lint(const struct ft_map_line *line)
{
	struct ft_declared *declared = NULL;
	struct ft_map *map = NULL;
	enum ft_exit status = FT_EXIT_FAILED;
	size_t found = 0;
	int error;

	if (ft_map_line_compile(line, line->paths[0], &declared, &map) == 0) {
		error = ft_map_lint(map, line->json, stdout, &found);
		status = written(error, found > 0 ? FT_EXIT_FINDINGS : FT_EXIT_CLEAN);
	}
	ft_map_destroy(map);
	ft_declared_destroy(declared);
	return status;
}

static enum ft_exit diff(const struct ft_map_line *line)
{
	struct ft_declared *declared[2] = { NULL, NULL };
	struct ft_map *maps[2] = { NULL, NULL };
	enum ft_exit status = FT_EXIT_FAILED;
	size_t changes = 0;

	if (ft_map_line_compile(line, line->paths[0], &declared[0], &maps[0]) == 0 &&
	    ft_map_line_compile(line, line->paths[1], &declared[1], &maps[1]) == 0) {
		int error = ft_map_diff(maps[0], maps[1], line->json, stdout, &changes);

		status = written(error, changes > 0 ? FT_EXIT_FINDINGS : FT_EXIT_CLEAN);
	}
	for (int i = 0; i < 2; i++) {
		ft_map_destroy(maps[i]);
		ft_declared_destroy(declared[i]);
	}
	return status;
}

static enum ft_exit convert(const struct ft_map_line *line)
{
	struct ft_map_complaint complaint;
	struct ft_declared *declared;
	enum ft_exit status = FT_EXIT_FAILED;
	int error;

	if (ft_map_line_load(line, line->paths[0], &declared) != 0)
		return FT_EXIT_FAILED;
	error = ft_map_convert(declared, stdout, &complaint);
	if (error == -EINVAL)
		ft_log("%s", complaint.text);
	else
		status = written(error, FT_EXIT_CLEAN);
	ft_declared_destroy(declared);
	return status;
}

static const struct map_verb {
	const char *name;
	size_t maps; /* how many files it takes */
	bool asks;   /* takes --at, --port, --pair */
	enum ft_exit (*run)(const struct ft_map_line *line);
} map_verbs[] = {
	{ "check", 1, false, check }, { "show", 1, false, show }, { "ask", 1, true, ask },
	{ "lint", 1, false, lint },   { "diff", 2, false, diff }, { "convert", 1, false, convert },
};

static enum ft_exit run_verb(const struct map_verb *verb, const struct ft_map_line *line)
{
	bool asked = line->at != NULL || line->port != NULL || line->pair[0] != NULL;

	if (line->help)
		return ft_usage_print(&ft_verb_map);
	if (line->path_count != verb->maps)
		return ft_usage_error(&ft_verb_map, "%s takes %s, not %zu", verb->name,
				      verb->maps == 1 ? "one map" : "an old and a new map",
				      line->path_count);
	if (asked && !verb->asks)
		return ft_usage_error(&ft_verb_map, "--at, --port and --pair belong to ask");
	return verb->run(line);
}

static enum ft_exit read_and_run(const struct map_verb *verb, int argc, char **argv)
{
	struct ft_map_line line;
	enum ft_exit status = FT_EXIT_FAILED;

	if (ft_map_line_read(&line, argc, argv) == 0)
		status = run_verb(verb, &line);
	ft_map_line_free(&line);
	return status;
}

static enum ft_exit run(int argc, char **argv)
{
	if (argc < 2)
		return ft_usage_error(&ft_verb_map, "check, show, ask, lint, diff or convert?");
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return ft_usage_print(&ft_verb_map);
	for (size_t i = 0; i < sizeof(map_verbs) / sizeof(map_verbs[0]); i++)
		if (strcmp(argv[1], map_verbs[i].name) == 0)
			return read_and_run(&map_verbs[i], argc - 1, argv + 1);
	return ft_usage_error(&ft_verb_map, "no %s; see `fabtap help map`", argv[1]);
}

const struct ft_verb ft_verb_map = { "map", "check, show, ask, lint, diff, convert a map", usage,
				     run };
