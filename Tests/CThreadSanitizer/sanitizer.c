#define _GNU_SOURCE

#include "sanitizer.h"

#include <dlfcn.h>
#include <sched.h>
#include <sanitizer/tsan_interface.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Nothing here is instrumented, not even atomics: the sanitizer would hear of an order that the program does not have.
#pragma clang attribute push(__attribute__((disable_sanitizer_instrumentation)), apply_to = function)

struct context;
typedef __attribute__((swiftasynccall)) void go_on(__attribute__((swift_async_context)) struct context *context);
typedef __attribute__((swiftcall)) void *initialize(struct context *context, size_t flags);

// As far as every version of the runtime has it (swift/ABI/Task.h, AsyncContext).
struct context {
    struct context *parent;
    go_on *resume_parent;
};

__attribute__((swiftcall)) void *swift_task_getCurrent(void);

// How each continuation goes on that has begun.
#define SLOTS (1 << 16)

static struct {
    _Atomic(struct context *) context;
    go_on *resume_parent;
} continuations[SLOTS];

static struct context being_written;

static size_t first_slot(const struct context *context) { return ((uintptr_t)context >> 4) * 2654435761u % SLOTS; }

static void remember(struct context *context) {
    for (size_t slot = first_slot(context);; slot = (slot + 1) % SLOTS) {
        struct context *nobody = NULL;
        if (atomic_compare_exchange_strong(&continuations[slot].context, &nobody, &being_written)) {
            continuations[slot].resume_parent = context->resume_parent;
            atomic_store(&continuations[slot].context, context);
            return;
        }
    }
}

static go_on *recall(struct context *context) {
    size_t slot = first_slot(context);
    while (atomic_load(&continuations[slot].context) != context) {
        slot = (slot + 1) % SLOTS;
    }
    go_on *resume_parent = continuations[slot].resume_parent;
    atomic_store(&continuations[slot].context, NULL);
    return resume_parent;
}

__attribute__((swiftasynccall)) static void acquire_and_go_on(
    __attribute__((swift_async_context)) struct context *context) {
    go_on *resume_parent = recall(context);
    // The runtime has released the task by this when its continuation was resumed.
    __tsan_acquire(swift_task_getCurrent());
    __attribute__((musttail)) return resume_parent(context);
}

static initialize *initialize_by_runtime;

__attribute__((swiftcall)) void *swift_continuation_init(struct context *context, size_t flags) {
    remember(context);
    context->resume_parent = acquire_and_go_on;
    return initialize_by_runtime(context, flags);
}

// The count of references is an object's second word (swift/shims/HeapObject.h). By its address the sanitizer is told of it, since
// by the object's own the runtime tells it of tasks, which are objects as well.
static int64_t *count_of(void *object) { return (int64_t *)object + 1; }

typedef bool is_unique(void *object);

static is_unique *is_unique_to_runtime;

// What a collection asks before it changes its storage in place.
bool swift_isUniquelyReferenced_nonNull_native(void *object) {
    if (!is_unique_to_runtime(object)) {
        return false;
    }
    __tsan_acquire(count_of(object));
    return true;
}

bool swift_isUniquelyReferenced_native(void *object) {
    return object != NULL && swift_isUniquelyReferenced_nonNull_native(object);
}

// Of several that let go of an object at once, one is the last, and destroys it after the others have: they take turns.
static atomic_flag turns[1 << 12];

// The standard library takes none. So an object may be destroyed in a turn after all, and let go of others.
static _Thread_local bool has_turn;

static atomic_flag *take_turn(const void *object) {
    if (has_turn) {
        return NULL;
    }
    atomic_flag *turn = &turns[((uintptr_t)object >> 4) % (1 << 12)];
    while (atomic_flag_test_and_set(turn)) {
        sched_yield();
    }
    has_turn = true;
    return turn;
}

static void end_turn(atomic_flag *turn) {
    if (turn != NULL) {
        has_turn = false;
        atomic_flag_clear(turn);
    }
}

// On aarch64 the runtime's own callers may expect more registers kept than C keeps (swift/shims/RefCount.h, SWIFT_REFCOUNT_CC);
// there it was not tried. On x86-64 they expect those of C, by what is in the library.
#if defined(__aarch64__)
#define LETS_GO __attribute__((preserve_most))
#else
#define LETS_GO
#endif

typedef void let_go(void *reference);

static let_go *release_by_runtime;
static let_go *bridge_release_by_runtime;

LETS_GO static void let_go_of(void *reference, let_go *by_runtime) {
    // As the runtime: others are values that only look like an object.
    if ((intptr_t)reference <= 0) {
        return;
    }
    // Without the bits in which a bridge object has more to say.
    void *object = (void *)((uintptr_t)reference & 0x00FFFFFFFFFFFFF8);
    atomic_flag *turn = take_turn(object);
    if (is_unique_to_runtime(object)) {
        end_turn(turn);
        __tsan_acquire(count_of(object));
        // Of a table beside the object, as one has that is held weakly: who holds it so may still take it.
        if (*count_of(object) < 0) {
            __tsan_release(count_of(object));
        }
        by_runtime(reference);
    } else {
        __tsan_release(count_of(object));
        by_runtime(reference);
        end_turn(turn);
    }
}

LETS_GO void swift_release(void *object) { let_go_of(object, release_by_runtime); }

void swift_release_n(void *object, uint32_t count) {
    for (; count > 0; count--) {
        let_go_of(object, release_by_runtime);
    }
}

void swift_bridgeObjectRelease(void *reference) { let_go_of(reference, bridge_release_by_runtime); }

void swift_bridgeObjectRelease_n(void *reference, uint32_t count) {
    for (; count > 0; count--) {
        let_go_of(reference, bridge_release_by_runtime);
    }
}

void swift_errorRelease(void *error) { let_go_of(error, release_by_runtime); }

static void find_what_is_replaced(void) {
    initialize_by_runtime = (initialize *)dlsym(RTLD_NEXT, "swift_continuation_init");
    is_unique_to_runtime = (is_unique *)dlsym(RTLD_NEXT, "swift_isUniquelyReferenced_nonNull_native");
    release_by_runtime = (let_go *)dlsym(RTLD_NEXT, "swift_release");
    bridge_release_by_runtime = (let_go *)dlsym(RTLD_NEXT, "swift_bridgeObjectRelease");
}

// Before the libraries' own constructors, which let go of objects.
__attribute__((section(".preinit_array"), used)) static void (*const before_all_constructors)(void) = find_what_is_replaced;

void __wrap___tsan_external_write(void *address, void *caller, void *tag) {
    (void)address;
    (void)caller;
    (void)tag;
}

#pragma clang attribute pop
