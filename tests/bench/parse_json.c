#include <jansson.h>
#include <stdio.h>

/* Reference for loading a map: jansson reading the same file, and giving it back. */
int main(int argc, char **argv)
{
	json_error_t error;
	json_t *document;

	if (argc != 2) {
		fputs("usage: bench_parse_json FILE\n", stderr);
		return 2;
	}
	document = json_load_file(argv[1], JSON_REJECT_DUPLICATES, &error);
	if (document == NULL) {
		fprintf(stderr, "%s:%d: %s\n", argv[1], error.line, error.text);
		return 2;
	}
	printf("%zu\n", json_object_size(document));
	json_decref(document);
	return 0;
}
