#include <string.h>

#include "map_run.h"

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
	"(default: now); FILE may be -, standard input.\n"
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

static const struct map_verb {
	const char *name;
	size_t maps; /* how many files it takes */
	bool asks;   /* takes --at, --port, --pair */
	enum ft_exit (*run)(const struct ft_map_line *line);
} map_verbs[] = {
	{ "check", 1, false, ft_map_run_check }, { "show", 1, false, ft_map_run_show },
	{ "ask", 1, true, ft_map_run_ask },      { "lint", 1, false, ft_map_run_lint },
	{ "diff", 2, false, ft_map_run_diff },   { "convert", 1, false, ft_map_run_convert },
};

static size_t standard_inputs(const struct ft_map_line *line)
{
	size_t count = ft_map_files_from_input(&line->files);

	for (size_t i = 0; i < line->path_count; i++)
		count += ft_is_standard_input(line->paths[i]);
	return count;
}

static const char *wanted_maps(const struct map_verb *verb, const struct ft_map_line *line)
{
	if (verb->maps == 2)
		return "an old and a new map";
	return line->pair[0] != NULL ? "one map behind the two ports of --pair" : "one map";
}

static enum ft_exit run_verb(const struct map_verb *verb, const struct ft_map_line *line)
{
	bool asked = line->at != NULL || line->port != NULL || line->pair[0] != NULL;

	if (line->help)
		return ft_usage_print(&ft_verb_map);
	if (line->path_count != verb->maps)
		return ft_usage_error(&ft_verb_map, "%s takes %s, not %zu", verb->name,
				      wanted_maps(verb, line), line->path_count);
	if (standard_inputs(line) > 1)
		return ft_usage_error(&ft_verb_map, "standard input can be read only once");
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
