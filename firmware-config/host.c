#include <firmware-config/host.h>

#include <link.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <unistd.h>

#include "files.h"

#define SECURE_BOOT "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

static void hexadecimal(const uint8_t *bytes, size_t count, char *text)
{
	for (size_t i = 0; i < count; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

static void hash(const void *bytes, size_t size, char text[FT_HASH_TEXT])
{
	uint8_t digest[32];

	if (EVP_Digest(bytes, size, digest, NULL, EVP_sha256(), NULL) == 1)
		hexadecimal(digest, sizeof digest, text);
}

static void hash_file(const struct ft_machine *machine, const char *path, char text[FT_HASH_TEXT])
{
	char whole[FT_PATH], piece[1 << 14];
	EVP_MD_CTX *state = EVP_MD_CTX_new();
	FILE *file = ft_machine_path(machine, whole, "%s", path) == 0 ? fopen(whole, "re") : NULL;
	size_t size = 1;
	bool done = state != NULL && EVP_DigestInit_ex(state, EVP_sha256(), NULL) == 1;
	uint8_t digest[32];

	while (file != NULL && done && size > 0) {
		size = fread(piece, 1, sizeof piece, file);
		done = EVP_DigestUpdate(state, piece, size) == 1;
	}
	if (file != NULL && done && !ferror(file) && EVP_DigestFinal_ex(state, digest, NULL) == 1)
		hexadecimal(digest, sizeof digest, text);
	if (file != NULL)
		fclose(file);
	EVP_MD_CTX_free(state);
}

/* An EFI variable: four bytes of attributes, then its value. */
static void read_secure_boot(const struct ft_machine *machine, struct ft_host_facts *facts)
{
	size_t size;
	char *variable = ft_machine_whole(machine, &size, "%s", SECURE_BOOT);

	if (variable != NULL && size == 5) {
		facts->secure_boot_known = true;
		facts->secure_boot = variable[4] == 1;
	}
	free(variable);
}

void ft_host_facts_read(const struct ft_machine *machine, struct ft_host_facts *facts)
{
	*facts = (struct ft_host_facts){ 0 };
	if (ft_machine_text(machine, facts->boot_id, sizeof facts->boot_id,
			    "proc/sys/kernel/random/boot_id") < 0)
		facts->boot_id[0] = '\0';
	if (ft_machine_text(machine, facts->kernel, sizeof facts->kernel,
			    "proc/sys/kernel/osrelease") < 0)
		facts->kernel[0] = '\0';
	hash_file(machine, "etc/machine-id", facts->machine_id_hash);
	hash_file(machine, "proc/cmdline", facts->cmdline_hash);
	read_secure_boot(machine, facts);
}

/* --- the program --- */

static bool take_build_id(const uint8_t *notes, size_t size, char text[FT_HASH_TEXT])
{
	size_t at = 0;

	while (at + sizeof(ElfW(Nhdr)) <= size) {
		ElfW(Nhdr) note;
		size_t name = at + sizeof note, content;

		memcpy(&note, notes + at, sizeof note);
		content = name + ((note.n_namesz + 3u) & ~3u);
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(notes + name, "GNU", 4) == 0 && 2 * note.n_descsz < FT_HASH_TEXT) {
			hexadecimal(notes + content, note.n_descsz, text);
			return true;
		}
		at = content + ((note.n_descsz + 3u) & ~3u);
	}
	return false;
}

/* The first object is the program itself. */
static int look_at_program(struct dl_phdr_info *object, size_t size, void *text)
{
	(void)size;
	for (unsigned i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &object->dlpi_phdr[i];
		uintptr_t place = object->dlpi_addr + header->p_vaddr;

		if (header->p_type == PT_NOTE &&
		    take_build_id((const uint8_t *)place, header->p_memsz, text))
			break;
	}
	return 1;
}

void ft_binary_facts_read(struct ft_binary_facts *facts)
{
	const struct ft_machine here = { "" };
	char path[FT_PATH];
	ssize_t size = readlink("/proc/self/exe", path, sizeof path);

	*facts = (struct ft_binary_facts){ 0 };
	if (size > 0)
		hash(path, (size_t)size, facts->path_hash);
	hash_file(&here, "proc/self/exe", facts->content_hash);
	dl_iterate_phdr(look_at_program, facts->build_id);
}

/* --- the clock --- */

void ft_clock_facts_read(const struct ft_machine *machine, struct ft_clock_facts *facts)
{
	struct timex clock = { 0 };

	*facts = (struct ft_clock_facts){ 0 };
	if (ft_machine_text(machine, facts->source, sizeof facts->source,
			    "sys/devices/system/clocksource/clocksource0/current_clocksource") < 0)
		facts->source[0] = '\0';
	if (!ft_machine_is_here(machine) || adjtimex(&clock) < 0)
		return;
	facts->known = true;
	facts->locked = (clock.status & STA_UNSYNC) == 0;
	facts->offset_ns = (clock.status & STA_NANO) != 0 ? clock.offset : 1000 * clock.offset;
}
