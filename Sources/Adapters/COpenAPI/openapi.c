#include "COpenAPI.h"

// Half a megabyte that the compiler copies (C23 6.10.4), where Swift's has minutes to do with as many literals.
static const unsigned char document[] = {
#embed "openapi.json"
};

const unsigned char *openapi_bytes(void) { return document; }

size_t openapi_length(void) { return sizeof document; }
