public import Foundation

/// How a line of the log is written.
public enum LogFormat: String, CaseIterable, Sendable {
    /// `2026-11-26T10:57:11.123Z warning doorstep: key="a value" [Doorstep] message`, for people.
    case text
    /// `time=… level=warning … msg="…" key="a value"`.
    case logfmt
    /// One JSON object; all values are strings.
    case json

    /// The format of a log that goes to a terminal, or elsewhere.
    public static func standard(isTerminal: Bool) -> LogFormat { isTerminal ? .text : .json }

    /// One line, without its end.
    /// - Parameter metadata: sorted by name. A name that the format uses itself gets a `_` at its end.
    public func line(
        _ date: Date, _ level: String, _ label: String, _ source: String, _ message: String,
        _ metadata: [(name: String, value: String)]
    ) -> String {
        let time = date.rfc3339WithMilliseconds
        switch self {
        case .text:
            let values = metadata.map { " \(Self.name($0.name))=\(Self.value($0.value))" }.joined()
            return "\(time) \(level) \(label):\(values) [\(source)] \(Self.visible(message))"
        case .logfmt:
            let members = Self.members(
                [
                    ("time", time), ("level", level), ("logger", label), ("source", source),
                    ("msg", message),
                ], metadata)
            return members.map { "\(Self.name($0.name))=\(Self.value($0.value))" }.joined(separator: " ")
        case .json:
            let members = Self.members(
                [
                    ("time", time), ("level", level), ("logger", label), ("source", source),
                    ("message", message),
                ], metadata)
            return "{"
                + members.map { "\(JSONValue.string($0.name).text):\(JSONValue.string($0.value).text)" }
                .joined(separator: ",") + "}"
        }
    }

    private static func members(
        _ own: [(name: String, value: String)], _ metadata: [(name: String, value: String)]
    ) -> [(name: String, value: String)] {
        let reserved = Set(own.map(\.name))
        return own + metadata.map { (reserved.contains($0.name) ? $0.name + "_" : $0.name, $0.value) }
    }

    /// A name without blanks and the characters that end one.
    private static func name(_ text: String) -> String {
        String(text.map { $0.isWhitespace || $0 == "=" || $0 == "\"" ? "_" : $0 })
    }

    /// As it is, or between quotation marks with JSON's escapes.
    private static func value(_ text: String) -> String {
        let isBare =
            !text.isEmpty
            && text.unicodeScalars.allSatisfy {
                $0.value > 0x20 && $0.value != 0x7F && $0 != "\"" && $0 != "=" && $0 != "\\"
            }
        return isBare ? text : JSONValue.string(text).text
    }

    /// A message on one line.
    private static func visible(_ text: String) -> String {
        text.unicodeScalars.contains { $0.value < 0x20 } ? JSONValue.string(text).text : text
    }
}
