public import Foundation
public import Tenancy

/// Records tenants' events for listeners, which read them by long polling.
///
/// Every listener reads all events. Events are recorded while a listener asks for them, and ``EventRecording/pause`` longer.
/// Failures of the database are thrown as ``StoreUnavailable``.
public protocol EventLog: Sendable {
    /// Records the tenant's events from now on, for ``EventRecording/pause``.
    /// - Returns: Whether ``EventRecording/limit`` events are stored, so that further ones are not recorded.
    func recordEvents(of tenant: TenantID) async throws -> Bool

    /// Events that a position has not seen; without a position none, and where to begin.
    ///
    /// A reader that continues at `next` misses none and reads none twice, in whichever order transactions end, also after a
    /// restart of the servers or of the database.
    func events(of tenant: TenantID, after: EventPosition?, limit: Int) async throws -> EventPage

    /// Records a sample.
    /// - Returns: False if the tenant's events are not recorded.
    func record(_ sample: WebhookMessage, type: String, of tenant: TenantID) async throws -> Bool
}

/// The limits of recorded events.
public enum EventRecording {
    /// The time for which events are recorded after a listener has read them. [ours]
    public static let pause = Duration.seconds(600)
    /// The time for which events are stored. [ours]
    public static let lifetime = Duration.seconds(3_600)
    /// The maximum number of stored events of a tenant. [ours]
    public static let limit = 10_000
}

/// The transactions that a snapshot of the database sees: those before ``newest`` that did not run at that moment.
///
/// Source: PostgreSQL, "Transaction ID and Snapshot Information Functions".
public struct EventSnapshot: Sendable, Hashable {
    /// `oldest:newest:running,…`.
    public let text: String
    /// The first transaction that had not begun.
    public let newest: Int

    /// The bytes of a text: hundreds of running transactions. [ours]
    private static let maximumLength = 4_000

    /// Nil for a text that is not a snapshot in PostgreSQL's form.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.maximumLength else { return nil }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let oldest = Int(parts[0]), let newest = Int(parts[1]), oldest > 0,
            oldest <= newest, newest < Int.max
        else { return nil }
        let running = parts[2].isEmpty ? [] : parts[2].split(separator: ",", omittingEmptySubsequences: false)
        var last = oldest - 1
        for number in running {
            guard let number = Int(number), number > last, number < newest else { return nil }
            last = number
        }
        guard !text.contains("+"), !text.contains(" ") else { return nil }
        self.text = text
        self.newest = newest
    }
}

/// A position in a tenant's events, which is opaque to clients: what a reader has seen.
public struct EventPosition: Sendable, Hashable, CustomStringConvertible {
    /// The reader has seen all events of this snapshot.
    public let seen: EventSnapshot
    /// The reader's position among the events of a later snapshot; nil between two snapshots.
    public let part: Part?

    /// An event of a snapshot.
    public struct Part: Sendable, Hashable {
        public let snapshot: EventSnapshot
        /// The ID of the event's transaction.
        public let transaction: Int
        public let message: UUID

        public init(of snapshot: EventSnapshot, transaction: Int, message: UUID) {
            self.snapshot = snapshot
            self.transaction = transaction
            self.message = message
        }
    }

    public init(seen: EventSnapshot, part: Part? = nil) {
        self.seen = seen
        self.part = part
    }

    /// Nil for a text that is not a ``description``.
    public init?(_ text: String) {
        let parts = text.split(separator: "~", omittingEmptySubsequences: false).map(String.init)
        guard let seen = parts.first.flatMap({ EventSnapshot($0) }) else { return nil }
        if parts.count == 1 {
            self.init(seen: seen)
            return
        }
        guard parts.count == 4, let snapshot = EventSnapshot(parts[1]), let transaction = Int(parts[2]),
            let message = UUID(uuidString: parts[3])
        else { return nil }
        self.init(seen: seen, part: Part(of: snapshot, transaction: transaction, message: message))
        guard description == text else { return nil }
    }

    public var description: String {
        guard let part else { return seen.text }
        return
            "\(seen.text)~\(part.snapshot.text)~\(part.transaction)~\(part.message.uuidString.lowercased())"
    }
}

/// Events after a position.
public struct EventPage: Sendable, Hashable {
    /// The messages' bodies, which are JSON.
    public let bodies: [[UInt8]]
    /// The position to continue from.
    public let next: EventPosition
    /// Whether events may be missing before these: the reader paused for too long, or the database was restored.
    public let hasMissed: Bool

    public init(bodies: [[UInt8]], next: EventPosition, hasMissed: Bool) {
        self.bodies = bodies
        self.next = next
        self.hasMissed = hasMissed
    }
}
