#include "cmocka_headers.h"

#include "written_json.h"

json_t *written_json(struct written *written)
{
	json_error_t error;
	json_t *document = json_loads(written_close(written), JSON_REJECT_DUPLICATES, &error);

	if (document == NULL)
		fail_msg("line %d: %s", error.line, error.text);
	written_free(written);
	return document;
}

void is_json(json_t *value, const char *expected)
{
	json_t *wanted = json_loads(expected, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);

	assert_non_null(wanted);
	if (!json_equal(value, wanted)) {
		char *text = json_dumps(value, JSON_ENCODE_ANY);

		fail_msg("%s\n  is not %s", text, expected);
	}
	json_decref(wanted);
}
