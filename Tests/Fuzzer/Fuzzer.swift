import Dispatch
import Foundation
import FuzzTargets

/// What libFuzzer calls with each input. The target is named by `DOORSTEP_FUZZ_TARGET`.
///
/// Source: LLVM, "libFuzzer – a library for coverage-guided fuzz testing".
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    switch target.body {
    case .synchronous(let body): body(input)
    case .asynchronous(let body):
        let end = DispatchSemaphore(value: 0)
        Task.detached(executorPreference: CallingThread.executor) {
            await body(input)
            end.signal()
        }
        end.wait()
    }
    return 0
}

/// Runs a task where it is made: to hand each input to another thread would take longer than to read it.
private final class CallingThread: TaskExecutor {
    static let executor = CallingThread()

    func enqueue(_ job: consuming ExecutorJob) {
        job.runSynchronously(on: asUnownedTaskExecutor())
    }
}

private let target: FuzzTarget = {
    let name = ProcessInfo.processInfo.environment["DOORSTEP_FUZZ_TARGET"] ?? ""
    guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
        FileHandle.standardError.write(
            Data("DOORSTEP_FUZZ_TARGET: '\(name)' is none of \(FuzzTarget.all.map(\.name))\n".utf8))
        exit(64)
    }
    return target
}()
