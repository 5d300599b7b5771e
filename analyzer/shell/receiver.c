#include "receiver.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <capture/clock.h>

#include "interrupt.h"
#include "log.h"

#define SECOND_NS UINT64_C(1000000000)
#define LOOK_NS   (SECOND_NS / 10) /* an interrupt just before it waits is noticed so much later */
#define START_NS  (120 * SECOND_NS)
#define STOP_NS   (15 * SECOND_NS)

/* --- the process --- */

static void tell_facts(const struct ft_source *source, int out)
{
	const struct ft_device_facts *known = ft_live_facts(source, 0);
	struct ft_receiver_facts facts = { .transmit_queues = known->transmit_queues };

	if (known->interface != NULL)
		snprintf(facts.interface, sizeof facts.interface, "%s", known->interface);
	if (known->driver != NULL)
		snprintf(facts.driver, sizeof facts.driver, "%s", known->driver);
	if (write(out, &facts, sizeof facts) != (ssize_t)sizeof facts)
		_exit(FT_EXIT_FAILED);
}

static struct ft_receiver_end receive(struct ft_source *source)
{
	enum { BURST = 64 };
	struct ft_frame frames[BURST];
	struct ft_receiver_end end = { 0 };
	int count;

	while ((count = ft_source_next(source, frames, BURST)) >= 0) {
		end.frames += (uint64_t)count;
		if (!ft_interrupted() || end.lasted)
			continue;
		ft_source_stop(source);
		end.lasted = true;
	}
	for (size_t i = 0; i < ft_source_input_count(source); i++) {
		const struct ft_source_input *input = ft_source_input(source, i);

		if (input->damaged) {
			ft_log("%s", input->complaint.text);
			end.lasted = false;
		}
	}
	return end;
}

/* Left without what runs at a program's end, which the filter of system calls is not made for. */
static void run(struct ft_live_line *line, int out)
{
	struct ft_source *source;
	struct ft_receiver_end end;

	ft_interrupt_catch();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* the caller, with the same user, is to see what this one has open */
	prctl(PR_SET_DUMPABLE, 1);
	if (ft_live_line_open(line, 1, &source) != 0 || ft_live_line_listen(line, source) != 0)
		_exit(FT_EXIT_FAILED);
	tell_facts(source, out);
	end = receive(source);
	ft_source_close(source);
	_exit(write(out, &end, sizeof end) == (ssize_t)sizeof end ? FT_EXIT_CLEAN : FT_EXIT_FAILED);
}

/* --- its parent --- */

/* Whether the process has told something, or is gone; false when time is over or somebody interrupts. */
static bool wait_until(const struct ft_receiver *receiver, uint64_t end_ns)
{
	struct pollfd told = { .fd = receiver->told, .events = POLLIN };

	while (!ft_interrupted()) {
		uint64_t now = ft_clock_monotonic_ns(), left;
		struct timespec rest;

		if (now >= end_ns)
			return false;
		left = end_ns - now < LOOK_NS ? end_ns - now : LOOK_NS;
		rest = (struct timespec){ .tv_nsec = (long)left };
		if (ppoll(&told, 1, &rest, NULL) > 0)
			return true;
	}
	return false;
}

static void bury(struct ft_receiver *receiver, int number)
{
	if (number != 0)
		kill(receiver->process, number);
	while (waitpid(receiver->process, NULL, 0) < 0 && errno == EINTR)
		;
	close(receiver->told);
}

int ft_receiver_start(struct ft_receiver *receiver, struct ft_live_line *line,
		      struct ft_receiver_facts *facts)
{
	uint64_t late_ns;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -errno;
	fflush(NULL);
	receiver->told = ends[0];
	receiver->process = fork();
	if (receiver->process == 0) {
		close(ends[0]);
		run(line, ends[1]);
	}
	close(ends[1]);
	if (receiver->process < 0) {
		close(ends[0]);
		ft_log("no process to receive with: %s", strerror(errno));
		return -ENOMEM;
	}
	late_ns = ft_clock_monotonic_ns() + START_NS;
	if (wait_until(receiver, late_ns) &&
	    read(receiver->told, facts, sizeof *facts) == (ssize_t)sizeof *facts)
		return 0;
	if (ft_clock_monotonic_ns() >= late_ns)
		ft_log("%s: does not receive after %d seconds", line->addresses[0],
		       (int)(START_NS / SECOND_NS));
	bury(receiver, SIGKILL);
	return -EIO;
}

void ft_receiver_wait(const struct ft_receiver *receiver, uint64_t duration_ns)
{
	wait_until(receiver, ft_clock_monotonic_ns() + duration_ns);
}

/* It may have been interrupted with its parent: what it tells is waited for in either case. */
static bool read_end(const struct ft_receiver *receiver, struct ft_receiver_end *end)
{
	struct pollfd told = { .fd = receiver->told, .events = POLLIN };
	uint64_t late_ns = ft_clock_monotonic_ns() + STOP_NS;
	int ready;

	do
		ready = poll(&told, 1, 100);
	while ((ready == 0 || (ready < 0 && errno == EINTR)) && ft_clock_monotonic_ns() < late_ns);
	return ready > 0 && read(receiver->told, end, sizeof *end) == (ssize_t)sizeof *end;
}

void ft_receiver_stop(struct ft_receiver *receiver, struct ft_receiver_end *end)
{
	bool told;

	kill(receiver->process, SIGTERM);
	told = read_end(receiver, end);
	if (!told)
		*end = (struct ft_receiver_end){ 0 };
	bury(receiver, told ? 0 : SIGKILL);
}
