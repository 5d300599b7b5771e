/* A suspicion in words. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <decode/opcode.h>
#include <partition/check.h>
#include <partition/notation.h>

#include "suspects.h"

/* Where the sentence grows; what does not fit is left out. */
struct sentence {
	char *text;
	size_t room, used;
	const char *separator;
};

__attribute__((format(printf, 2, 3))) static void add(struct sentence *sentence, const char *format,
						      ...)
{
	va_list values;
	char part[200];
	int length;

	va_start(values, format);
	vsnprintf(part, sizeof part, format, values);
	va_end(values);
	length = snprintf(sentence->text + sentence->used, sentence->room - sentence->used, "%s%s",
			  sentence->separator, part);
	if (length > 0 && (size_t)length < sentence->room - sentence->used)
		sentence->used += (size_t)length;
	sentence->text[sentence->used] = '\0';
	sentence->separator = ", ";
}

static void add_look(struct sentence *sentence, const struct ft_suspicion *suspicion)
{
	const struct ft_sender_look *usual = &suspicion->usual, *seen = &suspicion->seen;
	char before[FT_NOTATION_ROOM], now[FT_NOTATION_ROOM];

	if ((suspicion->strange & FT_STRANGE_MAC) != 0)
		add(sentence, "source MAC %s instead of %s", ft_mac_write(now, seen->smac),
		    ft_mac_write(before, usual->smac));
	if ((suspicion->strange & FT_STRANGE_TTL) != 0)
		add(sentence, "TTL %u instead of %u", seen->ttl, usual->ttl);
	if ((suspicion->strange & FT_STRANGE_DSCP) != 0)
		add(sentence, "DSCP %u instead of %u", seen->dscp, usual->dscp);
	if ((suspicion->strange & FT_STRANGE_PORT) != 0)
		add(sentence, "source port %u instead of %u", seen->sport, usual->sport);
	if ((suspicion->strange & FT_STRANGE_IP_ID) != 0)
		add(sentence, "IP identification %u after %u", seen->ip_id, usual->ip_id);
	if ((suspicion->strange & FT_STRANGE_PKEY) != 0)
		add(sentence, "P_Key 0x%04x in a connection of base 0x%04x", suspicion->pkey,
		    suspicion->usual_base);
}

static bool holds(const struct ft_suspicion *suspicion, enum ft_rule rule)
{
	return (suspicion->rules >> rule & 1) != 0;
}

/* A request with a PSN that another one had. */
static void add_content(struct sentence *sentence, const struct ft_suspicion *suspicion,
			const char *name)
{
	bool payload = holds(suspicion, FT_RULE_SPOOF_PAYLOAD_CHANGED);
	char where[48] = "";

	if (suspicion->passed != 0)
		snprintf(where, sizeof where, "%s in frame %" PRIu64, payload ? " than" : ",",
			 suspicion->passed);
	if (payload)
		add(sentence, "%s with PSN %" PRIu32 " again, with another payload%s", name,
		    suspicion->psn, where);
	else
		add(sentence,
		    "%s with PSN %" PRIu32 ", under which another request passed before%s", name,
		    suspicion->psn, where);
}

static void add_transport(struct sentence *sentence, const struct ft_suspicion *suspicion)
{
	const char *name = ft_opcode_name(suspicion->opcode);

	if (name == NULL)
		name = "a packet";
	if ((suspicion->strange & FT_STRANGE_CONTENT) != 0)
		add_content(sentence, suspicion, name);
	if ((suspicion->strange & FT_STRANGE_PSN) != 0)
		add(sentence, "PSN %" PRIu32 " where %" PRIu32 " was next", suspicion->psn,
		    suspicion->expected_psn);
	if ((suspicion->strange & FT_STRANGE_UNASKED) != 0)
		add(sentence, "%s for PSN %" PRIu32 ", which was not asked for", name,
		    suspicion->psn);
	if ((suspicion->strange & FT_STRANGE_REFUSED) != 0)
		add(sentence,
		    "%s for PSN %" PRIu32 ", though the NAK in frame %" PRIu64
		    " had ended the connection",
		    name, suspicion->psn, suspicion->passed);
}

void ft_suspicion_text(const struct ft_suspicion *suspicion, char *text, size_t room)
{
	struct sentence sentence = { .text = text, .room = room, .separator = "" };

	add(&sentence, "frame %" PRIu64, suspicion->frame);
	sentence.separator = ": ";
	add_look(&sentence, suspicion);
	add_transport(&sentence, suspicion);
	if (holds(suspicion, FT_RULE_SPOOF_ACCESS_ERRORS))
		add(&sentence, "remote access error number %" PRIu32 "%s, for PSN %" PRIu32,
		    suspicion->count,
		    suspicion->slow ? ", each within 5 minutes of the one before" : " within 10 s",
		    suspicion->psn);
	if (holds(suspicion, FT_RULE_SPOOF_QP_SCAN))
		add(&sentence,
		    "%" PRIu32
		    " queue pairs got a first request within a second, next to none answered",
		    suspicion->count);
	if (holds(suspicion, FT_RULE_SPOOF_QKEY_GUESSES))
		add(&sentence,
		    "Q_Key number %" PRIu32
		    " for this queue pair, each within 10 s of the one before",
		    suspicion->qkeys);
}
