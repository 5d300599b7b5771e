#pragma once

#include <signal.h>
#include <stdbool.h>

/* From now on SIGINT and SIGTERM only set a flag, once; the next one ends the program as ever. */
void ft_interrupt_catch(void);
/* The same, and what is being read or written then still is: for who waits for frames by poll() and the like alone. */
void ft_interrupt_catch_writing(void);
bool ft_interrupted(void);
/* The flag itself: not 0 once interrupted. */
const volatile sig_atomic_t *ft_interrupt_flag(void);
