import APNsPayload
import Administration
import ArgumentParser
import Encodings
import Foundation
import JSON
import Notifications
import Persistence
import PostgreSQL
import ServerClient
import Tenancy

struct DeliveryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delivery",
        abstract: "Follow what was sent to a tenant's instances, and try again what was refused.",
        discussion: """
            A delivery is queued until it is sent, and then delivered, refused (a dead letter: APNs will not take it), \
            uncertain (to an attempt no answer came back) or expired. One that was skipped was never to be sent: its \
            reason says why.
            """,
        subcommands: [List.self, Trace.self, Retry.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List deliveries, the newest first.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "skipped, queued, sending, delivered, refused, uncertain or expired.") var state:
            DeliveryState?
        @Option(help: "The reason, such as Unregistered or window_closed.") var reason: String?
        @Option(help: "Of notifications made since, as 2026-03-01T12:30:00Z.") var since: Moment?
        @Option(help: "How many, at most.") var limit = 1_000

        func validate() throws {
            guard limit > 0 else { throw ValidationError("--limit is 1 or more") }
        }

        func run() async throws {
            let selection = DeliverySelection(state: state, reason: reason, since: since?.date)
            let deliveries = try await tenant.withAPI {
                try await $0.list("/v1/deliveries", limit: limit, where: selection.query)
            }
            output.print(
                deliveries,
                columns: ["id", "createdAt", "instance", "state", "reason", "attempts", "expiresAt"])
        }
    }

    struct Trace: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Answer GET /v1/notifications/{id}: all that is known of a notification, or of one delivery.")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "The ID of a notification or of a delivery.") var id: String
        @Option(help: "The ID of the last delivery before those to print.") var after: String?
        @Option(help: "How many deliveries, at most 1,000.") var limit = 1_000

        func validate() throws {
            guard after.map({ UUID(text: $0) != nil }) ?? true else {
                throw ValidationError("--after is a delivery's ID")
            }
            guard NotificationTrace.pageLengths.contains(limit) else {
                throw ValidationError("--limit is from 1 to 1,000")
            }
        }

        func run() async throws {
            let last = after.flatMap { UUID(text: $0) }.map(DeliveryID.init)
            guard let id = UUID(text: id), let trace = try await trace(id, after: last) else {
                throw CommandError.unknownNotification(id)
            }
            print(trace)
        }

        private func trace(_ id: UUID, after last: DeliveryID?) async throws -> JSONObject? {
            try await tenant.withAPI { try await $0.trace(id, after: last, limit: limit) }
        }

        private func print(_ trace: JSONObject) {
            guard output.format == .table else { return JSONValue.object(trace).printPretty() }
            var notification = trace
            notification["deliveries"] = nil
            JSONValue.object(notification).printPretty()
            let deliveries = trace["deliveries"]?.arrayValue?.compactMap(\.objectValue) ?? []
            Swift.print(
                Table(
                    deliveries,
                    columns: [
                        "id", "instance", "state", "reason", "target", "attempts", "expiresAt", "answers",
                    ]
                ))
        }
    }

    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Retry deliveries that were refused, uncertain or expired.",
            discussion: """
                Deliveries keep their IDs. APNs may have accepted an uncertain delivery, so a device may show it twice. \
                Deliveries that are too late stay as they are. So do deliveries whose token APNs reported as dead \
                (Unregistered, BadDeviceToken, ExpiredToken, DeviceTokenNotForTopic): send a new notification instead.
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "IDs of deliveries.") var ids: [String] = []
        @Option(help: "All that are refused, uncertain or expired.") var state: DeliveryState?
        @Option(help: "Only those with this reason, such as TooManyRequests.") var reason: String?
        @Option(help: "Only of notifications made since, as 2026-03-01T12:30:00Z.") var since: Moment?

        func validate() throws {
            guard ids.isEmpty != (state == nil) else {
                throw ValidationError("name deliveries by their IDs, or all of a --state")
            }
            guard ids.isEmpty || reason == nil && since == nil else {
                throw ValidationError("--reason and --since go with --state")
            }
            guard ids.allSatisfy({ UUID(text: $0) != nil }) else {
                throw ValidationError("a delivery's ID is a UUID")
            }
            guard state.map(DeliveryState.retriable.contains) ?? true else {
                throw ValidationError("--state is refused, uncertain or expired")
            }
        }

        func run() async throws {
            let selection = DeliverySelection(
                ids: ids.compactMap { UUID(text: $0).map(DeliveryID.init) }, state: state,
                reason: reason,
                since: since?.date)
            let counts = try await tenant.withAPI { try await $0.retryDeliveries(selection) }
            output.print(
                counts.json,
                line:
                    "\(counts.queued) queued again, \(counts.tooLate) too late, \(counts.tokenDead) with a dead token"
            )
        }
    }
}

/// A date and time of RFC 3339.
struct Moment: ExpressibleByArgument {
    let date: Date

    init?(argument: String) {
        guard let date = Date(rfc3339: argument) else { return nil }
        self.date = date
    }
}

extension DeliverySelection {
    /// The query that selects them.
    fileprivate var query: [(String, String)] {
        [("state", state?.rawValue), ("reason", reason), ("since", since?.rfc3339)].compactMap {
            name, value in value.map { (name, $0) }
        }
    }
}
