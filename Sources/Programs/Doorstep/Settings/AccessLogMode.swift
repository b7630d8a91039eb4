import HTTPAPI
import Logging

/// Whether each request has a log line, and whether it names the client's address.
enum AccessLogMode: String, CaseIterable, Sendable {
    case off
    /// Lines contain the client's network.
    case cut
    case full

    /// Nil for `off`. The log of the process has the lines, under a separate label.
    var log: AccessLog? {
        guard self != .off else { return nil }
        return AccessLog(Logger(label: "doorstep.access"), cutsAddresses: self == .cut)
    }
}
