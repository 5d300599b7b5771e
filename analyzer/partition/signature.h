#pragma once

#include "builder.h"
#include "source.h"

/*
 * Check the detached Ed25519 signature of a map: base64 in <stem>.sig beside it, over the exact
 * bytes, by the public key in the PEM file `key`. A map that is unsigned or wrongly signed gets an
 * error (signature-missing, signature-malformed, signature-mismatch), a right one its `signed_by`:
 * key file and the first 16 digits of the SHA-256 of the 32-byte key.
 * 0, -ENOMEM, or what made the key unusable (-EINVAL: no Ed25519 public key).
 */
int ft_signature_check(struct ft_builder *builder, const char *map, const struct ft_bytes *bytes,
		       const char *key);
