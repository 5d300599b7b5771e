#include "map_line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"

static const struct option words[] = {
	{ "map-format", required_argument, NULL, FT_OPTION_MAP_FORMAT },
	{ "topology", required_argument, NULL, FT_OPTION_TOPOLOGY },
	{ "key", required_argument, NULL, FT_OPTION_KEY },
	{ "allow-both-pkeys", no_argument, NULL, FT_OPTION_ALLOW_BOTH },
	{ "json", no_argument, NULL, FT_OPTION_JSON },
	{ "map", required_argument, NULL, 'm' },
	{ "output", required_argument, NULL, 'o' },
	{ "at", required_argument, NULL, FT_OPTION_AT },
	{ "port", required_argument, NULL, FT_OPTION_PORT },
	{ "pair", required_argument, NULL, FT_OPTION_PAIR },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static int take_format(struct ft_map_line *line, const char *value)
{
	if (strcmp(value, "tapmap") == 0 || strcmp(value, "opensm") == 0) {
		line->files.format = value;
		return 0;
	}
	ft_usage_error(&ft_verb_map, "--map-format %s: not tapmap or opensm", value);
	return -EINVAL;
}

static int take_output(struct ft_map_line *line, const char *value)
{
	line->json = strcmp(value, "json") == 0;
	if (line->json || strcmp(value, "text") == 0)
		return 0;
	ft_usage_error(&ft_verb_map, "-o %s: not text or json", value);
	return -EINVAL;
}

/* The second port of --pair is the next word. */
static int take_pair(struct ft_map_line *line, const char *value, int argc, char **argv)
{
	if (optind >= argc) {
		ft_usage_error(&ft_verb_map, "--pair needs two ports");
		return -EINVAL;
	}
	line->pair[0] = value;
	line->pair[1] = argv[optind++];
	return 0;
}

static int take(struct ft_map_line *line, int code, const char *value)
{
	switch (code) {
	case FT_OPTION_MAP_FORMAT:
		return take_format(line, value);
	case FT_OPTION_TOPOLOGY:
		line->topologies[line->files.topology_count++] = value;
		return 0;
	case FT_OPTION_KEY:
		line->files.key = value;
		return 0;
	case FT_OPTION_ALLOW_BOTH:
		line->files.allow_both_pkeys = true;
		return 0;
	case FT_OPTION_JSON:
		line->json = true;
		return 0;
	case 'o':
		return take_output(line, value);
	case 'm':
		line->paths[line->path_count++] = value;
		return 0;
	case FT_OPTION_AT:
		line->at = value;
		return 0;
	case FT_OPTION_PORT:
		line->port = value;
		return 0;
	case 'h':
		line->help = true;
		return 0;
	default:
		return -EINVAL;
	}
}

int ft_map_line_read(struct ft_map_line *line, int argc, char **argv)
{
	struct ft_options options = { &ft_verb_map, "m:o:", words, argc, argv, false };
	int code, error = 0;

	*line = (struct ft_map_line){
		.topologies = calloc((size_t)argc + 1, sizeof(*line->topologies)),
		.paths = calloc((size_t)argc + 1, sizeof(*line->paths)),
	};
	line->files.topologies = line->topologies;
	if (line->topologies == NULL || line->paths == NULL) {
		ft_log("out of memory");
		return -ENOMEM;
	}
	while (error == 0 && (code = ft_options_next(&options)) != FT_OPTION_END)
		error = code == FT_OPTION_PAIR ? take_pair(line, optarg, argc, argv)
					       : take(line, code, optarg);
	for (int i = optind; i < argc && error == 0; i++)
		line->paths[line->path_count++] = argv[i];
	return error;
}

void ft_map_line_free(struct ft_map_line *line)
{
	free(line->topologies);
	free(line->paths);
}

int ft_map_line_load(const struct ft_map_line *line, const char *path,
		     struct ft_declared **declared)
{
	struct ft_map_files files = line->files;
	struct ft_map_complaint complaint;
	int error;

	files.map = path;
	error = ft_map_load(declared, &files, NULL, &complaint);
	if (error != 0)
		ft_log("%s", complaint.text);
	return error;
}

int ft_map_line_compile(const struct ft_map_line *line, const char *path,
			struct ft_declared **declared, struct ft_map **map)
{
	int error = ft_map_line_load(line, path, declared);

	if (error != 0)
		return error;
	error = ft_map_compile(map, *declared);
	if (error != 0)
		ft_log("%s: %s", path, strerror(-error));
	return error;
}
