import Administration
import Formats
import Foundation
import Invocation
import Persistence

/// The console's sessions and events.
struct SessionsPage: Sendable {
    private let sessions: PostgresConsoleSessions

    init(_ sessions: PostgresConsoleSessions) {
        self.sessions = sessions
    }

    @Sendable func index(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let own = request.session
        // Sessions for one tenant and read-only sessions see only themselves.
        let all = own.access.mayEndOthers ? try await sessions.sessions(at: request.now) : [own]
        let before = request.query["before"].flatMap { Int($0) }
        let events =
            own.access.tenant == nil
            ? try await sessions.events(before: before, limit: Self.eventCount + 1) : []
        return .page(
            Page(
                title: "Sessions",
                commands: [
                    "doorstep console sessions", "doorstep console events", "doorstep console end --all",
                ],
                notice: request.query["ended"] == nil ? nil : "Session ended."
            ) { main in
                main.table(
                    "Active sessions", columns: ["Name", "Since", "Last seen", "Ends at", "Rights", "End"]
                ) {
                    rows in
                    for session in all {
                        rows.element(.tr) { row in
                            row.element(.th, .scope("row")) { th in
                                th.name(session.access.name.text)
                                if session.id == own.id { th.badge("this session") }
                            }
                            row.element(.td) { $0.time(session.createdAt) }
                            row.element(.td) { $0.time(session.seenAt) }
                            row.element(.td) { $0.time(session.expiresAt) }
                            row.element(.td, text: session.access.rights)
                            row.element(.td) { td in
                                if session.isByProxy { return td.text("ends at the proxy") }
                                td.element(.form, .post, .action(HTMLLink("/sessions/end"))) { form in
                                    form.hiddenField("id", session.id.uuidString)
                                    form.element(
                                        .button, .class("plain"),
                                        .ariaLabel("End the session of \(session.access.name)"), text: "End")
                                }
                            }
                        }
                    }
                }
                if own.access.mayEndOthers {
                    main.element(.form, .post, .action(HTMLLink("/sessions/end"))) { form in
                        form.hiddenField("all", "1")
                        form.element(.button, .class("danger"), text: "End all sessions, including this one")
                    }
                }
                if own.access.tenant == nil { Self.write(events, isFirst: before == nil, &main) }
            })
    }

    /// Events per page. [ours]
    private static let eventCount = 50

    private static func write(_ events: [ConsoleEvent], isFirst: Bool, _ html: inout HTMLWriter) {
        html.element(.h2, text: "Events")
        guard !events.isEmpty else { return html.element(.p, text: "No events.") }
        html.table("Events, newest first", columns: ["Time", "Name", "Event"]) { rows in
            for event in events.prefix(eventCount) {
                rows.element(.tr) { row in
                    row.element(.td) { $0.time(event.at) }
                    row.element(.td) { td in
                        td.name(event.name)
                        td.element(.small, .class("quiet-text"), text: " login \(event.login)")
                    }
                    row.element(.td, text: event.kind.title)
                }
            }
        }
        html.element(.p, .class("paging")) { p in
            if !isFirst { p.element(.a, .href(HTMLLink("/sessions")), text: "Newest") }
            if events.count > eventCount, let last = events.dropLast().last {
                p.element(
                    .a, .href(HTMLLink(to: "sessions", query: [("before", "\(last.id)")])), text: "Older")
            }
        }
    }

    @Sendable func end(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let own = request.session
        if request.form["all"] == "1" {
            guard own.access.mayEndOthers else { throw ReadOnlyAccess() }
            try await sessions.endAll(by: own.access.name)
            return .seeOther(own.isByProxy ? HTMLLink("/sessions?ended=1") : HTMLLink("/login"))
        }
        guard let id = request.form["id"].flatMap({ UUID(uuidString: $0) }) else {
            throw ConsoleRefusal.notFound
        }
        guard id == own.id || own.access.mayEndOthers else { throw ReadOnlyAccess() }
        try await sessions.end(id, by: own.access.name)
        return .seeOther(id == own.id ? HTMLLink("/login") : HTMLLink("/sessions?ended=1"))
    }
}

extension ConsoleEvent.Kind {
    fileprivate var title: String {
        switch self {
        case .linkMade: "link created"
        case .signedIn: "signed in"
        case .signedOut: "signed out"
        case .sessionEnded: "ended another session"
        case .allSessionsEnded: "ended all sessions"
        case .keyShown: "saw a key or a secret"
        }
    }
}

extension ConsoleAccess {
    fileprivate var mayEndOthers: Bool { tenant == nil && !isReadOnly }

    var rights: String {
        "\(isReadOnly ? "reads" : "reads and changes") \(tenant == nil ? "all tenants" : "one tenant")"
    }
}
