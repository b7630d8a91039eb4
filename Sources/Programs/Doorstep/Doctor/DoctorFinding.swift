import Formats
import Foundation

/// The result of one check of a set-up.
struct DoctorFinding: Sendable {
    enum Status: String, Sendable {
        case ok
        /// A server runs, but something is missing or will fail later.
        case warning
        /// A server or a part of it does not work.
        case failed
    }

    let check: String
    let status: Status
    let detail: String
    /// The remedy; nil if nothing is to be done.
    let remedy: String?

    static func ok(_ check: String, _ detail: String) -> Self {
        Self(check: check, status: .ok, detail: detail, remedy: nil)
    }

    static func warning(_ check: String, _ detail: String, _ remedy: String) -> Self {
        Self(check: check, status: .warning, detail: detail, remedy: remedy)
    }

    static func failed(_ check: String, _ detail: String, _ remedy: String) -> Self {
        Self(check: check, status: .failed, detail: detail, remedy: remedy)
    }

    var json: JSONObject {
        var json: JSONObject = [
            "check": .string(check), "status": .string(status.rawValue), "detail": .string(detail),
        ]
        json["remedy"] = remedy.map(JSONValue.string)
        return json
    }

    /// One line with the result, and a second line with the remedy.
    var text: String {
        let width = Status.warning.rawValue.count
        let name = status.rawValue.padding(toLength: width, withPad: " ", startingAt: 0)
        return "\(name)  \(check): \(detail)"
            + (remedy.map { "\n\(String(repeating: " ", count: width))  → \($0)" } ?? "")
    }
}
