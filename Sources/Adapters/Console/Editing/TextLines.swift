import Foundation

/// Texts by name as lines `NAME: TEXT`, for a text area.
enum TextLines {
    /// A line that is not `NAME: TEXT`, or that repeats a name.
    struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    /// The lines, by name; nil if lines cannot show the texts exactly, for example if a text has a line break. Pages cannot
    /// show control characters.
    static func text(of texts: [String: String]) -> String? {
        let hasControls = texts.contains { name, text in
            (name + text).unicodeScalars.contains { $0.properties.generalCategory == .control && $0 != "\t" }
        }
        guard !hasControls else { return nil }
        let lines = texts.sorted { $0.key < $1.key }.map { "\($0): \($1)" }.joined(separator: "\n")
        guard let again = try? Self.texts(in: lines), again == texts else { return nil }
        return lines
    }

    static func texts(in lines: String) throws(Refusal) -> [String: String] {
        var texts: [String: String] = [:]
        for line in lines.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            if parts == [""] { continue }
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
                throw Refusal(description: "Write each line as NAME: TEXT. This line differs: \(line)")
            }
            guard texts.updateValue(parts[1], forKey: parts[0]) == nil else {
                throw Refusal(description: "Two lines have the name \(parts[0]).")
            }
        }
        return texts
    }
}
