#include "opensm.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t\n";

#define LONG_LINE       " (the line has more than 4094 bytes and is read in pieces)"
#define SEMICOLON_FIRST " (the line begins with ';', and OpenSM reads on in what is left of others)"

void ft_opensm_say(struct ft_opensm *opensm, enum ft_diagnostic_severity severity, const char *code,
		   const char *format, ...)
{
	char text[160];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	ft_diagnose(opensm->builder, severity, code, opensm->origin, "%s", text);
}

void ft_opensm_fail(struct ft_opensm *opensm, const char *code, const char *format, ...)
{
	struct why {
		const char *code, *remark;
	} why = { code, "" };
	char text[160];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	opensm->failed = true;
	if (opensm->long_line)
		why = (struct why){ "line-too-long", LONG_LINE };
	else if (opensm->semicolon_first)
		why = (struct why){ "semicolon-first", SEMICOLON_FIRST };
	ft_opensm_say(opensm, FT_ERROR, why.code, "OpenSM drops the whole file here: %s%s", text,
		      why.remark);
}

static char *strip(char *text)
{
	size_t length;

	text += strspn(text, blanks);
	for (length = strlen(text); length > 0 && strchr(blanks, text[length - 1]) != NULL;
	     length--)
		text[length - 1] = '\0';
	return text;
}

bool ft_opensm_take(char **text, char separator, struct ft_opensm_token *token)
{
	char *start = *text, *end, *equals;

	if (start == NULL)
		return false;
	end = strchr(start, separator);
	*text = end != NULL ? end + 1 : NULL;
	if (end != NULL)
		*end = '\0';
	equals = strchr(start, '=');
	if (equals != NULL)
		*equals = '\0';
	token->name = strip(start);
	token->value = equals != NULL ? strip(equals + 1) : NULL;
	return true;
}

/* name=pkey, flag, flag=value … up to ':' */
static void read_header(struct ft_opensm *opensm, char *header)
{
	struct ft_opensm_flags flags = {
		.json = json_object(), -1, -1, -1, .defmember = FT_LIMITED
	};
	struct ft_opensm_partition *partition;
	struct ft_opensm_token name = { .name = header }, flag;

	ft_opensm_take(&header, ',', &name);
	while (ft_opensm_take(&header, ',', &flag))
		ft_opensm_flag(opensm, &flag, &flags);
	partition = ft_opensm_define(opensm, name);
	if (partition != NULL) {
		opensm->defmember = flags.defmember;
		partition->ipoib |= flags.ipoib;
		partition->index0 |= flags.index0;
		partition->mtu = flags.mtu >= 0 ? flags.mtu : partition->mtu;
		partition->rate = flags.rate >= 0 ? flags.rate : partition->rate;
		partition->sl = flags.sl >= 0 ? flags.sl : partition->sl;
		json_object_update(partition->flags, flags.json);
	}
	json_decref(flags.json);
}

/* item, item … of one piece, up to ';' or its end. Returns what OpenSM leaves of them, or NULL. */
static char *read_items(struct ft_opensm *opensm, char *items)
{
	struct ft_opensm_token item;

	while (!opensm->failed && ft_opensm_take(&items, ',', &item)) {
		if (strcmp(item.name, "mgid") == 0)
			return ft_opensm_group(opensm, item.value, items);
		if (item.name[0] != '\0')
			ft_opensm_item(opensm, &item);
	}
	return NULL;
}

/* The header before ':'; returns what is behind it, or NULL. */
static char *open_definition(struct ft_opensm *opensm, char *text)
{
	char *colon = strchr(text, ':');

	if (colon == NULL) {
		ft_opensm_fail(
			opensm, "no-partition-definition",
			strchr(text, '\r') == NULL
				? "no ':' follows \"%.40s\" on its line"
				: "no ':' follows \"%.40s\" on its line: a carriage return "
				  "is text to OpenSM, so lines must end in a line feed alone",
			text);
		return NULL;
	}
	*colon = '\0';
	read_header(opensm, text);
	return opensm->failed ? NULL : colon + 1;
}

/*
 * What stands before a ';', or the end; returns where OpenSM goes on, NULL if there is nothing more.
 * Where nothing stands before it, OpenSM steps over the ';', takes what is behind it, and goes on one
 * byte behind the end of that, where it may find what is left of an earlier piece.
 */
static char *read_part(struct ft_opensm *opensm, char *text)
{
	char *semicolon = strchr(text, ';'), *end = semicolon, *left = NULL;

	if (semicolon != NULL)
		*semicolon = '\0';
	if (semicolon == text) {
		text++;
		end = text + strlen(text);
	}
	if (opensm->open == SIZE_MAX)
		text = open_definition(opensm, text);
	if (!opensm->failed)
		left = read_items(opensm, text);
	if (semicolon == NULL || opensm->failed)
		return NULL;
	opensm->open = SIZE_MAX;
	return left != NULL ? left : end + 1;
}

static void read_piece(struct ft_opensm *opensm)
{
	char *text = opensm->piece + strspn(opensm->piece, blanks);

	opensm->semicolon_first = *text == ';' && opensm->open != SIZE_MAX;
	while (text != NULL && *text != '\0') {
		text = read_part(opensm, text);
		if (text != NULL)
			text += strspn(text, blanks);
	}
	if (opensm->semicolon_first && !opensm->failed)
		ft_opensm_say(opensm, FT_WARNING, "semicolon-first",
			      "a line begins with ';': OpenSM would drop the whole file if an "
			      "earlier line were another one");
}

/* The end of the piece that begins at `text`: behind its line feed, or where it is cut. */
static const char *piece_end(const char *text, const char *end)
{
	const char *feed = memchr(text, '\n', (size_t)(end - text));
	const char *stop = feed != NULL ? feed + 1 : end;

	return stop - text > FT_OPENSM_PIECE ? text + FT_OPENSM_PIECE : stop;
}

static void read_pieces(struct ft_opensm *opensm, const char *text, const char *end)
{
	bool whole = true; /* the piece before ended its line */

	/* nobody knows what is behind the first lines: no definition, as a rule */
	memset(opensm->piece, '?', sizeof opensm->piece - 1);
	for (const char *next; text < end && !opensm->failed; text = next) {
		char *comment;

		next = piece_end(text, end);
		memcpy(opensm->piece, text, (size_t)(next - text));
		opensm->piece[next - text] = '\0';
		comment = strchr(opensm->piece, '#');
		if (comment != NULL)
			*comment = '\0';
		opensm->origin.line += whole;
		opensm->long_line = !whole || (next < end && next[-1] != '\n');
		whole = next[-1] == '\n';
		read_piece(opensm);
	}
}

void ft_opensm_read(struct ft_opensm *opensm, struct ft_builder *builder, uint32_t file,
		    bool allow_both, const char *text, size_t size)
{
	*opensm = (struct ft_opensm){
		.builder = builder,
		.allow_both = allow_both,
		.origin.file = file,
		.partitions.item_size = sizeof(struct ft_opensm_partition),
		.open = SIZE_MAX,
	};
	builder->declared->format = "opensm-partitions";
	builder->declared->last_rule_wins = true;
	read_pieces(opensm, text, text + size);
	if (opensm->partitions.count == 0 && !opensm->failed) {
		opensm->origin.line = 0;
		ft_opensm_fail(opensm, "no-partition-definition", "it defines no partition");
	} else if (opensm->open != SIZE_MAX && !opensm->failed) {
		ft_opensm_say(opensm, FT_NOTE, "no-final-semicolon",
			      "the last definition has no ';'");
	}
}
