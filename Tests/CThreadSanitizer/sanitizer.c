#define _GNU_SOURCE

#include "sanitizer.h"

#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define NOT_SANITIZED __attribute__((no_sanitize("thread")))

struct context;
typedef __attribute__((swiftasynccall)) void go_on(__attribute__((swift_async_context)) struct context *context);
typedef __attribute__((swiftcall)) void *initialize(struct context *context, size_t flags);

// As far as every version of the runtime has it (swift/ABI/Task.h, AsyncContext).
struct context {
    struct context *parent;
    go_on *resume_parent;
};

__attribute__((swiftcall)) void *swift_task_getCurrent(void);

// How each continuation goes on that has begun. By locks the sanitizer would hear of an order that there is not.
#define SLOTS (1 << 16)

static struct {
    _Atomic(struct context *) context;
    go_on *resume_parent;
} continuations[SLOTS];

static struct context being_written;

static size_t first_slot(const struct context *context) { return ((uintptr_t)context >> 4) * 2654435761u % SLOTS; }

NOT_SANITIZED static void remember(struct context *context) {
    for (size_t slot = first_slot(context);; slot = (slot + 1) % SLOTS) {
        struct context *nobody = NULL;
        if (atomic_compare_exchange_strong(&continuations[slot].context, &nobody, &being_written)) {
            continuations[slot].resume_parent = context->resume_parent;
            atomic_store(&continuations[slot].context, context);
            return;
        }
    }
}

NOT_SANITIZED static go_on *recall(struct context *context) {
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

__attribute__((constructor)) static void find(void) {
    initialize_by_runtime = (initialize *)dlsym(RTLD_NEXT, "swift_continuation_init");
}

__attribute__((swiftcall)) void *swift_continuation_init(struct context *context, size_t flags) {
    remember(context);
    context->resume_parent = acquire_and_go_on;
    return initialize_by_runtime(context, flags);
}

void __wrap___tsan_external_write(void *address, void *caller, void *tag) {
    (void)address;
    (void)caller;
    (void)tag;
}
