import Foundation
import FuzzTargets

/// What libFuzzer calls with each input. The target is named by `DOORSTEP_FUZZ_TARGET`.
///
/// Source: LLVM, "libFuzzer – a library for coverage-guided fuzz testing".
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    target.read(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
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
