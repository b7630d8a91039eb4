import Foundation

/// The name of this machine.
public enum MachineName {
    /// The name that the system has, without a question to DNS; "unknown" without a name.
    public static let current: String = {
        // POSIX: at most 255 bytes.
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0 else { return "unknown" }
        let name = bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return String(validating: name, as: UTF8.self).flatMap { $0.isEmpty ? nil : $0 } ?? "unknown"
    }()
}
