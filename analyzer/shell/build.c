#include "build.h"

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

#ifdef __OPTIMIZE__
#define OPTIMISED "optimised"
#else
#define OPTIMISED "not optimised"
#endif

#ifdef NDEBUG
#define ASSERTIONS "no assertions"
#else
#define ASSERTIONS "assertions"
#endif

#ifdef __SANITIZE_ADDRESS__
#define SANITIZERS ", address sanitizer"
#else
#define SANITIZERS ""
#endif

const char *ft_build_version(void)
{
	return FT_VERSION;
}

const char *ft_build_text(void)
{
	return COMPILER ", " OPTIMISED ", " ASSERTIONS SANITIZERS;
}
