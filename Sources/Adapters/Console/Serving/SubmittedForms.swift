import Foundation
import Synchronization

/// Which forms were sent already that show something once: a page that is loaded again sends its form again, and would make another.
final class SubmittedForms: Sendable {
    private let numbers = Mutex<[UUID]>([])

    /// So many are remembered, the newest. [ours]
    private static let capacity = 1_024
    /// The field of a form with what tells it from every other.
    static let field = "form"

    /// Takes a form the first time that it comes.
    /// - Throws: ``ConsoleRefusal`` for one that has come before, or that no page has made.
    func take(_ form: FormFields) throws {
        guard let number = form[Self.field].flatMap({ UUID(uuidString: $0) }) else {
            throw ConsoleRefusal.malformed("The form is not whole. Nothing was done.")
        }
        let isNew = numbers.withLock { numbers in
            guard !numbers.contains(number) else { return false }
            numbers.append(number)
            if numbers.count > Self.capacity { numbers.removeFirst() }
            return true
        }
        guard isNew else {
            throw ConsoleRefusal.conflict(
                "This was done already, and what it has made is shown once: it is not shown again, and nothing more was made."
            )
        }
    }
}
