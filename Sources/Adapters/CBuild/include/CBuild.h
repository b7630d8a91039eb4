#ifndef CBUILD_H
#define CBUILD_H

/// The commit that the binary was built from, and the day of the commit; each "unknown" where the build did not set it.
///
/// Package.swift takes both from the environment. They are in C, so that another commit compiles this module alone.
const char *build_commit(void);
const char *build_date(void);

#endif
