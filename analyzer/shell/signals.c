#include "signals.h"

#include <signal.h>
#include <stddef.h>

static const int numbers[FT_REQUESTS] = {
	[FT_REQUEST_REPORT] = SIGUSR1,
	[FT_REQUEST_FLUSH] = SIGUSR2,
	[FT_REQUEST_RELOAD] = SIGHUP,
};

static volatile sig_atomic_t requested[FT_REQUESTS];

static void note(int number)
{
	for (int i = 0; i < FT_REQUESTS; i++)
		if (numbers[i] == number)
			requested[i] = 1;
}

void ft_requests_catch(void)
{
	const struct sigaction action = { .sa_handler = note, .sa_flags = SA_RESTART };

	for (int i = 0; i < FT_REQUESTS; i++)
		sigaction(numbers[i], &action, NULL);
}

bool ft_requested(enum ft_request request)
{
	return requested[request] != 0;
}

bool ft_request_take(enum ft_request request)
{
	bool was = requested[request] != 0;

	requested[request] = 0;
	return was;
}
