#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <firmware-config/machine.h>

/* A saved machine in a folder of its own, file by file. */
struct saved_machine {
	char root[64];
	struct ft_machine machine;
};

void saved_machine_make(struct saved_machine *saved);
void saved_machine_remove(struct saved_machine *saved);

/* A file of it, in whatever folder; NULL: gone. */
void saved_machine_put(const struct saved_machine *saved, const char *path, const char *text);
void saved_machine_link(const struct saved_machine *saved, const char *path, const char *target);

/* A quiet ConnectX port "tap0", as the programs that read it print it. */
void saved_machine_fill(const struct saved_machine *saved);
