import Administration
import Foundation
import HTTPSyntax
import Notifications
import Synchronization

/// Which forms were sent already that show something once: a page that is loaded again sends its form again, and would make another.
final class SubmittedForms: Sendable {
    private let sessions: any ConsoleSessions
    private let numbers = Mutex<[UUID]>([])

    /// So many are remembered, the newest. [ours]
    private static let capacity = 1_024
    /// The field of a form with what tells it from every other.
    static let field = "form"

    init(_ sessions: any ConsoleSessions) {
        self.sessions = sessions
    }

    /// Makes what is shown this once, the first time that its form comes; where nothing was made, the form may come again.
    ///
    /// That it was shown is written down before it is made: what is made and cannot be shown would be lost.
    /// - Throws: ``ConsoleRefusal`` for a form that has come before, or that has no number; `ReadOnlyAccess`.
    func once<Made>(_ request: ConsoleRequest, _ make: () async throws -> Made) async throws -> Made {
        try request.requireChange()
        guard let number = request.form[Self.field].flatMap({ UUID(uuidString: $0) }) else {
            throw ConsoleRefusal.malformed("The form is incomplete. Nothing was done.")
        }
        try take(number)
        do {
            try await sessions.noteKeyShown(to: request.session.access.name)
        } catch {
            giveBack(number)
            throw error
        }
        do {
            return try await make()
        } catch let error where error is AdministrationError || error is WebhookRefusal {
            // Nothing was made. Of any other error that is not known.
            giveBack(number)
            throw error
        }
    }

    private func take(_ number: UUID) throws {
        let isNew = numbers.withLock { numbers in
            guard !numbers.contains(number) else { return false }
            numbers.append(number)
            if numbers.count > Self.capacity { numbers.removeFirst() }
            return true
        }
        guard isNew else {
            throw ConsoleRefusal.conflict(
                """
                This form was sent already, and does nothing more. What it has made was shown once: if you do not have it, look \
                for it in the list, and replace it or have it refused.
                """)
        }
    }

    private func giveBack(_ number: UUID) {
        numbers.withLock { numbers in numbers.removeAll { $0 == number } }
    }
}
