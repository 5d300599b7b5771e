#include "job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "interrupt.h"
#include "job_map.h"
#include "log.h"
#include "number.h"
#include "output.h"

#define FLOWS_MAX (1u << 28)

int ft_job_init(struct ft_job *job, const struct ft_verb *verb, int argc)
{
	*job = (struct ft_job){
		.verb = verb,
		.config = FT_ENGINE_DEFAULTS,
		.most_frames = UINT64_MAX,
		.captures = calloc((size_t)argc, sizeof(*job->captures)),
		.topologies = calloc((size_t)argc, sizeof(*job->topologies)),
	};
	job->files.topologies = job->topologies;
	if (ft_live_line_init(&job->live, verb, argc) == 0 && job->captures != NULL &&
	    job->topologies != NULL)
		return 0;
	ft_job_close(job);
	ft_log("out of memory");
	return -ENOMEM;
}

void ft_job_close(struct ft_job *job)
{
	ft_engine_destroy(job->engine);
	ft_source_close(job->source);
	ft_map_destroy(job->map);
	ft_declared_destroy(job->declared);
	ft_job_maps_free(job);
	ft_live_line_free(&job->live);
	free(job->captures);
	free(job->topologies);
}

bool ft_job_is_live(const struct ft_job *job)
{
	return job->live.count > 0;
}

static int refuse(const struct ft_job *job, const char *option, const char *value,
		  const char *wanted)
{
	ft_usage_error(job->verb, "%s %s: not %s", option, value, wanted);
	return -EINVAL;
}

static int take_word(struct ft_job *job, const char **place, const char *option, const char *value)
{
	if (*place != NULL) {
		ft_usage_error(job->verb, "%s given twice", option);
		return -EINVAL;
	}
	*place = value;
	return 0;
}

static int take_map_format(struct ft_job *job, const char *value)
{
	if (strcmp(value, "tapmap") != 0 && strcmp(value, "opensm") != 0)
		return refuse(job, "--map-format", value, "tapmap or opensm");
	return take_word(job, &job->files.format, "--map-format", value);
}

static int take_rd(struct ft_job *job, const char *value)
{
	static const char *const words[] = {
		[FT_RD_IBA] = "iba", [FT_RD_DC] = "dc", [FT_RD_OPAQUE] = "opaque"
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(value, words[i]) != 0)
			continue;
		job->config.decode.rd = (enum ft_rd_reading)i;
		return 0;
	}
	return refuse(job, "--rd", value, "iba, dc or opaque");
}

/* The first --roce-port takes the place of the default. */
static int take_port(struct ft_job *job, const char *value)
{
	struct ft_decode_config *decode = &job->config.decode;
	uint64_t port;

	if (!ft_number_read(value, 1, UINT16_MAX, &port))
		return refuse(job, "--roce-port", value, "a UDP port");
	if (job->ports_given == FT_ROCE_PORTS_MAX) {
		ft_usage_error(job->verb, "more than %d --roce-port", FT_ROCE_PORTS_MAX);
		return -EINVAL;
	}
	decode->roce_ports[job->ports_given++] = (uint16_t)port;
	decode->roce_port_count = job->ports_given;
	return 0;
}

static int take_mirror_vlan(struct ft_job *job, const char *value)
{
	struct ft_decode_config *decode = &job->config.decode;
	uint64_t vid;

	if (!ft_number_read(value, 1, 4094, &vid))
		return refuse(job, "--mirror-vlan", value, "a VLAN, 1 to 4094");
	if (decode->mirror_vlan_count == FT_MIRROR_VLANS_MAX) {
		ft_usage_error(job->verb, "more than %d --mirror-vlan", FT_MIRROR_VLANS_MAX);
		return -EINVAL;
	}
	decode->mirror_vlans[decode->mirror_vlan_count++] = (uint16_t)vid;
	return 0;
}

static int take_count(struct ft_job *job, const char *value)
{
	if (!ft_number_read(value, 1, UINT64_MAX - 1, &job->most_frames))
		return refuse(job, "-c", value, "a number of frames, 1 or more");
	return 0;
}

static int take_flows(struct ft_job *job, const char *value)
{
	uint64_t flows;

	if (!ft_number_read(value, 1, FLOWS_MAX, &flows))
		return refuse(job, "--flows", value, "a number from 1 to 268435456");
	job->config.flows = (uint32_t)flows;
	return 0;
}

static int take_link(struct ft_job *job, const char *value)
{
	if (!ft_positive_read(value, &job->config.link_gbps))
		return refuse(job, "--link-gbps", value, "a speed in Gbit/s, above 0");
	return 0;
}

static int take_workers(struct ft_job *job, const char *value)
{
	uint64_t workers;

	if (!ft_number_read(value, 1, FT_ENGINE_WORKERS_MAX, &workers))
		return refuse(job, "--workers", value, "a number from 1 to 64");
	job->config.workers = (unsigned)workers;
	return 0;
}

void ft_job_capture(struct ft_job *job, const char *path)
{
	job->captures[job->capture_count++] = path;
}

/* A source is a file, too. */
static int take_source(struct ft_job *job, const char *address)
{
	if (strncmp(address, "file:", 5) != 0)
		return ft_live_line_option(&job->live, 'i', address);
	ft_job_capture(job, address);
	return 0;
}

int ft_job_option(struct ft_job *job, int code, const char *value)
{
	switch (code) {
	case 'i':
		return take_source(job, value);
	case 'm':
		return take_word(job, &job->files.map, "-m", value);
	case 'r':
		ft_job_capture(job, value);
		return 0;
	case 'c':
		return take_count(job, value);
	case FT_OPTION_TOPOLOGY:
		job->topologies[job->files.topology_count++] = value;
		return 0;
	case FT_OPTION_KEY:
		return take_word(job, &job->files.key, "--key", value);
	case FT_OPTION_MAP_FORMAT:
		return take_map_format(job, value);
	case FT_OPTION_ALLOW_BOTH:
		job->files.allow_both_pkeys = true;
		return 0;
	case FT_OPTION_FLOWS:
		return take_flows(job, value);
	case FT_OPTION_LINK_GBPS:
		return take_link(job, value);
	case FT_OPTION_WORKERS:
		return take_workers(job, value);
	case FT_OPTION_RD:
		return take_rd(job, value);
	case FT_OPTION_ROCE_PORT:
		return take_port(job, value);
	case FT_OPTION_MIRROR_VLAN:
		return take_mirror_vlan(job, value);
	case FT_OPTION_NO_ICRC:
		job->config.decode.check_icrc = false;
		return 0;
	default:
		return ft_live_line_option(&job->live, code, value);
	}
}

static bool has_map_options(const struct ft_job *job)
{
	return job->files.topology_count > 0 || job->files.key != NULL ||
	       job->files.format != NULL || job->files.allow_both_pkeys;
}

static enum ft_exit check_line(const struct ft_job *job)
{
	size_t standard_input = ft_map_files_from_input(&job->files);

	if (job->capture_count == 0 && !ft_job_is_live(job))
		return ft_usage_error(job->verb, "no capture given; `-` is standard input");
	if (job->capture_count != 0 && ft_job_is_live(job))
		return ft_usage_error(job->verb, "both captures and live sources (-i) given");
	if (job->live.options && !ft_job_is_live(job))
		return ft_usage_error(job->verb,
				      "-s, -f, --duration, --buffer, --allow-tx-queue and "
				      "--verbose need a live source: -i pcap:, "
				      "dpdk: or verbs:");
	if (job->files.map == NULL && has_map_options(job))
		return ft_usage_error(job->verb, "--topology, --key, --map-format and "
						 "--allow-both-pkeys need a map: -m FILE");
	for (size_t i = 0; i < job->capture_count; i++)
		standard_input += ft_is_standard_input(job->captures[i]);
	if (standard_input > 1)
		return ft_usage_error(job->verb, "standard input can be read only once");
	return FT_EXIT_CLEAN;
}

/* An output that is one of the files read would destroy it. */
static enum ft_exit check_output(const struct ft_job *job, const char *output)
{
	const char *input = ft_output_overwrites(output, job->captures, job->capture_count);

	if (input == NULL && job->files.map != NULL)
		input = ft_output_overwrites(output, &job->files.map, 1);
	if (input == NULL)
		input = ft_output_overwrites(output, job->topologies, job->files.topology_count);
	if (input == NULL && job->files.key != NULL)
		input = ft_output_overwrites(output, &job->files.key, 1);
	if (input == NULL)
		return FT_EXIT_CLEAN;
	return ft_usage_error(job->verb, "%s is read and would be overwritten by %s", input,
			      output != NULL ? output : "standard output");
}

static enum ft_exit load_map(struct ft_job *job)
{
	struct ft_map_complaint complaint;

	if (job->files.map == NULL)
		return FT_EXIT_CLEAN;
	if (ft_map_load(&job->declared, &job->files, NULL, &complaint) != 0) {
		ft_log("%s", complaint.text);
		return FT_EXIT_FAILED;
	}
	if (ft_map_compile(&job->map, job->declared) != 0) {
		ft_log("%s: out of memory", job->files.map);
		return FT_EXIT_FAILED;
	}
	return FT_EXIT_CLEAN;
}

/* A signal ends the reading of files, even while output waits; what comes through pipes is reported, so that is written. */
static enum ft_exit open_files(struct ft_job *job)
{
	struct ft_source_complaint complaint;

	ft_interrupt_catch();
	if (ft_source_open_until(&job->source, job->captures, job->capture_count,
				 ft_interrupt_flag(), &complaint) != 0) {
		ft_log("%s", complaint.text);
		return FT_EXIT_FAILED;
	}
	if (ft_source_is_piped(job->source) && !ft_interrupted())
		ft_interrupt_catch_writing();
	return FT_EXIT_CLEAN;
}

enum ft_exit ft_job_open_source(struct ft_job *job)
{
	if (ft_job_is_live(job))
		return ft_live_line_open(&job->live, FT_ENGINE_KEEP, &job->source) == 0
			       ? FT_EXIT_CLEAN
			       : FT_EXIT_FAILED;
	return open_files(job);
}

enum ft_exit ft_job_listen(struct ft_job *job)
{
	if (!ft_job_is_live(job))
		return FT_EXIT_CLEAN;
	return ft_live_line_listen(&job->live, job->source) == 0 ? FT_EXIT_CLEAN : FT_EXIT_FAILED;
}

static enum ft_exit create_engine(struct ft_job *job)
{
	if (getrandom(&job->config.seed, sizeof(job->config.seed), 0) !=
	    (ssize_t)sizeof(job->config.seed)) {
		ft_log("no random numbers from the system: %s", strerror(errno));
		return FT_EXIT_FAILED;
	}
	if (ft_engine_create(&job->engine, &job->config, job->map) == 0)
		return FT_EXIT_CLEAN;
	ft_log("out of memory for %u flow records", job->config.flows);
	return FT_EXIT_FAILED;
}

enum ft_exit ft_job_prepare(struct ft_job *job, const char *output)
{
	if (check_line(job) != FT_EXIT_CLEAN || check_output(job, NULL) != FT_EXIT_CLEAN)
		return FT_EXIT_FAILED;
	if (output != NULL && check_output(job, output) != FT_EXIT_CLEAN)
		return FT_EXIT_FAILED;
	return load_map(job) == FT_EXIT_CLEAN ? create_engine(job) : FT_EXIT_FAILED;
}

enum ft_exit ft_job_open(struct ft_job *job, const char *output)
{
	enum ft_exit status = ft_job_prepare(job, output);

	if (status == FT_EXIT_CLEAN)
		status = ft_job_open_source(job);
	return status == FT_EXIT_CLEAN ? ft_job_listen(job) : status;
}

uint64_t ft_job_stopped_after(const struct ft_job *job)
{
	return job->frames == job->most_frames ? job->frames : 0;
}

enum ft_exit ft_job_tell_damage(const struct ft_job *job, enum ft_exit status)
{
	for (size_t i = 0; i < ft_source_input_count(job->source); i++) {
		const struct ft_source_input *input = ft_source_input(job->source, i);

		if (!input->damaged)
			continue;
		ft_output_flush(status);
		ft_log("%s", input->complaint.text);
		status = FT_EXIT_FAILED;
	}
	return status;
}
