import APNsPayload
import Administration
import ArgumentParser
import Formats
import Foundation
import Notifications
import Persistence
import PostgreSQL
import ServerClient
import Tenancy

struct DeliveryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delivery",
        abstract: "List deliveries to a tenant's instances, retry failed ones, and cancel queued ones.",
        discussion: """
            A delivery is queued until it is sent. It is then delivered, refused (APNs rejected it), uncertain (an \
            attempt got no response from APNs) or expired. A skipped delivery is never sent; its reason explains \
            why.

            Example: doorstep delivery list --state refused
            """,
        subcommands: [List.self, Trace.self, Retry.self, Cancel.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List deliveries, the newest first.",
            discussion: "Example: doorstep delivery list --state refused --since 2026-03-01T12:30:00Z")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Option(help: "State: skipped, queued, sending, delivered, refused, uncertain or expired.") var state:
            DeliveryState?
        @Option(help: "Reason, such as Unregistered or window_closed.") var reason: String?
        @Option(help: "Only of notifications created since this time, such as 2026-03-01T12:30:00Z.")
        var since: Moment?
        @Option(help: "Maximum number of deliveries.") var limit = 1_000

        func validate() throws {
            guard limit > 0 else { throw ValidationError("--limit must be 1 or more") }
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
            commandName: "trace",
            abstract:
                """
                Show a notification and its deliveries, or one delivery, as GET /v1/notifications/{id} does.
                """,
            discussion: "Example: doorstep delivery trace NOTIFICATION-ID")

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "ID of a notification or of a delivery.") var id: String
        @Option(help: "Only deliveries after the delivery with this ID.") var after: String?
        @Option(help: "Maximum number of deliveries, up to 1,000.") var limit = 1_000

        func validate() throws {
            guard after.map({ UUID(text: $0) != nil }) ?? true else {
                throw ValidationError("--after must be the ID of a delivery")
            }
            guard NotificationTrace.pageLengths.contains(limit) else {
                throw ValidationError("--limit must be from 1 to 1,000")
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

    struct Cancel: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "cancel",
            abstract: "Cancel a notification: end its queued deliveries.",
            discussion: """
                Queued deliveries expire with the reason 'cancelled'. Deliveries that a server is sending at this \
                moment may still arrive, but are not tried again. A retry does not send cancelled deliveries.

                Example: doorstep delivery cancel NOTIFICATION-ID
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "ID of the notification.") var id: String

        func validate() throws {
            guard UUID(text: id) != nil else { throw ValidationError("a notification's ID must be a UUID") }
        }

        func run() async throws {
            let trace = try await tenant.withAPI { try await $0.cancelNotification(id.lowercased()) }
            let counts = trace["counts"]?.objectValue ?? [:]
            let states = ["queued", "sending", "delivered", "refused", "uncertain", "expired"].compactMap {
                state in
                (counts[state]?.numberValue?.int).flatMap { $0 > 0 ? "\($0) \(state)" : nil }
            }
            output.print(
                ["id": .string(id.lowercased()), "counts": .object(counts)],
                line: "Cancelled notification \(id.lowercased()): \(states.joined(separator: ", "))")
        }
    }

    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "retry",
            abstract: "Retry deliveries that were refused, uncertain or expired.",
            discussion: """
                Deliveries keep their IDs. APNs may have accepted an uncertain delivery, so a device may show it \
                twice. Deliveries that are too late are not retried. Neither are deliveries whose token APNs \
                reported as dead (Unregistered, BadDeviceToken, ExpiredToken, DeviceTokenNotForTopic): send a new \
                notification instead.

                Example: doorstep delivery retry --state refused --reason TooManyRequests
                """)

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: "IDs of deliveries.") var ids: [String] = []
        @Option(help: "All deliveries in this state: refused, uncertain or expired.") var state:
            DeliveryState?
        @Option(help: "Only deliveries with this reason, such as TooManyRequests.") var reason: String?
        @Option(help: "Only of notifications created since this time, such as 2026-03-01T12:30:00Z.")
        var since: Moment?

        func validate() throws {
            guard ids.isEmpty != (state == nil) else {
                throw ValidationError("name deliveries by ID, or a --state")
            }
            guard ids.isEmpty || reason == nil && since == nil else {
                throw ValidationError("--reason and --since require --state")
            }
            guard ids.allSatisfy({ UUID(text: $0) != nil }) else {
                throw ValidationError("a delivery's ID must be a UUID")
            }
            guard state.map(DeliveryState.retriable.contains) ?? true else {
                throw ValidationError("--state must be refused, uncertain or expired")
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
    /// The query that selects the deliveries.
    fileprivate var query: [(String, String)] {
        [("state", state?.rawValue), ("reason", reason), ("since", since?.rfc3339)].compactMap {
            name, value in value.map { (name, $0) }
        }
    }
}
