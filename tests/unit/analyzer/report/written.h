#pragma once

#include <stdio.h>

/* A handle that collects what is written to it. */
struct written {
	FILE *out;
	char *text;
	size_t size;
};

void written_open(struct written *written);
const char *written_close(struct written *written); /* the text, until written_free() */
void written_free(struct written *written);
