#include "script.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct word {
	const char *name;
	int value;
};

static const struct word errors[] = {
	{ "EPERM", EPERM },   { "EACCES", EACCES }, { "EOPNOTSUPP", EOPNOTSUPP },
	{ "ENOSYS", ENOSYS }, { "ENOMEM", ENOMEM }, { "EINVAL", EINVAL },
	{ "EBUSY", EBUSY },   { "ENODEV", ENODEV },
};

static const struct word faults[] = {
	{ "prot", FAULT_PROT },
	{ "general", FAULT_GENERAL },
	{ "short", FAULT_SHORT },
	{ "empty", FAULT_EMPTY },
	{ "fatal", FAULT_FATAL },
	{ "vanish", FAULT_VANISH },
	{ "port-down", FAULT_PORT_DOWN },
	{ "port-up", FAULT_PORT_UP },
	{ "qp-fatal", FAULT_QP_FATAL },
	{ "cq-overrun", FAULT_CQ_OVERRUN },
	{ "gid-change", FAULT_GID_CHANGE },
};

static const struct word counter_kinds[] = {
	{ "all", COUNTERS_ALL },
	{ "no-discards", COUNTERS_NO_DISCARDS },
	{ "none", COUNTERS_NONE },
	{ "stuck", COUNTERS_STUCK },
};

#define LOOK_UP(table, word) look_up((table), sizeof(table) / sizeof((table)[0]), (word))

static void refuse(const char *word)
{
	fprintf(stderr, "FT_FAKE_VERBS: what is `%s`?\n", word);
	abort();
}

static int look_up(const struct word *rows, size_t count, const char *word)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(rows[i].name, word) == 0)
			return rows[i].value;
	}
	refuse(word);
	return 0;
}

static uint64_t number(const char *word)
{
	char *end;
	uint64_t value = strtoull(word, &end, 10);

	if (end == word || *end != '\0')
		refuse(word);
	return value;
}

static const struct {
	const char *key;
	enum { TEXT, NUMBER, FLAG, ERROR } kind;
	size_t offset, size;
} keys[] = {
#define AT(member) offsetof(struct script, member), sizeof(((struct script *)0)->member)
	{ "devices", TEXT, AT(devices) },
	{ "frames", TEXT, AT(frames) },
	{ "interface", TEXT, AT(interface) },
	{ "account", TEXT, AT(account) },
	{ "repeat", NUMBER, AT(repeat) },
	{ "burst", NUMBER, AT(burst) },
	{ "rate", NUMBER, AT(rate) },
	{ "late", NUMBER, AT(late) },
	{ "discard", NUMBER, AT(discard) },
	{ "clock_khz", NUMBER, AT(clock_khz) },
	{ "max_sge", NUMBER, AT(max_sge) },
	{ "max_wr", NUMBER, AT(max_wr) },
	{ "max_cqe", NUMBER, AT(max_cqe) },
	{ "drop", FLAG, AT(drop) },
	{ "down", FLAG, AT(down) },
	{ "stamps", FLAG, AT(stamps) },
	{ "clock_jump", FLAG, AT(clock_jump) },
	{ "strict", FLAG, AT(strict) },
	{ "poison", FLAG, AT(poison) },
	{ "list", ERROR, AT(list_error) },
	{ "open", ERROR, AT(open_error) },
	{ "qp", ERROR, AT(qp_error) },
	{ "flow", ERROR, AT(flow_error) },
	{ "register", ERROR, AT(register_error) },
#undef AT
};

static void read_fault(struct script *script, char *value)
{
	char *colon = strchr(value, ':');

	if (colon == NULL || script->fault_count == FAULTS_MAX)
		refuse(value);
	*colon = '\0';
	script->faults[script->fault_count].frame = number(value);
	script->faults[script->fault_count++].fault = (enum fault)LOOK_UP(faults, colon + 1);
}

/* The keys that are not of a kind. */
static bool read_special(struct script *script, const char *key, char *value)
{
	if (strcmp(key, "link") == 0)
		script->infiniband = strcmp(value, "infiniband") == 0;
	else if (strcmp(key, "counters") == 0)
		script->counters = (enum counters)LOOK_UP(counter_kinds, value);
	else if (strcmp(key, "ppm") == 0)
		script->ppm = strtoll(value, NULL, 10);
	else if (strcmp(key, "at") == 0)
		read_fault(script, value);
	else
		return false;
	return true;
}

static void read_word(struct script *script, char *word)
{
	char *value = strchr(word, '=');

	if (value == NULL)
		refuse(word);
	*value++ = '\0';
	if (read_special(script, word, value))
		return;
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		char *member = (char *)script + keys[i].offset;

		if (strcmp(keys[i].key, word) != 0)
			continue;
		if (keys[i].kind == TEXT)
			snprintf(member, keys[i].size, "%s", value);
		else if (keys[i].kind == NUMBER)
			*(uint64_t *)(void *)member = number(value);
		else if (keys[i].kind == FLAG)
			*(bool *)member = number(value) != 0;
		else
			*(int *)(void *)member = LOOK_UP(errors, value);
		return;
	}
	refuse(word);
}

static void read_text(char *text, size_t size)
{
	const char *said = getenv("FT_FAKE_VERBS");
	FILE *file;
	size_t got;

	snprintf(text, size, "%s", said != NULL ? said : "");
	if (text[0] != '/')
		return;
	file = fopen(said, "re");
	if (file == NULL)
		refuse(said);
	got = fread(text, 1, size - 1, file);
	text[got] = '\0';
	fclose(file);
}

void script_read(struct script *script)
{
	char text[4096], *rest = text;

	*script = (struct script){
		.devices = "mlx5_0:1",
		.interface = "fake0",
		.repeat = 1,
		.burst = 32,
		.clock_khz = 156250,
		.max_sge = 30,
		.max_wr = 32768,
		.max_cqe = 4194303,
		.stamps = true,
		.poison = true,
	};
	read_text(text, sizeof text);
	for (char *word; (word = strsep(&rest, " \t\n")) != NULL;) {
		if (word[0] != '\0')
			read_word(script, word);
	}
}

enum fault script_fault_at(const struct script *script, uint64_t frame)
{
	for (unsigned i = 0; i < script->fault_count; i++) {
		if (script->faults[i].frame == frame)
			return script->faults[i].fault;
	}
	return FAULT_NONE;
}
