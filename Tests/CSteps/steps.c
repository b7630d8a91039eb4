#define _GNU_SOURCE

#include "steps.h"

#if defined(__x86_64__) && defined(__linux__)

#include <signal.h>
#include <stddef.h>
#include <ucontext.h>

#define TRAP_FLAG 0x100

static struct sigaction before;
static __thread volatile uint64_t count;
static __thread volatile uint64_t last;

static void step(int signal, siginfo_t *info, void *context) {
    if (info->si_code != TRAP_TRACE) {
        // A breakpoint, or somebody's abort: as if there were no handler.
        sigaction(signal, &before, NULL);
        raise(signal);
        return;
    }
    if (++count >= last) {
        ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
    }
}

__attribute__((constructor)) static void prepare(void) {
    struct sigaction action = {.sa_sigaction = step, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    sigaction(SIGTRAP, &action, &before);
}

bool steps_can_be_counted(void) { return true; }

// What lies below the stack pointer may be in use (System V ABI, the red zone).
static inline __attribute__((always_inline)) void start_trapping(void) {
    __asm__ volatile("leaq -128(%%rsp), %%rsp\n\tpushfq\n\torq %0, (%%rsp)\n\tpopfq\n\tleaq 128(%%rsp), %%rsp"
                     :
                     : "i"(TRAP_FLAG)
                     : "memory", "cc");
}

static inline __attribute__((always_inline)) void stop_trapping(void) {
    __asm__ volatile("leaq -128(%%rsp), %%rsp\n\tpushfq\n\tandq %0, (%%rsp)\n\tpopfq\n\tleaq 128(%%rsp), %%rsp"
                     :
                     : "i"(~TRAP_FLAG)
                     : "memory", "cc");
}

uint64_t steps_of(void (*work)(void *), void *argument, uint64_t limit) {
    count = 0;
    last = limit;
    start_trapping();
    work(argument);
    stop_trapping();
    return count;
}

#else

bool steps_can_be_counted(void) { return false; }

uint64_t steps_of(void (*work)(void *), void *argument, uint64_t limit) {
    (void)limit;
    work(argument);
    return 0;
}

#endif
