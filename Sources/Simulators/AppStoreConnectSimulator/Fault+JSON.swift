public import Formats

extension Fault {
    /// Reads a fault.
    ///
    /// The members are: `effect` (`pass`, `response`, `cut`, `lose-reply`, `truncate`, `repeat-row`, `omit-row`; the default is
    /// `response` if there is a `status`, otherwise `pass`), and `status`, `code` and `retryAfter` (of `response`). All faults may
    /// have `delayMilliseconds`, `times`, `probability`, `seed`, `method` and `path`.
    ///
    /// - Throws: `JSONFieldError` with the invalid member.
    public init(json: JSONValue) throws(JSONFieldError) {
        var reader = try JSONObjectReader(json)
        let status = try Self.number("status", 400...599, of: &reader)
        let code = try reader.optionalString("code")
        let retryAfter = try Self.number("retryAfter", 0...86_400, of: &reader)
        switch try reader.optionalCase("effect", of: EffectName.self) ?? (status == nil ? .pass : .response) {
        case .pass: self.init(.pass)
        case .response:
            guard let status else {
                throw .invalid(path: "status", reason: "is required for a response")
            }
            self.init(.response(status: status, code: code ?? "UNEXPECTED_ERROR", retryAfter: retryAfter))
        case .cut: self.init(.cut)
        case .loseReply: self.init(.loseReply)
        case .truncate: self.init(.truncate)
        case .repeatRow: self.init(.repeatRow)
        case .omitRow: self.init(.omitRow)
        }
        delay = .milliseconds(try Self.number("delayMilliseconds", 0...86_400_000, of: &reader) ?? 0)
        times = try Self.number("times", 1...Int.max, of: &reader)
        probability = try reader.optionalDouble("probability") ?? 1
        guard (0...1).contains(probability) else {
            throw .invalid(path: "probability", reason: "must be from 0 to 1")
        }
        seed = try reader.optionalInteger("seed") ?? 0
        method = try reader.optionalString("method")
        path = try reader.optionalString("path") ?? ""
        try reader.finish()
    }

    /// The JSON of the fault, in the form in which it is read.
    public var json: JSONObject {
        var object: JSONObject = ["effect": .string(name.rawValue), "path": .string(path)]
        if case .response(let status, let code, let retryAfter) = effect {
            object["status"] = JSONValue(status)
            object["code"] = .string(code)
            object["retryAfter"] = retryAfter.map { JSONValue($0) }
        }
        if delay > .zero { object["delayMilliseconds"] = JSONValue(Int(delay / .milliseconds(1))) }
        object["times"] = times.map { JSONValue($0) }
        if probability < 1 { object["probability"] = JSONValue(finite: probability) }
        if seed != 0 { object["seed"] = JSONValue(seed) }
        object["method"] = method.map(JSONValue.string)
        return object
    }

    private enum EffectName: String, CaseIterable {
        case pass
        case response
        case cut
        case loseReply = "lose-reply"
        case truncate
        case repeatRow = "repeat-row"
        case omitRow = "omit-row"
    }

    private var name: EffectName {
        switch effect {
        case .pass: .pass
        case .response: .response
        case .cut: .cut
        case .loseReply: .loseReply
        case .truncate: .truncate
        case .repeatRow: .repeatRow
        case .omitRow: .omitRow
        }
    }

    private static func number(
        _ key: String, _ range: ClosedRange<Int>, of reader: inout JSONObjectReader
    ) throws(JSONFieldError) -> Int? {
        guard let value = try reader.optionalInteger(key) else { return nil }
        guard range.contains(value) else {
            throw .invalid(path: key, reason: "must be from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }
}
