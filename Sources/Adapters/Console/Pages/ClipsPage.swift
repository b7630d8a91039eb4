import Administration
import Formats
import Persistence
import Tenancy

/// A tenant's App Clips, and one of them.
enum ClipsPage {
    /// The maximum number of clips on the page. [ours]
    private static let listLength = 200

    @Sendable static func list(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let clips = try await request.stores.administration.items.clips.items(
            of: tenant.id, after: nil, limit: listLength + 1, where: [:])
        return .page(
            Page(
                title: "App Clips", tenant: tenant, section: .clips,
                commands: ["doorstep clip list --tenant \(tenant.slug)"], notice: request.changeNotice
            ) { main in
                main.element(
                    .p, .class("hint"),
                    text: "An App Clip is identified by its bundle ID. Experiences say which URLs launch it.")
                main.addition(of: Clip.self, request, tenant)
                guard !clips.isEmpty else { return main.element(.p, text: "No App Clips yet.") }
                list(clips, tenant, &main)
            })
    }

    private static func list(_ clips: [Clip], _ tenant: Tenant, _ html: inout HTMLWriter) {
        let shown = clips.prefix(listLength)
        html.table(
            clips.count > listLength
                ? "The first \(listLength) App Clips"
                : clips.count == 1 ? "1 App Clip" : "\(clips.count) App Clips",
            columns: ["Bundle ID", "Team ID", "Businesses", "App Attest"]
        ) { rows in
            for clip in shown {
                rows.element(.tr) { row in
                    row.element(.th, .scope("row")) { th in
                        th.element(
                            .a, .class("row"), .href(HTMLLink(item: clip.key, Clip.self, of: tenant))
                        ) { $0.element(.code, text: clip.bundleID.text) }
                    }
                    row.element(.td, text: clip.teamID.text)
                    row.element(.td, text: clip.isMultiBusiness ? "many" : "one")
                    row.element(.td, text: clip.attestation == nil ? "off" : "on")
                }
            }
        }
    }

    @Sendable static func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        guard let clip = try await request.itemInPath(Clip.self, of: tenant) else {
            throw ConsoleRefusal.notFound
        }
        return .page(
            Page(
                title: clip.bundleID.text, tenant: tenant, section: .clips,
                commands: ["doorstep clip show --tenant \(tenant.slug) \(clip.commandArguments)"],
                notice: request.changeNotice
            ) { main in
                main.facts(of: clip)
                if let attestation = clip.json["attestation"]?.objectValue {
                    main.element(.h2, text: "App Attest")
                    main.facts(
                        attestation.sorted { $0.key < $1.key }.map { name, value in
                            (name.memberLabel, { $0.value(value) })
                        })
                    main.element(
                        .p, .class("hint"),
                        text: "Only the command 'doorstep clip attest' changes these settings.")
                }
                main.changes(of: clip, request, tenant)
            })
    }
}
