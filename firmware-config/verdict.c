#include <firmware-config/passivity.h>

#include <stdarg.h>
#include <string.h>

/* --- reasons --- */

__attribute__((format(printf, 2, 3))) static void say(struct ft_passive_verdict *verdict,
						      const char *format, ...)
{
	va_list values;

	if (verdict->count == FT_REASONS_MAX)
		return;
	va_start(values, format);
	vsnprintf(verdict->reasons[verdict->count++], FT_REASON, format, values);
	va_end(values);
}

/* Reasons of one step; the first step that finds one decides. */

static void find_movement(const struct ft_passivity *passivity, struct ft_passive_verdict *verdict)
{
	const struct ft_witness *witness = &passivity->witness;

	for (size_t i = 0; i < passivity->row_count; i++)
		if (passivity->rows[i].change == FT_TX_MOVED)
			say(verdict, "moved:%s", passivity->rows[i].name);
	if (witness->switch_by != NULL && witness->switch_rx[0] != FT_TX_UNREADABLE &&
	    witness->switch_rx[1] != FT_TX_UNREADABLE &&
	    witness->switch_rx[1] > witness->switch_rx[0])
		say(verdict, "moved:switch.rx_packets");
}

static void find_odd_counters(const struct ft_passivity *passivity,
			      struct ft_passive_verdict *verdict)
{
	const struct ft_witness *witness = &passivity->witness;

	if (passivity->row_count == 0)
		say(verdict, "no-counters");
	for (size_t i = 0; i < passivity->row_count; i++)
		if (passivity->rows[i].change != FT_TX_UNCHANGED)
			say(verdict, "%s:%s", ft_tx_change_name(passivity->rows[i].change),
			    passivity->rows[i].name);
	if (passivity->interface_known && passivity->index[0] != passivity->index[1])
		say(verdict, "interface-replaced");
	if (witness->switch_by == NULL)
		return;
	if (witness->switch_rx[0] == FT_TX_UNREADABLE || witness->switch_rx[1] == FT_TX_UNREADABLE)
		say(verdict, "unreadable:switch.rx_packets");
	else if (witness->switch_rx[1] < witness->switch_rx[0])
		say(verdict, "decreased:switch.rx_packets");
}

static void find_rights(const struct ft_process_facts *process, struct ft_passive_verdict *verdict)
{
	enum { FILTER = 2 };

	if (!process->status_known) {
		say(verdict, "unreadable:process.status");
	} else {
		if (process->capabilities != 0)
			say(verdict, "process-has-capabilities");
		if (process->no_new_privileges != 1)
			say(verdict, "process-may-gain-privileges");
		if (process->seccomp != FILTER)
			say(verdict, "process-may-call-anything");
	}
	if (!process->descriptors_known)
		say(verdict, "unreadable:process.descriptors");
}

static void find_doubt(const struct ft_passivity *passivity, struct ft_passive_verdict *verdict)
{
	find_odd_counters(passivity, verdict);
	find_rights(&passivity->process, verdict);
	if (passivity->self_test == FT_SELF_TEST_SENT)
		say(verdict, "self-test-sent");
	if (!passivity->lasted)
		say(verdict, "source-ended");
}

/* --- proof --- */

static bool has(const struct ft_passivity *passivity, enum ft_tx_kind kind)
{
	for (size_t i = 0; i < passivity->row_count; i++)
		if (passivity->rows[i].kind == kind)
			return true;
	return false;
}

/* Counters of what leaves the port, whoever made it; of an InfiniBand port there are no others. */
static bool has_port_counters(const struct ft_passivity *passivity)
{
	return has(passivity, FT_TX_PHY_PACKETS) ||
	       (!passivity->interface_known && has(passivity, FT_TX_INFINIBAND));
}

/* What keeps unmoved counters from being proof. */
static void find_gaps(const struct ft_passivity *passivity, struct ft_passive_verdict *verdict)
{
	if (passivity->witness.one_way_by == NULL && passivity->witness.switch_by == NULL)
		say(verdict, "no-witness");
	if (!has_port_counters(passivity))
		say(verdict, "no-phy-counters");
}

static void tell_proof(const struct ft_passivity *passivity, struct ft_passive_verdict *verdict)
{
	if (passivity->witness.one_way_by != NULL)
		say(verdict, "one-way-stated");
	if (passivity->witness.switch_by != NULL)
		say(verdict, "switch-counter-unmoved");
	say(verdict, "phy-counters-unmoved");
}

/* --- the ladder --- */

static void tell_remarks(const struct ft_passivity *passivity, struct ft_passive_verdict *verdict)
{
	if (passivity->transmit_queues != 0)
		say(verdict, "transmit-queue");
	for (size_t i = 0; i < passivity->setting_count; i++)
		if (passivity->settings[i].speaks && passivity->settings[i].ok == FT_NO)
			say(verdict, "setting:%s", passivity->settings[i].name);
}

void ft_passivity_judge(const struct ft_passivity *passivity, struct ft_passive_verdict *verdict)
{
	static const struct {
		enum ft_passive verdict;
		void (*find)(const struct ft_passivity *passivity,
			     struct ft_passive_verdict *verdict);
	} steps[] = {
		{ FT_PASSIVE_VIOLATED, find_movement },
		{ FT_PASSIVE_NOT_PROVED, find_doubt },
		{ FT_PASSIVE_CONSISTENT, find_gaps },
		{ FT_PASSIVE_PROVED, tell_proof },
	};

	verdict->count = 0;
	for (size_t i = 0; i < sizeof steps / sizeof steps[0] && verdict->count == 0; i++) {
		verdict->verdict = steps[i].verdict;
		steps[i].find(passivity, verdict);
	}
	tell_remarks(passivity, verdict);
}

const char *ft_passive_name(enum ft_passive verdict)
{
	static const char *const names[] = {
		[FT_PASSIVE_PROVED] = "proved",
		[FT_PASSIVE_CONSISTENT] = "consistent",
		[FT_PASSIVE_NOT_PROVED] = "not-proved",
		[FT_PASSIVE_VIOLATED] = "violated",
	};

	return names[verdict];
}
