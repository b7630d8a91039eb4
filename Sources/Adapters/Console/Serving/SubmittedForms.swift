import Administration
import Formats
import Foundation
import Notifications
import Persistence
import Synchronization

/// The submitted forms that show a secret once. A reload sends the form again and would create another secret.
final class SubmittedForms: Sendable {
    private let sessions: PostgresConsoleSessions
    private let numbers = Mutex<[UUID]>([])

    /// The maximum number of forms in memory, newest first. [ours]
    private static let capacity = 1_024
    /// The field with the form's unique number.
    static let field = "form"

    init(_ sessions: PostgresConsoleSessions) {
        self.sessions = sessions
    }

    /// Creates a secret when its form arrives the first time. If the creation fails, the form may be sent again.
    ///
    /// The event is recorded before the creation, because a secret that cannot be shown would be lost.
    /// - Throws: ``ConsoleRefusal`` for a repeated form, or a form without a number; `ReadOnlyAccess`.
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
            // Nothing was created. After any other error that is unknown.
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
                This form was already sent, and does nothing more. It showed its secret once. If you do not have it, look \
                for it in the list, and replace or revoke it.
                """)
        }
    }

    private func giveBack(_ number: UUID) {
        numbers.withLock { numbers in numbers.removeAll { $0 == number } }
    }
}
