# How every library, program and test of the project is compiled.

set(FT_WARNINGS -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror)

# gcc's undefined behaviour traps, and the address sanitizer tells at which line. To tell what was wrong there takes a record per
# place, 52 909 in the program, each of which gcc guards like a variable: at every start of the program all are marked, at every
# end they are searched for leaks. clang guards none of its own.
set(FT_SANITIZERS -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
	$<$<C_COMPILER_ID:GNU>:-fsanitize-undefined-trap-on-error>)

# How often each branch of the program is taken: counted by one build, told to the compiler by another (tests/bench/train).
# Both name counts by the place of an object in its build directory, and what no training reached is compiled as without.
set(FT_COUNTING -fprofile-generate -fprofile-update=atomic -fprofile-prefix-path=${CMAKE_BINARY_DIR}
	-fprofile-dir=${CMAKE_BINARY_DIR}/profile)
set(FT_PROFILED -fprofile-use=${FT_PROFILE} -fprofile-partial-training -fprofile-prefix-path=${CMAKE_BINARY_DIR}
	-Wno-missing-profile)

function(ft_profile target)
	if(FT_COUNT)
		target_compile_options(${target} PRIVATE ${FT_COUNTING})
		target_link_options(${target} PRIVATE ${FT_COUNTING})
	elseif(FT_PROFILE)
		target_compile_options(${target} PRIVATE ${FT_PROFILED})
	endif()
endfunction()

# What sanitizers tell of each place in the source is full of addresses: a program that may lie anywhere would correct them all
# whenever it starts, and tests start it thousands of times.
function(ft_fixed_place target)
	get_target_property(type ${target} TYPE)
	if(FT_SANITIZE AND type STREQUAL "EXECUTABLE")
		target_link_options(${target} PRIVATE -no-pie)
	endif()
endfunction()

# What makes the address sanitizer tell where a trap was, and not leave it to cmocka, which tells the test alone.
if(FT_SANITIZE)
	add_library(trap_told OBJECT ${PROJECT_SOURCE_DIR}/tests/cmake/trap_told.c)
	target_compile_options(trap_told PRIVATE ${FT_WARNINGS})
endif()

function(ft_trap_told target)
	get_target_property(type ${target} TYPE)
	if(FT_SANITIZE AND type STREQUAL "EXECUTABLE")
		target_sources(${target} PRIVATE $<TARGET_OBJECTS:trap_told>)
	endif()
endfunction()

# A line fetched to be written is then taken from other cores at once. x86 that cannot does nothing instead.
check_c_compiler_flag(-mprfchw FT_PREFETCHES_TO_WRITE)

function(ft_flags target)
	target_compile_options(${target} PRIVATE ${FT_WARNINGS} $<$<BOOL:${FT_PREFETCHES_TO_WRITE}>:-mprfchw>)
	ft_profile(${target})
	target_compile_definitions(${target} PRIVATE _GNU_SOURCE FT_VERSION="${PROJECT_VERSION}")
	if(FT_SANITIZE OR FT_FUZZ)
		target_compile_options(${target} PRIVATE ${FT_SANITIZERS})
		target_link_options(${target} PRIVATE ${FT_SANITIZERS})
	endif()
	ft_fixed_place(${target})
	ft_trap_told(${target})
	if(FT_FUZZ)
		target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
	endif()
endfunction()

# ft_library(NAME sources... ): a static library whose only public path is its own include/
function(ft_library name)
	add_library(${name} STATIC ${ARGN})
	target_include_directories(${name} PUBLIC include PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
	ft_flags(${name})
endfunction()

# ft_test_parts(NAME LIBRARIES sources...): what several tests are made of, compiled once; may do all that a test may.
function(ft_test_parts name libraries)
	add_library(${name} STATIC EXCLUDE_FROM_ALL ${ARGN})
	ft_flags(${name})
	target_compile_options(${name} PRIVATE -UNDEBUG)
	target_compile_definitions(${name} PRIVATE FT_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
	target_include_directories(${name} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
	target_link_libraries(${name} PUBLIC ${libraries} PkgConfig::CMOCKA)
endfunction()

# ft_test(NAME LIBRARIES sources...): a cmocka program; LIBRARIES is a ;-list in quotes.
# It may read FT_TEST_DATA (tests/data) and the environment variable FT_SHARED.
function(ft_test name libraries)
	add_executable(${name} ${ARGN})
	ft_flags(${name})
	target_compile_options(${name} PRIVATE -UNDEBUG) # a test asserts in every build
	target_compile_definitions(${name} PRIVATE FT_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
	target_link_libraries(${name} PRIVATE ${libraries} PkgConfig::CMOCKA)
	add_test(NAME ${name} COMMAND ${name})
endfunction()

# ft_holds(NAME LIBRARIES CORPUS sources...): one promise as a function,
#     void ft_holds(const uint8_t *bytes, size_t size);
# run over the corpus and random bytes in the tests (NAME), and by libFuzzer with -DFT_FUZZ=ON (fuzz_NAME). `./dev test` does
# both with sanitizers, by two compilers, and not without them (FT_HOLDS=OFF).
function(ft_holds name libraries corpus)
	if(FT_FUZZ)
		add_executable(fuzz_${name} $<TARGET_OBJECTS:entry> ${ARGN})
		target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
		ft_flags(fuzz_${name})
		target_link_libraries(fuzz_${name} PRIVATE ${libraries})
		set_property(GLOBAL APPEND PROPERTY FT_FUZZ_TARGETS "fuzz_${name} ${corpus}")
	elseif(FT_HOLDS)
		add_executable(${name}_holds $<TARGET_OBJECTS:entry> ${ARGN})
		ft_flags(${name}_holds)
		target_compile_options(${name}_holds PRIVATE -UNDEBUG)
		target_link_libraries(${name}_holds PRIVATE ${libraries})
		add_test(NAME ${name}_holds COMMAND ${name}_holds ${corpus})
		set_tests_properties(${name}_holds PROPERTIES LABELS sanitized)
	endif()
endfunction()
