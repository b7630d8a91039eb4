import Administration
import Crypto
import Formats
import Foundation
import Geodesy
import HTTPTypes
import Invocation
import Lookups
import Persistence
import Tenancy

/// Edits a location: form, review of the effects, save.
struct LocationEditor: Sendable {
    private let findings: FindingsCache
    private let table: LiveLookupIndex
    private let hasMap: Bool

    init(_ findings: FindingsCache, table: LiveLookupIndex, hasMap: Bool) {
        self.findings = findings
        self.table = table
        self.hasMap = hasMap
    }

    /// The form's fields: each text and number of a location, except its identifier.
    private struct Draft {
        static let fields = LocationRecord.fields.filter { $0.isCell && $0.kind != .key }

        /// Errors that replace those of the field's type, because they show an example.
        private static let errors = [
            "latitude": "Enter degrees from −90 to 90 with a decimal point, for example 51.5142.",
            "longitude": "Enter degrees from −180 to 180 with a decimal point, for example -0.1312.",
            "radius": "Enter metres above 0 and at most 500.",
        ]

        /// By the fields' names.
        private var texts: [String: String]
        var errors: [String: String] = [:]

        init(_ location: LocationRecord) {
            texts = Self.fields.reduce(into: [:]) { $0[$1.name] = $1.cell(of: location) }
        }

        init(_ form: FormFields) {
            texts = Self.fields.reduce(into: [:]) { $0[$1.name] = form[$1.name] }
            if let pair = CoordinateText.pair(in: texts["latitude"] ?? "") {
                (texts["latitude"], texts["longitude"]) = pair
            }
        }

        subscript(field: Field<LocationRecord>) -> String { texts[field.name] ?? "" }

        var values: [(String, String)] { Self.fields.map { ($0.name, self[$0]) } }

        /// The location with the fields' values; other values stay. If a field is invalid, sets ``errors`` and returns nil.
        mutating func change(_ location: LocationRecord) -> LocationRecord? {
            var patch: JSONObject = [:]
            for field in Self.fields {
                patch[field.name] = Self.value(self[field], of: field)
                if patch[field.name] == nil { refuse(field.name, "enter a number") }
            }
            while true {
                do {
                    let changed = try location.patched(by: patch)
                    return errors.isEmpty ? changed : nil
                } catch {
                    let refusal = error as? RowRefusal
                    let field = refusal?.column ?? ""
                    refuse(field, refusal?.detail ?? "\(error)")
                    // Looks for errors of the other fields.
                    guard patch[field] != nil else { return nil }
                    patch[field] = nil
                }
            }
        }

        private mutating func refuse(_ field: String, _ detail: String) {
            errors[field] = Self.errors[field] ?? detail.capitalizedSentence + "."
        }

        /// Nil for a text that is not a number in a number field.
        private static func value(_ text: String, of field: Field<LocationRecord>) -> JSONValue? {
            if text.isEmpty, !field.isRequired { return .null }
            guard case .number = field.type else { return .string(text) }
            return Double(decimal: text).flatMap { $0.isFinite ? JSONValue(finite: $0) : nil }
        }
    }

    /// The form, or the review if the query has the fields' values.
    @Sendable func form(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let location = try await request.location(of: tenant)
        guard request.query.has("name") else {
            return .page(fields(tenant, location, Draft(location)))
        }
        var draft = Draft(request.query)
        guard let changed = draft.change(location), request.query["back"] == nil else {
            return .page(fields(tenant, location, draft))
        }
        let urls = try await LocationURLs(
            of: location.identifier, request, tenant.id, in: table.current?.table(of: tenant.id))
        return .page(review(tenant, location, changed, draft, urls))
    }

    @Sendable func save(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let location = try await request.location(of: tenant)
        var draft = Draft(request.form)
        guard draft.change(location) != nil else {
            var page = fields(tenant, location, draft)
            page.status = .unprocessableContent
            return .page(page)
        }
        let version = request.form["version"]
        do {
            let confirmed = draft
            _ = try await request.stores.administration.items.locations.change(
                location.identifier, of: tenant.id, by: request.session.access.actor
            ) { current in
                guard let current else { throw AdministrationError.unknownLocation(location.identifier) }
                guard Self.version(of: current) == version else { throw Changed(now: current) }
                var draft = confirmed
                return draft.change(current) ?? current
            }
        } catch let error as Changed {
            return .page(conflict(tenant, error.now, draft))
        }
        await findings.forget(tenant.id)
        return .seeOther(HTMLLink(location: location.identifier, of: tenant, query: [("saved", "1")]))
    }

    /// Another user has changed the location since the form was shown.
    private struct Changed: Error {
        let now: LocationRecord
    }

    /// Differs for each state of a location.
    private static func version(of location: LocationRecord) -> String {
        Base16.text(SHA256.hash(data: JSONValue.object(location.json).serialized()).prefix(16))
    }

    // MARK: Pages

    private func page(
        _ title: String, _ tenant: Tenant, _ location: LocationRecord, _ draft: Draft,
        body: @escaping (inout HTMLWriter) -> Void
    ) -> Page {
        let arguments = draft.values.map { "--\($0) \($1.shellQuoted)" }.joined(separator: " ")
        return Page(
            title: "\(title) \(location.name)", tenant: tenant, section: .locations,
            commands: [
                "doorstep location update --tenant \(tenant.slug) \(location.identifier.text.shellQuoted) \(arguments)"
            ], hasMap: hasMap, body: body)
    }

    private func fields(_ tenant: Tenant, _ location: LocationRecord, _ draft: Draft) -> Page {
        page("Edit", tenant, location, draft) { main in
            main.errors(
                Draft.fields.map { ($0.name.capitalizedSentence, draft.errors[$0.name]) } + [
                    ("Location", draft.errors[""])
                ])
            main.element(.div, .class("beside place")) { div in
                div.element(
                    .form, .class("stack"), .id("place"),
                    .action(HTMLLink(location: location.identifier, of: tenant, "edit"))
                ) { form in
                    for field in Draft.fields { Self.input(field, draft, &form) }
                    form.element(.p) { p in
                        p.element(.button, .class("main"), text: "Review changes")
                        p.text(" ")
                        p.element(
                            .a, .href(HTMLLink(location: location.identifier, of: tenant)),
                            text: "Cancel")
                    }
                }
                if self.hasMap { LocationPage.map(location, for: .edit, &div) }
            }
        }
    }

    private static func input(_ field: Field<LocationRecord>, _ draft: Draft, _ form: inout HTMLWriter) {
        var inputmode: String?
        if case .number(let range) = field.type { inputmode = range.lowerBound < 0 ? "text" : "decimal" }
        let hint =
            switch field.name {
            case "latitude":
                "Centre, in degrees. Click the map, or paste a pair such as \u{201C}51.5142, -0.1312\u{201D}."
            // The documentation of these fields repeats the label, or the hint of the latitude.
            case "name", "longitude": String?.none
            default: field.documentation
            }
        form.field(
            field.name.capitalizedSentence, name: field.name, value: draft[field], hint: hint,
            error: draft.errors[field.name], inputmode: inputmode, isRequired: field.isRequired)
    }

    private func review(
        _ tenant: Tenant, _ location: LocationRecord, _ changed: LocationRecord, _ draft: Draft,
        _ urls: LocationURLs
    ) -> Page {
        page("Review", tenant, location, draft) { main in
            guard changed.json != location.json else {
                main.element(.p, text: "No changes.")
                main.element(.p) { p in
                    p.element(
                        .a, .href(HTMLLink(location: location.identifier, of: tenant)),
                        text: "Back to the location"
                    )
                }
                return
            }
            Self.differences(from: location, to: changed, &main)
            Self.meaning(location, changed, urls, &main)
            if self.hasMap, changed.region != location.region {
                LocationPage.map(location, for: .review, changed: changed, &main)
            }
            main.element(
                .form, .class("stack"), .post,
                .action(HTMLLink(location: location.identifier, of: tenant, "edit"))
            ) { form in
                for (name, value) in draft.values { form.hiddenField(name, value) }
                form.hiddenField("version", Self.version(of: location))
                form.element(.p) { p in
                    p.element(.button, .class("main"), text: "Save")
                    p.text(" ")
                    let back = draft.values.map { ($0, Optional($1)) } + [("back", "1")]
                    p.element(
                        .a, .href(HTMLLink(location: location.identifier, of: tenant, "edit", query: back)),
                        text: "Back to the form")
                }
            }
        }
    }

    private static func differences(
        from old: LocationRecord, to new: LocationRecord, _ html: inout HTMLWriter
    ) {
        let (before, after) = (Draft(old), Draft(new))
        html.table("Changes", columns: ["Field", "Current", "New"]) { rows in
            for ((name, now), (_, then)) in zip(before.values, after.values) where now != then {
                rows.element(.tr) { row in
                    row.element(.th, .scope("row"), text: name.capitalizedSentence)
                    row.element(.td) { $0.name(now) }
                    row.element(.td) { $0.name(then) }
                }
            }
        }
    }

    private static func meaning(
        _ old: LocationRecord, _ new: LocationRecord, _ urls: LocationURLs, _ html: inout HTMLWriter
    ) {
        let moved = old.region.center.distance(to: new.region.center)
        let codes = urls.isCut ? "\(urls.count) or more" : "\(urls.count)"
        html.element(.ul, .class("meaning")) { list in
            if moved.meters > 0 {
                list.element(.li) { item in
                    item.element(.strong, text: "The location moves \(LocationsPage.meters(moved)).")
                    if moved.meters > old.region.radius.meters + new.region.radius.meters {
                        item.text(" The old and new circles do not overlap.")
                    }
                }
            }
            list.element(.li) { item in
                item.text(
                    urls.count == 0
                        ? "No URL or short code leads here."
                        : "Printed codes keep working (\(codes) \(urls.count == 1 && !urls.isCut ? "URL or short code" : "URLs and short codes")). Customers must be inside the new circle to be confirmed."
                )
            }
        }
    }

    private func conflict(_ tenant: Tenant, _ now: LocationRecord, _ draft: Draft) -> Page {
        var page = page("Edit conflict:", tenant, now, draft) { main in
            main.element(
                .p, .class("error"), .role("alert"),
                text: "This location has changed since you opened it. Your changes were not saved.")
            var mine = draft
            if let wanted = mine.change(now) { Self.differences(from: now, to: wanted, &main) }
            main.element(.p) { p in
                let again = draft.values.map { ($0, Optional($1)) }
                p.element(
                    .a, .class("button"),
                    .href(HTMLLink(location: now.identifier, of: tenant, "edit", query: again)),
                    text: "Review your changes against the current values")
                p.text(" ")
                p.element(
                    .a, .href(HTMLLink(location: now.identifier, of: tenant)), text: "Discard your changes")
            }
        }
        page.status = .conflict
        return page
    }
}
