#ifndef COPENAPI_H
#define COPENAPI_H

#include <stddef.h>

/// The document that says what the API offers, openapi.json, as UTF-8.
const unsigned char *openapi_bytes(void);
size_t openapi_length(void);

#endif
