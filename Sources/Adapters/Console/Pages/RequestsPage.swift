import Administration
import Formats
import Foundation
import Persistence
import Tenancy

/// The refused and failed requests of a tenant's keys.
enum RequestsPage {
    /// Requests per page. [ours]
    private static let pageLength = 100

    @Sendable static func response(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let filter = try Filter(request.query)
        let before = request.query["before"].flatMap { UUID(text: $0) }
        let found = try await request.stores.administration.auditLog.refusedRequests(
            of: tenant.id, filter.selection, before: before, limit: pageLength + 1)
        return .page(page(tenant, filter, found, isFirst: before == nil))
    }

    private struct Filter {
        let requestID: String?
        let code: String?
        let key: KeyID?

        init(_ query: FormFields) throws {
            (requestID, code) = (query["request"], query["code"])
            key = query["key"].flatMap { UUID(text: $0) }.map(KeyID.init)
            guard key != nil || query["key"] == nil else {
                throw ConsoleRefusal.malformed("The key ID is not valid. It is a UUID.")
            }
        }

        var selection: RefusedRequestSelection {
            RefusedRequestSelection(requestID: requestID, code: code, key: key)
        }

        var query: [(String, String?)] {
            [("request", requestID), ("code", code), ("key", key?.description)]
        }
    }

    private static func page(
        _ tenant: Tenant, _ filter: Filter, _ found: [RefusedRequest], isFirst: Bool
    ) -> Page {
        let shown = found.prefix(pageLength)
        let options = [("id", filter.requestID), ("code", filter.code), ("key", filter.key?.description)]
        let arguments = options.compactMap { name, value in value.map { " --\(name) \($0.shellQuoted)" } }
        return Page(
            title: "Requests", tenant: tenant, section: .requests,
            commands: ["doorstep request list --tenant \(tenant.slug)\(arguments.joined())"]
        ) { main in
            main.element(
                .p, .class("hint"),
                text: "Refused and failed requests of the last 7 days, without URLs and coordinates.")
            main.element(.form, .class("filter"), .action(HTMLLink(.requests, of: tenant))) { form in
                form.field("Request ID", name: "request", value: filter.requestID ?? "", isRequired: false)
                form.field("Code", name: "code", value: filter.code ?? "", isRequired: false)
                form.field("Key ID", name: "key", value: filter.key?.description ?? "", isRequired: false)
                form.element(.button, text: "Filter")
            }
            guard !shown.isEmpty else { return main.element(.p, text: "No requests match.") }
            main.table(
                "Requests, newest first",
                columns: ["Time", "Endpoint", "Status", "Code", "Key", "Request ID"]
            ) { rows in
                for one in shown {
                    rows.element(.tr) { row in
                        row.element(.td) { $0.time(one.at) }
                        row.element(.th, .scope("row")) { $0.element(.code, text: one.endpoint) }
                        row.element(.td, .class("number"), text: "\(one.status)")
                        row.element(.td) { $0.element(.code, text: one.code) }
                        row.element(.td) { td in
                            td.element(.a, .href(HTMLLink(.keys, of: tenant, one.key.description))) {
                                $0.element(.code, text: one.key.description)
                            }
                        }
                        row.element(.td) { $0.element(.code, text: one.requestID) }
                    }
                }
            }
            main.element(.p, .class("paging")) { p in
                if !isFirst {
                    p.element(
                        .a, .href(HTMLLink(.requests, of: tenant, query: filter.query)), text: "Newest")
                }
                if found.count > pageLength, let last = shown.last {
                    let query = filter.query + [("before", Optional(last.id.uuidString.lowercased()))]
                    p.element(.a, .href(HTMLLink(.requests, of: tenant, query: query)), text: "Older")
                }
            }
        }
    }
}
