/// What the thread sanitizer hears of Swift programs otherwise than from the compiler and the runtime (Swift 6.3.1 on Linux).
///
/// Nobody calls this module: by being linked, its functions take the place of others.
///
/// - `swift_continuation_init`. Where a task has to wait for its continuation, the runtime says both that it is resumed and that it
///   goes on. Where the continuation was resumed before the task came to wait, it says the first alone, and a correct program is
///   reported, whose thread resumes a continuation with an object of its making. Each continuation that the program begins itself
///   is made to go on by a function that says the second.
/// - `swift_release`, `swift_isUniquelyReferenced_native` and their like. Who lets go of an object says so by its count of
///   references; who then has it alone may change it in place, as all collections do, or destroys it. Of that order the runtime
///   says nothing. It is said here of what the program and its libraries let go of, not of what the standard library does itself.
/// - `__tsan_external_write` (by the linker's `--wrap`). The compiler tells by it of each value that is passed `inout`, also of one
///   without bytes, as the system's random number generator is, of which the address is whatever stands in the register: the
///   sanitizer reports a race there, or crashes. Nothing is said instead. So a race is not seen that only code of the standard
///   library makes, as when two threads append to one text. An optimised program has much of that code in itself, and is seen:
///   two threads that append to one array are.

#ifndef SANITIZER_H
#define SANITIZER_H

#endif
