#include "signature.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "document.h"

enum { SIGNATURE_SIZE = 64, KEY_SIZE = 32, MOST_KEY_FILE = 1 << 16, MOST_SIGNATURE_FILE = 1 << 12 };

/* "dir/map.json" -> "dir/map.sig" */
static char *signature_path(const char *map)
{
	const char *dot = strrchr(ft_base_name(map), '.');
	size_t stem = dot != NULL ? (size_t)(dot - map) : strlen(map);
	char *path = malloc(stem + sizeof ".sig");

	if (path != NULL) {
		memcpy(path, map, stem);
		memcpy(path + stem, ".sig", sizeof ".sig");
	}
	return path;
}

/* Base64 with white space anywhere; true if it is exactly one signature. */
static bool decode_signature(const struct ft_bytes *text, uint8_t signature[SIGNATURE_SIZE])
{
	enum { ENCODED = 88 };
	uint8_t compact[ENCODED], decoded[SIGNATURE_SIZE + 2];
	size_t length = 0;

	for (size_t i = 0; i < text->size; i++) {
		if (isspace(text->at[i]))
			continue;
		if (length == ENCODED)
			return false;
		compact[length++] = text->at[i];
	}
	/* 64 bytes are 86 digits and two "=", which decode to two more zero bytes */
	if (length != ENCODED || memcmp(compact + ENCODED - 2, "==", 2) != 0 ||
	    EVP_DecodeBlock(decoded, compact, ENCODED) != SIGNATURE_SIZE + 2)
		return false;
	memcpy(signature, decoded, SIGNATURE_SIZE);
	return true;
}

static EVP_PKEY *read_key(const char *path, int *failed)
{
	struct ft_bytes pem;
	EVP_PKEY *key = NULL;
	BIO *bio;

	*failed = ft_bytes_read(&pem, path, MOST_KEY_FILE);
	if (*failed != 0)
		return NULL;
	bio = BIO_new_mem_buf(pem.at, (int)pem.size);
	if (bio != NULL)
		key = PEM_read_bio_PUBKEY(bio, NULL, NULL, NULL);
	BIO_free(bio);
	ft_bytes_release(&pem);
	if (key != NULL && EVP_PKEY_get_id(key) == EVP_PKEY_ED25519)
		return key;
	EVP_PKEY_free(key);
	ERR_clear_error();
	*failed = -EINVAL;
	return NULL;
}

static bool verified(EVP_PKEY *key, const uint8_t signature[SIGNATURE_SIZE],
		     const struct ft_bytes *bytes)
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	bool right =
		context != NULL && EVP_DigestVerifyInit(context, NULL, NULL, NULL, key) == 1 &&
		EVP_DigestVerify(context, signature, SIGNATURE_SIZE, bytes->at, bytes->size) == 1;

	EVP_MD_CTX_free(context);
	ERR_clear_error();
	return right;
}

static void name_signer(struct ft_builder *builder, EVP_PKEY *key, const char *path)
{
	uint8_t raw[KEY_SIZE];
	size_t size = sizeof raw;
	char hex[65];

	if (EVP_PKEY_get_raw_public_key(key, raw, &size) != 1)
		size = 0;
	ft_bytes_sha256(raw, size, hex);
	snprintf(builder->declared->signed_by, sizeof builder->declared->signed_by,
		 "%.40s (sha256 %.16s)", ft_base_name(path), hex);
}

/* What can be wrong with the signature's file; behind the words stands the key's. */
struct fault {
	const char *code, *words;
};

static const struct fault missing = { "signature-missing",
				      "cannot be read, so nothing signs this map by the key of" };
static const struct fault malformed = {
	"signature-malformed",
	"holds no signature in base64, so nothing signs this map by the key of"
};
static const struct fault mismatch = { "signature-mismatch",
				       "does not sign this map by the key of" };

/* What is wrong, or NULL. */
static const struct fault *judge(EVP_PKEY *key, const char *path, const struct ft_bytes *bytes)
{
	uint8_t signature[SIGNATURE_SIZE];
	struct ft_bytes text;
	bool decoded;

	if (ft_bytes_read(&text, path, MOST_SIGNATURE_FILE) != 0)
		return &missing;
	decoded = decode_signature(&text, signature);
	ft_bytes_release(&text);
	if (!decoded)
		return &malformed;
	return verified(key, signature, bytes) ? NULL : &mismatch;
}

int ft_signature_check(struct ft_builder *builder, const char *map, const struct ft_bytes *bytes,
		       const char *key_path)
{
	int failed;
	EVP_PKEY *key = read_key(key_path, &failed);
	char *path = signature_path(map);
	const struct fault *wrong;

	if (key == NULL || path == NULL) {
		EVP_PKEY_free(key);
		free(path);
		return key == NULL ? failed : -ENOMEM;
	}
	wrong = judge(key, path, bytes);
	if (wrong == NULL)
		name_signer(builder, key, key_path);
	else
		ft_diagnose(
			builder, FT_ERROR, wrong->code,
			(struct ft_origin){ .path = ft_builder_text(builder, ft_base_name(path),
								    strlen(ft_base_name(path))) },
			"%s %s", wrong->words, ft_base_name(key_path));
	free(path);
	EVP_PKEY_free(key);
	return 0;
}
