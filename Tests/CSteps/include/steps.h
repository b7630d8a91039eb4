/// Counts the instructions that a thread executes, one by one.
///
/// The processor is told to trap after each (Intel SDM, volume 3, "Single-Step Exception": the flag TF), so that the count
/// depends on nothing but the code and its input: neither on the clock nor on what else the machine does. It works wherever
/// x86-64 does, in virtual machines and containers too, which hide the processor's own counters. Each instruction costs some
/// microseconds.

#ifndef STEPS_H
#define STEPS_H

#include <stdbool.h>
#include <stdint.h>

/// Whether instructions can be counted here.
bool steps_can_be_counted(void);

/// Runs `work`, which stays on its thread, and returns how many instructions it took; those of the kernel are not among
/// them. At `limit` counting ends, and `work` runs on to its end at full speed.
uint64_t steps_of(void (*work)(void *), void *argument, uint64_t limit);

#endif
