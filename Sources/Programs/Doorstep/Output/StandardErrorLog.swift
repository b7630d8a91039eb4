import Formats
import Foundation
import Glibc
import Logging
import Synchronization

/// Writes the log to standard error, one line for each event.
///
/// ``RepeatedLines`` limits repeated warnings and errors.
struct StandardErrorLog: LogHandler {
    private let label: String
    private let format: LogFormat
    private let repeated: RepeatedLines
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    /// Shared by the whole process, so that lines are not mixed.
    private static let turn = Mutex(())

    /// Makes this the log of the process.
    /// - Parameter format: Nil for the format that suits standard error.
    static func bootstrap(_ level: Logger.Level, _ format: LogFormat?) {
        let format = format ?? .standard(isTerminal: isatty(STDERR_FILENO) == 1)
        let repeated = RepeatedLines()
        LoggingSystem.bootstrap { label in
            StandardErrorLog(label: label, format: format, repeated: repeated, logLevel: level)
        }
    }

    private init(label: String, format: LogFormat, repeated: RepeatedLines, logLevel: Logger.Level) {
        self.label = label
        self.format = format
        self.repeated = repeated
        self.logLevel = logLevel
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
        if let own = event.metadata { all.merge(own) { $1 } }
        if let error = event.error { all["error"] = all["error"] ?? "\(error)" }
        var members = all.map { (name: $0.key, value: "\($0.value)") }.sorted { $0.name < $1.name }
        let message = "\(event.message)"
        if event.level >= .warning {
            let line = "\(event.level) \(label) \(message) \(members)"
            guard let heldBack = repeated.admit(line) else { return }
            if heldBack > 0 { members.append(("repeated", "\(heldBack)")) }
        }
        write(format.line(Date(), event.level.rawValue, label, event.source, message, members) + "\n")
    }

    private func write(_ line: String) {
        Self.turn.withLock { _ in
            var rest = Array(line.utf8)[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
                if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return }
            }
        }
    }
}
