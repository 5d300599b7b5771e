#include "probe_passive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <capture/clock.h>

#include "build.h"
#include "interrupt.h"
#include "log.h"
#include "output.h"
#include "receiver.h"
#include "self_test.h"
#include "switch_count.h"

/* --- counters before --- */

/*
 * Opening a device may send already, and on which interface it listens is known only then: all of them are read.
 * The last reading is of no interface.
 */
struct readings {
	char (*names)[FT_INTERFACE_NAME];
	struct ft_transmitted *of;
	size_t count;
};

/* "mlx5_0/1" of "verbs:mlx5_0/1"; NULL: not an RDMA port */
static const char *rdma_port(const char *source)
{
	static const char prefix[] = "verbs:";

	return strncmp(source, prefix, strlen(prefix)) == 0 ? source + strlen(prefix) : NULL;
}

static int read_all(const struct ft_machine *machine, const char *port, struct readings *readings)
{
	int count = ft_interfaces_list(machine, &readings->names);

	readings->count = count > 0 ? (size_t)count : 0;
	readings->of = calloc(readings->count + 1, sizeof *readings->of);
	if (readings->of == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < readings->count; i++)
		ft_transmitted_read(machine, readings->names[i], port, &readings->of[i]);
	ft_transmitted_read(machine, NULL, port, &readings->of[readings->count]);
	return 0;
}

/* Of the interface, or of none where it was not there: then it has no counters to compare with. */
static const struct ft_transmitted *reading_of(const struct readings *readings,
					       const char *interface)
{
	size_t i = 0;

	while (i < readings->count &&
	       (interface == NULL || strcmp(readings->names[i], interface) != 0))
		i++;
	return &readings->of[i];
}

/* --- the run --- */

/* While it receives: what the process has, how the interface is set. */
static void look(const struct ft_probe *probe, const struct ft_receiver *receiver,
		 struct ft_passivity *passivity, const char *interface)
{
	static const struct ft_machine here = { "" };

	ft_process_facts_read(&here, receiver->process, &passivity->process);
	passivity->interface_known = interface != NULL;
	if (interface == NULL)
		return;
	ft_port_facts_read(&probe->machine, interface, &passivity->port);
	passivity->setting_count =
		ft_settings_read(&probe->machine, interface, passivity->settings);
}

static void compare(const struct ft_probe *probe, const struct readings *readings,
		    const char *interface, struct ft_transmitted *after,
		    struct ft_passivity *passivity)
{
	const struct ft_transmitted *before = reading_of(readings, interface);

	ft_transmitted_read(&probe->machine, interface, rdma_port(passivity->source), after);
	passivity->index[0] = before->index;
	passivity->index[1] = after->index;
	passivity->row_count = ft_transmitted_compare(before, after, passivity->rows);
}

static enum ft_exit tell(const struct ft_passivity *passivity)
{
	static const enum ft_exit statuses[] = {
		[FT_PASSIVE_PROVED] = FT_EXIT_CLEAN,
		[FT_PASSIVE_CONSISTENT] = FT_EXIT_CLEAN,
		[FT_PASSIVE_NOT_PROVED] = FT_EXIT_NOT_EVIDENCED,
		[FT_PASSIVE_VIOLATED] = FT_EXIT_FINDINGS,
	};
	struct ft_passive_verdict verdict;

	ft_passivity_judge(passivity, &verdict);
	return ft_output_status(ft_passivity_write(stdout, passivity, &verdict),
				statuses[verdict.verdict]);
}

/* 0, or -errno: it did not receive, told. */
static int receive(struct ft_probe *probe, const struct readings *readings,
		   struct ft_passivity *passivity, struct ft_receiver_facts *facts,
		   struct ft_transmitted *after)
{
	const char *interface = NULL;
	struct ft_receiver receiver;
	struct ft_receiver_end end;
	uint64_t start_ns;
	int error = ft_receiver_start(&receiver, &probe->line, facts);

	if (error != 0)
		return error;
	if (facts->interface[0] != '\0')
		interface = facts->interface;
	start_ns = ft_clock_monotonic_ns();
	look(probe, &receiver, passivity, interface);
	ft_receiver_wait(&receiver, probe->duration_ns);
	passivity->duration_ns = ft_clock_monotonic_ns() - start_ns;
	ft_receiver_stop(&receiver, &end);
	passivity->utc_ns = ft_clock_wall_ns();
	passivity->mono_ns = ft_clock_monotonic_ns();
	compare(probe, readings, interface, after, passivity);
	passivity->capture_driver = facts->driver;
	passivity->transmit_queues = facts->transmit_queues;
	passivity->frames = end.frames;
	passivity->lasted = end.lasted;
	return 0;
}

static void introduce(const struct ft_probe *probe, struct ft_passivity *passivity)
{
	passivity->version = ft_build_version();
	passivity->witness = probe->witness;
	if (probe->switch_file != NULL)
		passivity->witness.switch_rx[1] =
			ft_switch_count_since(probe->switch_file, passivity->utc_ns);
	passivity->self_test = ft_self_test_run();
	ft_host_facts_read(&probe->machine, &passivity->host);
	ft_clock_facts_read(&probe->machine, &passivity->clock);
	ft_binary_facts_read(&passivity->binary);
}

/* False, told, if there is a file that should have it and has not. */
static bool read_switch(struct ft_probe *probe)
{
	if (probe->switch_file == NULL)
		return true;
	probe->witness.switch_by = probe->switch_file;
	probe->witness.switch_rx[0] = ft_switch_count(probe->switch_file);
	if (probe->witness.switch_rx[0] != FT_TX_UNREADABLE)
		return true;
	ft_log("%s: no file that begins with a number of frames", probe->switch_file);
	return false;
}

enum ft_exit ft_probe_passive(struct ft_probe *probe)
{
	struct ft_passivity passivity = { .source = probe->line.addresses[0] };
	struct ft_receiver_facts facts;
	struct ft_transmitted after;
	struct readings readings = { 0 };
	enum ft_exit status = FT_EXIT_FAILED;

	ft_interrupt_catch();
	if (!read_switch(probe))
		return FT_EXIT_FAILED;
	if (read_all(&probe->machine, rdma_port(passivity.source), &readings) != 0)
		ft_log("out of memory");
	else if (receive(probe, &readings, &passivity, &facts, &after) == 0) {
		introduce(probe, &passivity);
		status = tell(&passivity);
	}
	free(readings.names);
	free(readings.of);
	return status;
}
