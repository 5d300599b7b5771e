#include "document.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <partition/moment.h>
#include <partition/show.h>

#include "builder.h"

json_t *ft_json_text(const char *text)
{
	json_t *string;
	char *copy;

	if (text == NULL)
		return json_null();
	string = json_string(text);
	if (string != NULL)
		return string;
	copy = strdup(text);
	if (copy == NULL)
		return NULL;
	ft_text_clean(copy, strlen(copy));
	string = json_string(copy);
	free(copy);
	return string;
}

json_t *ft_json_pkey(unsigned pkey)
{
	char text[FT_NOTATION_ROOM];

	return json_string(ft_pkey_write(text, pkey));
}

json_t *ft_json_guid(uint64_t guid)
{
	char text[FT_NOTATION_ROOM];

	return json_string(ft_guid_write(text, guid));
}

json_t *ft_json_moment(int64_t ns)
{
	char text[FT_MOMENT_ROOM];

	return ns <= 0 || ns == FT_TIME_MAX ? json_null() : json_string(ft_moment_write(text, ns));
}

const char *ft_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

const char *ft_owner_name(const struct ft_declared *declared, uint32_t tenant)
{
	return tenant != FT_NONE ? declared->tenants[tenant].name : NULL;
}

json_t *ft_json_diagnostic(const struct ft_declared *declared,
			   const struct ft_diagnostic *diagnostic)
{
	const struct ft_origin *origin = &diagnostic->origin;
	json_t *object = json_pack("{s:o, s:i, s:s, s:s, s:o}", "file",
				   ft_json_text(ft_base_name(declared->files[origin->file].path)),
				   "line", (int)origin->line, "code", diagnostic->code, "severity",
				   ft_diagnostic_severity_word(diagnostic->severity), "text",
				   ft_json_text(diagnostic->text));

	if (origin->path != NULL)
		json_object_set_new(object, "where", ft_json_text(origin->path));
	return object;
}

int ft_written(FILE *out)
{
	errno = 0;
	if (fflush(out) == 0 && !ferror(out))
		return 0;
	return errno != 0 ? -errno : -EIO;
}

int ft_json_write(json_t *document, FILE *out)
{
	int error = 0;

	if (document == NULL)
		return -ENOMEM;
	errno = 0;
	if (json_dumpf(document, out, JSON_INDENT(1)) != 0 || fputc('\n', out) == EOF)
		error = errno != 0 ? -errno : -EIO;
	json_decref(document);
	return error != 0 ? error : ft_written(out);
}

void ft_diagnostic_write(const struct ft_declared *declared, const struct ft_diagnostic *diagnostic,
			 FILE *out)
{
	const struct ft_origin *origin = &diagnostic->origin;

	fputs(declared->files[origin->file].path, out);
	if (origin->line != 0)
		fprintf(out, ":%u", origin->line);
	fprintf(out, ": %s: %s: ", ft_diagnostic_severity_word(diagnostic->severity),
		diagnostic->code);
	if (origin->path != NULL && origin->path[0] != '\0')
		fprintf(out, "%s: ", origin->path);
	fprintf(out, "%s\n", diagnostic->text);
}

const char *ft_member_word(char text[FT_NOTATION_ROOM], const struct ft_member *member, bool opensm)
{
	static const char *const keywords[] = { [FT_MEMBER_ALL] = "ALL",
						[FT_MEMBER_ALL_CAS] = "ALL_CAS",
						[FT_MEMBER_ALL_SWITCHES] = "ALL_SWITCHES",
						[FT_MEMBER_ALL_ROUTERS] = "ALL_ROUTERS",
						[FT_MEMBER_SELF] = "SELF" };

	switch (member->kind) {
	case FT_MEMBER_HOST:
		return member->host;
	case FT_MEMBER_GUID:
		return ft_guid_write(text, member->guid);
	case FT_MEMBER_PREFIX:
		return ft_prefix_write(text, &member->prefix);
	case FT_MEMBER_MAC:
		return ft_mac_write(text, member->mac);
	case FT_MEMBER_LID:
	case FT_MEMBER_VLAN:
	case FT_MEMBER_VNI:
		snprintf(text, FT_NOTATION_ROOM, "%s:%u",
			 member->kind == FT_MEMBER_LID    ? "lid"
			 : member->kind == FT_MEMBER_VLAN ? "vlan"
							  : "vni",
			 member->number);
		return text;
	default:
		return member->kind == FT_MEMBER_ALL && !opensm ? "all" : keywords[member->kind];
	}
}
