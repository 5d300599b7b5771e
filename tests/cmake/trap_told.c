#include <sanitizer/asan_interface.h>

const char *__asan_default_options(void)
{
	return "handle_sigill=2";
}
