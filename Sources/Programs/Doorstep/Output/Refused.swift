import Formats
import ServerClient

/// A refusal as the error of a command. Its code, detail and members were printed as JSON before.
struct Refused: Error, CustomStringConvertible {
    let description: String

    init(_ refusal: any Refusal) {
        description = "\(refusal.code): \(refusal)"
    }

    private init(_ problem: ServerProblem) {
        description = "\(problem.code): \(problem.text)"
    }

    /// Prints a response as JSON; a refusal also becomes the command's error.
    static func printResponse(_ response: () async throws -> JSONValue) async throws {
        do {
            try await response().printPretty()
        } catch let refusal as any Refusal {
            var object = refusal.members
            object["code"] = .string(refusal.code)
            object["detail"] = .string("\(refusal)")
            JSONValue.object(object).printPretty()
            throw Refused(refusal)
        } catch ServerError.refused(let problem) {
            JSONValue.object(problem.refusal).printPretty()
            throw Refused(problem)
        }
    }
}
