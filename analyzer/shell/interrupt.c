#include "interrupt.h"

#include <signal.h>

static volatile sig_atomic_t interrupted;

static void note(int number)
{
	(void)number;
	interrupted = 1;
}

void ft_interrupt_catch(void)
{
	struct sigaction action = { .sa_handler = note, .sa_flags = (int)SA_RESETHAND };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

bool ft_interrupted(void)
{
	return interrupted;
}
