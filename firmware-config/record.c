#include <firmware-config/passivity.h>

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* jansson carries a failure on: what cannot be made is NULL, and setting NULL fails. */
struct record {
	json_t *object;
	bool failed;
};

static void put(struct record *record, const char *name, json_t *value)
{
	if (json_object_set_new(record->object, name, value) != 0)
		record->failed = true;
}

/* Names of files and interfaces may hold any bytes: what is no UTF-8 comes out in question marks. */
static json_t *odd_text(const char *value)
{
	char *copy = strdup(value);
	json_t *made;

	for (char *at = copy; copy != NULL && *at != '\0'; at++)
		if ((unsigned char)*at >= 0x80)
			*at = '?';
	made = copy == NULL ? NULL : json_string(copy);
	free(copy);
	return made;
}

static json_t *text(const char *value) /* "" and NULL are not known */
{
	json_t *made;

	if (value == NULL || value[0] == '\0')
		return json_null();
	made = json_string(value);
	return made != NULL ? made : odd_text(value);
}

static json_t *number(uint64_t value)
{
	return value > INT64_MAX ? json_null() : json_integer((json_int_t)value);
}

static json_t *known(enum ft_known value)
{
	return value == FT_NOT_KNOWN ? json_null() : json_boolean(value == FT_YES);
}

static json_t *pair(uint64_t before, uint64_t after)
{
	return json_pack("[o,o]", number(before), number(after));
}

static json_t *utc(uint64_t ts_ns)
{
	char seconds[32], all[48];
	time_t whole = (time_t)(ts_ns / 1000000000);
	struct tm parts;

	if (gmtime_r(&whole, &parts) == NULL)
		return json_null();
	strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &parts);
	snprintf(all, sizeof all, "%s.%09" PRIu64 "Z", seconds, ts_ns % 1000000000);
	return json_string(all);
}

static json_t *mask(uint64_t value)
{
	char digits[20];

	snprintf(digits, sizeof digits, "%" PRIx64, value);
	return json_string(digits);
}

/* --- who and where --- */

static json_t *clock_part(const struct ft_clock_facts *clock)
{
	return json_pack("{s:o, s:o, s:o}", "source", text(clock->source), "offset_ns",
			 clock->known && clock->locked ? json_integer(clock->offset_ns)
						       : json_null(),
			 "locked", clock->known ? json_boolean(clock->locked) : json_null());
}

static json_t *host_part(const struct ft_host_facts *host)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "machine_id_hash", text(host->machine_id_hash),
			 "kernel", text(host->kernel), "cmdline_hash", text(host->cmdline_hash),
			 "secure_boot",
			 host->secure_boot_known ? json_boolean(host->secure_boot) : json_null());
}

static json_t *binary_part(const struct ft_passivity *passivity)
{
	const struct ft_binary_facts *binary = &passivity->binary;

	return json_pack("{s:o, s:o, s:o, s:o}", "path_hash", text(binary->path_hash),
			 "content_hash", text(binary->content_hash), "build_id",
			 text(binary->build_id), "version", text(passivity->version));
}

static json_t *one_way(const struct ft_passivity *passivity)
{
	if (passivity->witness.one_way_by == NULL)
		return json_null();
	return json_pack("{s:o, s:o, s:n}", "by", text(passivity->witness.one_way_by), "when",
			 utc(passivity->utc_ns), "evidence");
}

static json_t *port_part(const struct ft_passivity *passivity)
{
	const struct ft_port_facts *port = &passivity->port;
	json_t *speed =
		port->speed[0] == '\0' ? json_null() : number(strtoull(port->speed, NULL, 10));

	return json_pack("{s:o, s:o, s:o, s:o, s:n, s:o, s:o, s:o, s:n, s:n, s:o}", "interface",
			 text(port->interface), "pci", text(port->pci), "driver",
			 text(port->driver), "fw", text(port->firmware), "psid", "mac_or_guid",
			 text(port->address), "link", text(port->link), "speed", speed, "fec",
			 "medium", "oneway_claim", one_way(passivity));
}

static json_t *setting(const struct ft_setting *setting)
{
	return json_pack("{s:s, s:s, s:o, s:n, s:o, s:s}", "name", setting->name, "want",
			 setting->want, "current", text(setting->current), "next", "ok",
			 known(setting->ok), "source", setting->source);
}

static json_t *settings_part(const struct ft_passivity *passivity)
{
	json_t *list = json_array();

	for (size_t i = 0; i < passivity->setting_count; i++)
		if (json_array_append_new(list, setting(&passivity->settings[i])) != 0) {
			json_decref(list);
			return NULL;
		}
	return list;
}

/* --- what was sent --- */

/* The counters of one kind, or of one name, added up; null if there is none, or one was not readable. */
static json_t *sum(const struct ft_passivity *passivity, enum ft_tx_kind kind, const char *name)
{
	uint64_t before = 0, after = 0;
	bool any = false;

	for (size_t i = 0; i < passivity->row_count; i++) {
		const struct ft_tx_row *row = &passivity->rows[i];

		if (row->kind != kind || (name != NULL && strcmp(row->name, name) != 0))
			continue;
		any = true;
		before = row->before > INT64_MAX || before > INT64_MAX ? FT_TX_UNREADABLE
								       : before + row->before;
		after = row->after > INT64_MAX || after > INT64_MAX ? FT_TX_UNREADABLE
								    : after + row->after;
	}
	return any ? pair(before, after) : json_null();
}

static json_t *counters(const struct ft_passivity *passivity)
{
	json_t *list = json_array();

	for (size_t i = 0; i < passivity->row_count; i++) {
		const struct ft_tx_row *row = &passivity->rows[i];
		json_t *each = json_pack("{s:o, s:o, s:o, s:s}", "name", text(row->name), "before",
					 number(row->before), "after", number(row->after), "change",
					 ft_tx_change_name(row->change));

		if (json_array_append_new(list, each) != 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *sent_part(const struct ft_passivity *passivity)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:n, s:n, s:o}", "phy_packets",
			 sum(passivity, FT_TX_PHY_PACKETS, NULL), "phy_bytes",
			 sum(passivity, FT_TX_PHY_BYTES, NULL), "pause",
			 sum(passivity, FT_TX_PAUSE, NULL), "netdev",
			 sum(passivity, FT_TX_NETDEV, "netdev.tx_packets"), "infiniband",
			 sum(passivity, FT_TX_INFINIBAND, "infiniband.port_xmit_packets"),
			 "dpdk_opackets", "nft_drop", "counters", counters(passivity));
}

static json_t *switch_part(const struct ft_witness *witness)
{
	if (witness->switch_by == NULL)
		return json_null();
	return json_pack("{s:n, s:n, s:o, s:n, s:o}", "name", "port", "rx_packets",
			 pair(witness->switch_rx[0], witness->switch_rx[1]), "mirror_session", "by",
			 text(witness->switch_by));
}

/* --- the process --- */

static json_t *descriptors(const struct ft_process_facts *process)
{
	json_t *kinds;

	if (!process->descriptors_known)
		return json_null();
	kinds = json_object();
	for (size_t i = 0; i < process->kind_count; i++)
		if (json_object_set_new(kinds, process->kinds[i].name,
					json_integer(process->kinds[i].count)) != 0) {
			json_decref(kinds);
			return NULL;
		}
	return kinds;
}

static json_t *process_part(const struct ft_passivity *passivity)
{
	const struct ft_process_facts *process = &passivity->process;
	bool read = process->status_known;

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:i}", "caps",
			 read ? mask(process->capabilities) : json_null(), "caps_bounding",
			 read ? mask(process->bounding) : json_null(), "no_new_privs",
			 read ? number(process->no_new_privileges) : json_null(), "seccomp",
			 read ? number(process->seccomp) : json_null(), "fds", descriptors(process),
			 "nb_tx_queues", (int)passivity->transmit_queues);
}

static json_t *source_part(const struct ft_passivity *passivity)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:b}", "address", text(passivity->source), "driver",
			 text(passivity->capture_driver), "duration_ns",
			 number(passivity->duration_ns), "frames", number(passivity->frames),
			 "lasted", passivity->lasted);
}

static json_t *self_test(enum ft_self_test result)
{
	if (result == FT_SELF_TEST_NOT_TRIED)
		return json_null();
	return json_pack("{s:s, s:b}", "tried_send", "in a network namespace of its own",
			 "bypass_blocked", result == FT_SELF_TEST_BLOCKED);
}

static json_t *reasons(const struct ft_passive_verdict *verdict)
{
	json_t *list = json_array();

	for (size_t i = 0; i < verdict->count; i++)
		if (json_array_append_new(list, text(verdict->reasons[i])) != 0) {
			json_decref(list);
			return NULL;
		}
	return list;
}

static void fill(struct record *record, const struct ft_passivity *passivity,
		 const struct ft_passive_verdict *verdict)
{
	put(record, "schema", json_string("fabtap.passivity/1"));
	put(record, "type", json_string("passivity"));
	put(record, "seq", json_null());
	put(record, "prev", json_null());
	put(record, "boot_id", text(passivity->host.boot_id));
	put(record, "mono_ns", number(passivity->mono_ns));
	put(record, "utc", utc(passivity->utc_ns));
	put(record, "clock", clock_part(&passivity->clock));
	put(record, "host", host_part(&passivity->host));
	put(record, "binary", binary_part(passivity));
	put(record, "source", source_part(passivity));
	put(record, "port", port_part(passivity));
	put(record, "settings", settings_part(passivity));
	put(record, "tx", sent_part(passivity));
	put(record, "switch", switch_part(&passivity->witness));
	put(record, "process", process_part(passivity));
	put(record, "self_test", self_test(passivity->self_test));
	put(record, "verdict", json_string(ft_passive_name(verdict->verdict)));
	put(record, "reasons", reasons(verdict));
}

int ft_passivity_write(FILE *out, const struct ft_passivity *passivity,
		       const struct ft_passive_verdict *verdict)
{
	struct record record = { .object = json_object() };
	int error = -ENOMEM;

	if (record.object != NULL)
		fill(&record, passivity, verdict);
	if (record.object != NULL && !record.failed) {
		errno = 0;
		error = 0;
		if (json_dumpf(record.object, out, JSON_COMPACT) != 0 || fputc('\n', out) == EOF ||
		    fflush(out) != 0)
			error = errno != 0 ? -errno : -EIO;
	}
	json_decref(record.object);
	return error;
}
