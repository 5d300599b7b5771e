#pragma once

#include <unistd.h>

/*
 * Where memory ends and what is under way can be neither finished nor given up in good order: one line, and the exit
 * status of what could not be done.
 */
_Noreturn static inline void ft_no_memory(void)
{
	static const char why[] = "fabtap: out of memory\n";

	(void)!write(STDERR_FILENO, why, sizeof why - 1);
	_exit(2);
}
