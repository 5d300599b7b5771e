#pragma once

#include "line.h"

/*
 * A JSON document on its way to a handle. The two outer levels take a line for each member, what is
 * deeper stands in one line, so that a document reads well and one row of a list is one line.
 */
struct ft_document {
	struct ft_line line;
	unsigned depth;
	bool first; /* nothing stands before the next member */
};

void ft_document_open(struct ft_document *json, FILE *out); /* and the document's `{` */
int ft_document_close(struct ft_document *json); /* `}`; 0 or the first -errno of the handle */

/* JSON lines instead: objects, each in a line of its own. */
void ft_records_open(struct ft_document *json, FILE *out);
void ft_record_begin(struct ft_document *json);
void ft_record_end(struct ft_document *json);
int ft_records_close(struct ft_document *json); /* 0 or the first -errno of the handle */

/* `name` is NULL inside a list. */
void ft_member_begin(struct ft_document *json, const char *name, char bracket); /* '{' or '[' */
void ft_member_end(struct ft_document *json, char bracket);                     /* '}' or ']' */
void ft_member_null(struct ft_document *json, const char *name);
void ft_member_bool(struct ft_document *json, const char *name, bool value);
void ft_member_text(struct ft_document *json, const char *name, const char *value); /* NULL: null */
/* UINT64_MAX: null */
void ft_member_number(struct ft_document *json, const char *name, uint64_t value);
void ft_member_signed(struct ft_document *json, const char *name, int64_t value);
/* negative, not finite: null */
void ft_member_real(struct ft_document *json, const char *name, double value);
/* "0x8001" */
void ft_member_hex(struct ft_document *json, const char *name, uint64_t value, unsigned digits);
/* of memory: as many digits as it has */
void ft_member_address(struct ft_document *json, const char *name, uint64_t value);
/* RFC 3339; UINT64_MAX: null */
void ft_member_time(struct ft_document *json, const char *name, uint64_t ts_ns);
