import Foundation
import JSON

/// The result of one check of a set-up.
struct DoctorFinding: Sendable {
    enum Status: String, Sendable {
        case ok
        /// A server runs, but something is missing or will fail.
        case warning
        /// A server does not run, or a part of it does not work.
        case failed
    }

    let check: String
    let status: Status
    let detail: String
    /// What to do; nil if nothing is to be done.
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

    /// One line, and a second one that says what to do.
    var text: String {
        let width = Status.warning.rawValue.count
        let name = status.rawValue.padding(toLength: width, withPad: " ", startingAt: 0)
        return "\(name)  \(check): \(detail)"
            + (remedy.map { "\n\(String(repeating: " ", count: width))  → \($0)" } ?? "")
    }
}
