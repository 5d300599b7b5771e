#pragma once

#include <stdbool.h>

/* From now on SIGINT and SIGTERM only set a flag, once; the next one ends the program as ever. */
void ft_interrupt_catch(void);
bool ft_interrupted(void);
