import APNsPayload
public import Formats
import Foundation

extension Rule {
    /// Reads a rule.
    ///
    /// The members are: `effect` (`pass`, `response`, `never`, `reset`, `cut`, `goaway`, `streams`, `refuse-tls` or `slow-start`;
    /// the default is `response` if there is a `reason`, otherwise `pass`), `reason` (of `response` and `goaway`), `timestamp` (of
    /// a 410, in milliseconds since 1970), `code` (of `reset`; the default is 7, REFUSED_STREAM), `accepting` (of `goaway`), and
    /// `count` (of `streams`). All rules may have `delayMilliseconds`, `times`, `probability`, `seed` and `device`.
    ///
    /// - Throws: `JSONFieldError` with the invalid member.
    public init(json: JSONValue) throws(JSONFieldError) {
        var reader = try JSONObjectReader(json)
        let reason = try reader.optionalString("reason")
        let name =
            try reader.optionalCase("effect", of: EffectName.self) ?? (reason == nil ? .pass : .response)
        let effect: Effect
        switch name {
        case .pass: effect = .pass
        case .response:
            let milliseconds = try reader.optionalDouble("timestamp")
            guard let reason else {
                throw .invalid(path: reader.path(of: "reason"), reason: "is required for a response")
            }
            effect = .response(
                APNsReason(rawValue: reason),
                invalidSince: milliseconds.map { Date(timeIntervalSince1970: $0 / 1_000) })
        case .never: effect = .never
        case .reset: effect = .reset(code: try Self.number("code", 0...0xFFFF, of: &reader) ?? 7)
        case .cut: effect = .cut
        case .goAway:
            effect = .goAway(
                reason: reason ?? "Shutdown", accepting: try reader.optionalBool("accepting") ?? false)
        case .streams:
            guard let count = try Self.number("count", 0...0x7FFF_FFFF, of: &reader) else {
                throw .invalid(path: reader.path(of: "count"), reason: "must be given for streams")
            }
            effect = .streams(count)
        case .refuseTLS: effect = .refuseTLS
        case .slowStart: effect = .slowStart
        }
        let delay = try Self.number("delayMilliseconds", 0...86_400_000, of: &reader) ?? 0
        let times = try Self.number("times", 1...Int.max, of: &reader)
        let probability = try reader.optionalDouble("probability") ?? 1
        guard (0...1).contains(probability) else {
            throw .invalid(path: reader.path(of: "probability"), reason: "must be from 0 to 1")
        }
        let seed = try Self.number("seed", 0...Int.max, of: &reader) ?? 0
        let device = try reader.optionalString("device")?.lowercased()
        try reader.finish()
        self.init(
            effect, delay: .milliseconds(delay), times: times, probability: probability, seed: UInt64(seed),
            device: device)
    }

    /// The JSON of the rule, in the form in which it is read.
    public var json: JSONObject {
        var object: JSONObject = [:]
        switch effect {
        case .pass: object["effect"] = "pass"
        case .response(let reason, let since):
            object["effect"] = "response"
            object["reason"] = .string(reason.rawValue)
            if let since {
                object["timestamp"] = JSONValue(Int((since.timeIntervalSince1970 * 1_000).rounded()))
            }
        case .never: object["effect"] = "never"
        case .reset(let code):
            object["effect"] = "reset"
            object["code"] = JSONValue(code)
        case .cut: object["effect"] = "cut"
        case .goAway(let reason, let accepting):
            object["effect"] = "goaway"
            object["reason"] = .string(reason)
            object["accepting"] = .bool(accepting)
        case .streams(let count):
            object["effect"] = "streams"
            object["count"] = JSONValue(count)
        case .refuseTLS: object["effect"] = "refuse-tls"
        case .slowStart: object["effect"] = "slow-start"
        }
        if delay > .zero { object["delayMilliseconds"] = JSONValue(Int(delay / .milliseconds(1))) }
        if let times { object["times"] = JSONValue(times) }
        if probability < 1 { object["probability"] = JSONValue(finite: probability) }
        if seed > 0 { object["seed"] = JSONValue(Int(clamping: seed)) }
        if let device { object["device"] = .string(device) }
        return object
    }

    private enum EffectName: String, CaseIterable {
        case pass
        case response
        case never
        case reset
        case cut
        case goAway = "goaway"
        case streams
        case refuseTLS = "refuse-tls"
        case slowStart = "slow-start"
    }

    private static func number(
        _ key: String, _ range: ClosedRange<Int>, of reader: inout JSONObjectReader
    ) throws(JSONFieldError) -> Int? {
        guard let value = try reader.optionalInteger(key) else { return nil }
        guard range.contains(value) else {
            throw .invalid(
                path: reader.path(of: key), reason: "must be from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }
}
