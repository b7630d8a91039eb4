import JSON

/// A refusal as a command's error; its code, its sentence and its members are printed as JSON before.
struct Refused: Error, CustomStringConvertible {
    private let refusal: any Refusal

    init(_ refusal: any Refusal) {
        self.refusal = refusal
    }

    var description: String { "\(refusal.code): \(refusal)" }

    /// Prints an answer as JSON; a refusal too, which is then also the command's error.
    static func printAnswer(_ answer: () async throws -> JSONValue) async throws {
        do {
            try await answer().printPretty()
        } catch let refusal as any Refusal {
            var object = refusal.members
            object["code"] = .string(refusal.code)
            object["detail"] = .string("\(refusal)")
            JSONValue.object(object).printPretty()
            throw Refused(refusal)
        }
    }
}
