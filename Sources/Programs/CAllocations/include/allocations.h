/// Counts the heap allocations of this process.
///
/// Linked into an executable, this target stands in front of the C library's malloc, calloc, realloc,
/// posix_memalign and aligned_alloc, through which Swift's runtime and Foundation allocate too. Each call counts
/// once, a realloc as well; what is freed is not counted. The memory is the C library's own: the functions pass
/// on to glibc's `__libc_` entries, so this builds on glibc alone.
///
/// Calls on all threads are counted. While the count is stopped, an allocation costs one more load and a branch.

#ifndef ALLOCATIONS_H
#define ALLOCATIONS_H

/// Starts to count from zero.
void allocations_start(void);

/// Stops, and returns the allocations since the start.
unsigned long allocations_stop(void);

#endif
