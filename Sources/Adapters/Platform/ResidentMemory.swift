import Foundation
import Glibc

/// The memory of this process that is in use.
public enum ResidentMemory {
    /// In bytes. (proc_pid_status(5), VmRSS)
    public static func now() throws -> Int { try read("VmRSS") }

    /// The most there was. (VmHWM)
    public static func peak() throws -> Int { try read("VmHWM") }

    private static func read(_ field: String) throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        for line in status.split(separator: "\n") where line.hasPrefix(field + ":") {
            let words = line.split(whereSeparator: \.isWhitespace)
            if words.count == 3, let kibibytes = Int(words[1]) { return kibibytes * 1_024 }
        }
        throw CocoaError(.fileReadCorruptFile)
    }

    /// Returns freed memory to the system, which the C library otherwise keeps for later allocations. (malloc_trim(3))
    ///
    /// The C library does so by itself only at the end of its main heap; pages between live allocations stay resident.
    public static func trim() {
        // Swift's module of the C library leaves this function out.
        guard let address = dlsym(nil, "malloc_trim") else { return }
        typealias Function = @convention(c) (Int) -> CInt
        _ = unsafeBitCast(address, to: Function.self)(0)
    }
}
