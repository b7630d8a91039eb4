import Administration
import Confirmations
import Formats
import Persistence
import Tenancy

/// The steps from a new tenant to its first notification, each with its state.
struct SetupSteps {
    private struct Step {
        let title: String
        let hint: String
        let link: HTMLLink
        let isDone: Bool
    }

    private let steps: [Step]

    /// The number of lookups from which a tenant needs no first steps, whatever it uses. [ours]
    private static let lookupsInUse = 1_000

    /// The number of domains among which a proved one is searched. [ours]
    private static let domainReach = 100

    /// Nil for a tenant that is in use.
    /// - Parameter counted: the tenant's numbers of the last days.
    init?(_ request: ConsoleRequest, _ tenant: Tenant, _ counted: Statistics) async throws {
        let (confirmations, delivered) = (counted.confirmations ?? 0, counted.delivered ?? 0)
        guard confirmations == 0 || delivered == 0, counted.lookups < Self.lookupsInUse else { return nil }
        let administration = request.stores.administration
        let items = administration.items
        func hasItems<Item: Resource>(_ store: any CatalogueStore<Item>) async throws -> Bool {
            try await !store.items(of: tenant.id, after: nil, limit: 1, where: [:]).isEmpty
        }
        let domains = try await items.domains.items(
            of: tenant.id, after: nil, limit: Self.domainReach, where: [:])
        let key = try await administration.newestKeys(of: tenant.id, limit: 1).first
        steps = [
            Step(
                title: "Add the App Clip", hint: "Its bundle ID and the team ID are in Xcode.",
                link: HTMLLink(adding: Clip.self, to: tenant), isDone: try await hasItems(items.clips)),
            Step(
                title: "Add a location",
                hint: "A name, a point on the map, and a radius of at most 500 metres.",
                link: HTMLLink(adding: LocationRecord.self, to: tenant),
                isDone: try await hasItems(items.locations)),
            Step(
                title: "Add an experience", hint: "The URL that a code or tag at the location contains.",
                link: HTMLLink(adding: ExperienceRecord.self, to: tenant),
                isDone: try await hasItems(items.experiences)),
            Step(
                title: "Prove the domain of the URL",
                hint:
                    "Doorstep then serves the association file, so that iPhones launch the clip. Your own site can serve it instead.",
                link: HTMLLink(.domains, of: tenant),
                isDone: domains.contains { $0.status == .proved || $0.status == .lapsed }),
            Step(
                title: "Create a key", hint: "A publishable key for the clip, a secret key for your server.",
                link: HTMLLink(.keys, of: tenant), isDone: key?.status(at: request.now) == .active),
            Step(
                title: "Look up and confirm", hint: "Scan the code: the clip sends the first confirmation.",
                link: HTMLLink(.confirmations, of: tenant), isDone: confirmations > 0),
            Step(
                title: "Deliver a notification", hint: "Your server sends it to a registered instance.",
                link: HTMLLink(.deliveries, of: tenant), isDone: delivered > 0),
        ]
    }

    func write(into html: inout HTMLWriter) {
        html.element(.h2, text: "First steps")
        html.element(.ol, .class("steps")) { list in
            for step in steps {
                list.element(.li) { item in
                    item.element(.span, .class("status \(step.isDone ? "ok" : "unknown")")) { span in
                        span.element(.span, .ariaHidden, text: step.isDone ? "✓ " : "○ ")
                        span.text(step.isDone ? "done" : "to do")
                    }
                    item.text(" ")
                    item.element(.a, .href(step.link), text: step.title)
                    item.element(.p, .class("hint"), text: step.hint)
                }
            }
        }
    }
}
