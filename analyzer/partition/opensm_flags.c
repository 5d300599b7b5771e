#include "opensm.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

/*
 * Words match if the file's is a prefix of OpenSM's, and the first that matches wins; so "s" is
 * "scope", and an empty word is the first one. "indx0" alone must be written out.
 */
bool ft_opensm_abbreviates(const char *word, const char *whole)
{
	return strncmp(word, whole, strlen(word)) == 0;
}

/* A last letter left out changes nothing for the reader; more than that might. */
void ft_opensm_note_abbreviation(struct ft_opensm *opensm, const char *code, const char *word,
				 const char *whole)
{
	if (strlen(word) + 1 < strlen(whole))
		ft_opensm_say(opensm, FT_WARNING, code, "OpenSM takes \"%.40s\" for \"%s\"", word,
			      whole);
}

/* False: none of the three. */
static bool read_membership(struct ft_opensm *opensm, const char *word,
			    enum ft_membership *membership)
{
	static const struct {
		const char *word;
		enum ft_membership membership;
	} words[] = { { "full", FT_FULL }, { "both", FT_BOTH }, { "limited", FT_LIMITED } };

	if (word[0] == '\0')
		ft_opensm_say(opensm, FT_ERROR, "membership-empty-means-full",
			      "OpenSM takes an empty membership for full");
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (!ft_opensm_abbreviates(word, words[i].word))
			continue;
		if (word[0] != '\0')
			ft_opensm_note_abbreviation(opensm, "membership-abbreviated", word,
						    words[i].word);
		*membership = words[i].membership;
		return true;
	}
	return false;
}

enum ft_membership ft_opensm_membership(struct ft_opensm *opensm, const char *word,
					enum ft_membership otherwise)
{
	enum ft_membership membership = otherwise;

	if (word == NULL || read_membership(opensm, word, &membership))
		return membership;
	ft_opensm_say(opensm, FT_WARNING, "membership-unknown-means-limited",
		      "OpenSM takes \"%.40s\" for limited", word);
	return FT_LIMITED;
}

struct number_flag {
	const char *word;
	const char *name;    /* as `map show` prints it */
	const char *invalid; /* diagnostic */
	unsigned long least, most;
	bool whole; /* nothing may follow the number */
};

static const struct number_flag number_flags[] = {
	{ "mtu", "mtu", "mtu-invalid", 1, 255, false },
	{ "rate", "rate", "rate-invalid", 1, 255, false },
	{ "scope", "scope", "scope-invalid", 1, 255, false },
	{ "Q_Key", "qkey", "qkey-invalid", 0, UINT32_MAX, false },
	{ "TClass", "tclass", "tclass-invalid", 0, 255, false },
	{ "sl", "sl", "sl-invalid", 0, 15, true },
	{ "FlowLabel", "flowlabel", "flowlabel-invalid", 0, 0xfffff, false },
};

static bool read_number(const struct number_flag *flag, const char *value, unsigned long *number)
{
	char *end;

	if (value == NULL || value[0] == '\0')
		return false;
	*number = strtoul(value, &end, 0);
	return *number >= flag->least && *number <= flag->most && end != value &&
	       (!flag->whole || *end == '\0');
}

static void set_number(struct ft_opensm_flags *flags, const char *name, unsigned long number)
{
	if (strcmp(name, "mtu") == 0)
		flags->mtu = (int)number;
	else if (strcmp(name, "rate") == 0)
		flags->rate = (int)number;
	else if (strcmp(name, "sl") == 0)
		flags->sl = (int)number;
	if (strcmp(name, "scope") != 0) {
		json_object_set_new(flags->json, name, json_integer((json_int_t)number));
		return;
	}
	if (json_object_get(flags->json, name) == NULL) /* several scopes make several groups */
		json_object_set_new(flags->json, name, json_array());
	json_array_append_new(json_object_get(flags->json, name), json_integer((json_int_t)number));
}

bool ft_opensm_group_flag(struct ft_opensm *opensm, const struct ft_opensm_token *token,
			  struct ft_opensm_flags *flags)
{
	unsigned long number;

	for (size_t i = 0; i < sizeof number_flags / sizeof *number_flags; i++) {
		const struct number_flag *flag = &number_flags[i];

		if (!ft_opensm_abbreviates(token->name, flag->word))
			continue;
		ft_opensm_note_abbreviation(opensm, "flag-abbreviated", token->name, flag->word);
		if (read_number(flag, token->value, &number))
			set_number(flags, flag->name, number);
		else
			ft_opensm_say(opensm, FT_WARNING, flag->invalid,
				      "OpenSM leaves %s=\"%.40s\" out", flag->word,
				      token->value != NULL ? token->value : "");
		return true;
	}
	return false;
}

static void read_defmember(struct ft_opensm *opensm, const char *value,
			   struct ft_opensm_flags *flags)
{
	if (value == NULL || !read_membership(opensm, value, &flags->defmember))
		ft_opensm_say(opensm, FT_WARNING, "defmember-invalid-stays-limited",
			      "OpenSM leaves defmember=\"%.40s\" out", value != NULL ? value : "");
}

void ft_opensm_flag(struct ft_opensm *opensm, const struct ft_opensm_token *token,
		    struct ft_opensm_flags *flags)
{
	if (ft_opensm_group_flag(opensm, token, flags))
		return;
	if (strcmp(token->name, "indx0") == 0) {
		flags->index0 = true;
		json_object_set_new(flags->json, "indx0", json_true());
	} else if (ft_opensm_abbreviates(token->name, "ipoib")) {
		ft_opensm_note_abbreviation(opensm, "flag-abbreviated", token->name, "ipoib");
		flags->ipoib = true;
		json_object_set_new(flags->json, "ipoib", json_true());
	} else if (ft_opensm_abbreviates(token->name, "defmember")) {
		ft_opensm_note_abbreviation(opensm, "flag-abbreviated", token->name, "defmember");
		read_defmember(opensm, token->value, flags);
	} else {
		ft_opensm_say(opensm, FT_WARNING, "flag-unknown",
			      "OpenSM ignores the flag \"%.40s\"", token->name);
	}
}

/* Group flags up to the end of the line; items there are lost. Returns how many tokens there were. */
static size_t read_group_flags(struct ft_opensm *opensm, char *rest, struct ft_opensm_flags *flags)
{
	struct ft_opensm_token token;
	size_t count = 0;

	for (; ft_opensm_take(&rest, ',', &token); count++) {
		if (token.name[0] == '\0' || ft_opensm_group_flag(opensm, &token, flags))
			continue;
		if (strchr("0123456789AS", token.name[0]) != NULL)
			ft_opensm_say(opensm, FT_ERROR, "member-lost-after-mgid",
				      "\"%.40s\" stands behind mgid= on its line; OpenSM takes it "
				      "for a flag and ignores it",
				      token.name);
		else
			ft_opensm_say(opensm, FT_WARNING, "flag-unknown",
				      "OpenSM ignores the flag \"%.40s\"", token.name);
	}
	return count;
}

/* MGIDs of IP multicast over InfiniBand carry the P_Key in bytes 4 and 5. */
static bool set_pkey(uint8_t mgid[16], uint16_t base)
{
	unsigned signature = (unsigned)mgid[2] << 8 | mgid[3],
		 pkey = (unsigned)mgid[4] << 8 | mgid[5];

	if (signature != 0x401b && signature != 0x601b)
		return true;
	if (pkey != 0 && (pkey & 0x7fff) != base)
		return false;
	mgid[4] = (uint8_t)(0x80 | base >> 8);
	mgid[5] = (uint8_t)base;
	return true;
}

static const char *why_not_made(const struct ft_opensm_partition *partition,
				const struct ft_opensm_flags *group, uint8_t mgid[16])
{
	if (!set_pkey(mgid, partition->base))
		return "mgid-pkey-mismatch";
	if (group->mtu >= 0 && partition->mtu >= 0 && group->mtu != partition->mtu)
		return "mgid-mtu-mismatch";
	if (group->rate >= 0 && partition->rate >= 0 && group->rate != partition->rate)
		return "mgid-rate-mismatch";
	return NULL;
}

static void add_group(struct ft_opensm_partition *partition, const uint8_t mgid[16], json_t *flags)
{
	char text[INET6_ADDRSTRLEN];
	json_t *group = json_pack("{s:s}", "mgid", inet_ntop(AF_INET6, mgid, text, sizeof text));

	json_object_update(group, flags);
	if (json_object_get(partition->flags, "mgid") == NULL)
		json_object_set_new(partition->flags, "mgid", json_array());
	json_array_append_new(json_object_get(partition->flags, "mgid"), group);
}

static void note_not_made(struct ft_opensm *opensm, const char *code, const char *mgid)
{
	ft_opensm_say(opensm, FT_WARNING, code, "OpenSM does not make the group \"%.50s\"", mgid);
}

char *ft_opensm_group(struct ft_opensm *opensm, const char *mgid, char *rest)
{
	struct ft_opensm_partition *partition =
		(struct ft_opensm_partition *)opensm->partitions.items + opensm->open;
	struct ft_opensm_flags flags = { .json = NULL, -1, -1, -1 };
	uint8_t address[16];
	const char *wrong;

	if (mgid == NULL || inet_pton(AF_INET6, mgid, address) != 1 || address[0] != 0xff) {
		note_not_made(opensm, "mgid-invalid", mgid != NULL ? mgid : "");
		return rest;
	}
	flags.json = json_object();
	if (read_group_flags(opensm, rest, &flags) == 0)
		ft_opensm_say(
			opensm, FT_WARNING, "mgid-without-flags",
			"OpenSM reads left-over text of an earlier line as this group's flags");
	wrong = why_not_made(partition, &flags, address);
	if (wrong != NULL)
		note_not_made(opensm, wrong, mgid);
	else
		add_group(partition, address, flags.json);
	json_decref(flags.json);
	return NULL;
}
