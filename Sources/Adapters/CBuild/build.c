#include "CBuild.h"

#define TEXT_OF(value) #value
#define TEXT(value) TEXT_OF(value)

const char *build_commit(void) { return TEXT(DOORSTEP_COMMIT); }
const char *build_date(void) { return TEXT(DOORSTEP_COMMIT_DATE); }
