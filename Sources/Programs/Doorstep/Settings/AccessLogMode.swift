import HTTPAPI
import Logging

/// Whether each request has a log line, and whether it names the client's address.
enum AccessLogMode: String, CaseIterable, Sendable {
    case off
    /// With the client's network.
    case cut
    case full

    /// Nil for `off`. The lines go to the log of the process, under a label of their own.
    var log: AccessLog? {
        guard self != .off else { return nil }
        return AccessLog(Logger(label: "doorstep.access"), cutsAddresses: self == .cut)
    }
}
