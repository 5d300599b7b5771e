#pragma once

#include <stdio.h>

#include <jansson.h>

#include <partition/declared.h>
#include <partition/notation.h>

/* What all documents about maps are written with. NULL arguments and results mean no memory and pass through. */

/* A string; bytes that are not UTF-8 (of a path, say) become '?'. NULL gives null. */
json_t *ft_json_text(const char *text);
json_t *ft_json_pkey(unsigned pkey);
json_t *ft_json_guid(uint64_t guid);
json_t *ft_json_moment(int64_t ns); /* null for 1970 and before, and for FT_TIME_MAX */

/* {"file", "line", "where", "code", "severity", "text"} */
json_t *ft_json_diagnostic(const struct ft_declared *declared,
			   const struct ft_diagnostic *diagnostic);

/* Write and release. 0, -ENOMEM if `document` is NULL, or as ft_written(). */
int ft_json_write(json_t *document, FILE *out);

/* "map.conf:7: warning: code: text" */
void ft_diagnostic_write(const struct ft_declared *declared, const struct ft_diagnostic *diagnostic,
			 FILE *out);

/* 0, or why something could not be written: -EIO where the system did not say. */
int ft_written(FILE *out);

const char *ft_base_name(const char *path);

/* NULL: FT_NONE, nobody's. */
const char *ft_owner_name(const struct ft_declared *declared, uint32_t tenant);

/* Who a member line names, as a word: "ALL", a host, "0x…" (GUID), "lid:5", "10.0.0.0/24", "vlan:101", "vni:7". */
const char *ft_member_word(char text[FT_NOTATION_ROOM], const struct ft_member *member,
			   bool opensm);

/* An exception as tapmap/1 writes it. */
json_t *ft_exception_document(const struct ft_declared *declared,
			      const struct ft_exception *exception);

/* A port as tapmap/1 writes it, without its host. */
json_t *ft_port_document(const struct ft_port *port);
