/// The lexical rules of Prometheus' text format 0.0.4.
///
/// Source: "Exposition formats" and "Data model" of the Prometheus documentation.
enum PrometheusText {
    /// A name of a metric or label: `[a-zA-Z_][a-zA-Z0-9_]*`. `_` replaces every other character.
    ///
    /// Colons are reserved for recording rules, as Prometheus recommends.
    static func name(_ text: String) -> String {
        if isName(text) { return text }
        var name = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "0"..."9" where name.isEmpty: name += "_\(scalar)"
            case "a"..."z", "A"..."Z", "0"..."9": name.unicodeScalars.append(scalar)
            default: name += "_"
            }
        }
        return name.isEmpty ? "_" : name
    }

    /// Whether the name needs no replacement, which is usual.
    private static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, !isDigit(first) else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "_"):
                true
            default: isDigit(byte)
            }
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// Labels as they are written between braces, sorted by name.
    ///
    /// An empty value means the same as no label, so it is left out. Of several labels with one name, the first one counts.
    /// - Parameter reserved: A name that callers cannot use. `_` is appended to such a label.
    static func labels(_ dimensions: [(String, String)], reserved: String?) -> String {
        var labels: [(name: String, value: String)] = []
        for (label, value) in dimensions where !value.isEmpty {
            let name = labelName(label, reserved: reserved)
            if !labels.contains(where: { $0.name == name }) { labels.append((name, value)) }
        }
        labels.sort { $0.name < $1.name }
        var text = ""
        for label in labels {
            if !text.isEmpty { text += "," }
            text += label.name
            text += "=\""
            appendEscaped(label.value, to: &text)
            text += "\""
        }
        return text
    }

    /// Prometheus reserves names that begin with two underscores.
    private static func labelName(_ text: String, reserved: String?) -> String {
        let name = name(text)
        if name == reserved { return name + "_" }
        return name.hasPrefix("__") ? "_" + name.drop { $0 == "_" } : name
    }

    private static func appendEscaped(_ value: String, to text: inout String) {
        guard value.utf8.contains(where: isEscaped) else {
            text += value
            return
        }
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }

    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\n")
    }

    /// A value in Go's syntax: `NaN`, `+Inf` and `-Inf`, and integers without a fraction.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        let text = value.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
