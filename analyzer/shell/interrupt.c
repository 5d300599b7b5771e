#include "interrupt.h"

#include <signal.h>

static volatile sig_atomic_t interrupted;

static void note(int number)
{
	(void)number;
	interrupted = 1;
}

static void catch_with(int flags)
{
	struct sigaction action = { .sa_handler = note, .sa_flags = (int)SA_RESETHAND | flags };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

void ft_interrupt_catch(void)
{
	catch_with(0);
}

void ft_interrupt_catch_writing(void)
{
	catch_with(SA_RESTART);
}

bool ft_interrupted(void)
{
	return interrupted;
}

const volatile sig_atomic_t *ft_interrupt_flag(void)
{
	return &interrupted;
}
