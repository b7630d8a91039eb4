import Administration
import Confirmations
import Formats
import Foundation
import Geodesy
import HTTPTypes
import Invocation
import Lookups
import Persistence
import Receipts
import Tenancy

/// One location: region, URLs, confirmations and history.
struct LocationPage: Sendable {
    private let findings: FindingsCache
    private let table: LiveLookupIndex
    private let hasMap: Bool

    /// The maximum number of changes on the page, and of the tenant's changes that are searched for them. [ours]
    private static let historyLength = 20
    private static let historyReach = 10_000

    init(_ findings: FindingsCache, table: LiveLookupIndex, hasMap: Bool) {
        self.findings = findings
        self.table = table
        self.hasMap = hasMap
    }

    @Sendable func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let location = try await request.location(of: tenant)
        return .page(
            try await page(
                request, tenant, location,
                notice: request.changeNotice))
    }

    // MARK: Try a point

    /// A test of `confirmAcquired(in:)`. Nothing is recorded, and the point is in no URL and no log.
    private struct Trial {
        var latitude = ""
        var longitude = ""
        var accuracy = ""
        var access = ConfirmationRequest.LocationAccess.allowed
        var source = InvocationSource.qrCode
        var result: (confirmation: Confirmation, distance: Distance?)?
        var error: String?
    }

    @Sendable func tryPoint(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let location = try await request.location(of: tenant)
        var trial = Trial()
        trial.latitude = request.form["latitude"] ?? ""
        trial.longitude = request.form["longitude"] ?? ""
        trial.accuracy = request.form["accuracy"] ?? ""
        trial.access = request.form["access"].flatMap { .init(rawValue: $0) } ?? .allowed
        trial.source = request.form["source"].flatMap { .init(rawValue: $0) } ?? .unknown
        decide(&trial, location)
        return .page(try await page(request, tenant, location, trial: trial))
    }

    private func decide(_ trial: inout Trial, _ location: LocationRecord) {
        var evidence = ConfirmationRequest.Evidence.none
        var distance: Distance?
        if !trial.latitude.isEmpty || !trial.longitude.isEmpty {
            guard let latitude = Double(decimal: trial.latitude),
                let longitude = Double(decimal: trial.longitude),
                let point = try? Coordinate(latitude: latitude, longitude: longitude)
            else {
                trial.error =
                    "Enter a latitude from −90 to 90 and a longitude from −180 to 180, each with a decimal point."
                return
            }
            let accuracy = Double(decimal: trial.accuracy)
            guard trial.accuracy.isEmpty || accuracy?.isFinite == true else {
                trial.error = "Enter the accuracy in metres."
                return
            }
            evidence = .coordinate(point, horizontalAccuracy: accuracy.map(Distance.init(meters:)))
            distance = location.region.center.distance(to: point)
        }
        guard let url = try? InvocationURL("https://example.com/") else { return }
        let lookupLocation = Location(
            identifier: location.identifier, name: location.name.text, region: location.region,
            details: location.details)
        trial.result = (
            Confirmation(
                of: ConfirmationRequest(
                    url: url, source: trial.source, access: trial.access, evidence: evidence),
                at: lookupLocation), distance
        )
    }

    // MARK: The page

    private func page(
        _ request: ConsoleRequest, _ tenant: Tenant, _ location: LocationRecord, trial: Trial = Trial(),
        notice: String? = nil
    ) async throws -> Page {
        let found = try await findings.findings(of: tenant, at: request.now)
        let urls = try await LocationURLs(
            of: location.identifier, request, tenant.id, in: table.current?.table(of: tenant.id))
        let chart = try await ConfirmationChart(request, of: tenant, at: location.identifier)
        let history = try await request.stores.administration.history(
            of: location.identifier, of: tenant.id, limit: Self.historyLength, among: Self.historyReach)
        let quoted = location.identifier.text.shellQuoted
        return Page(
            title: location.name.text, tenant: tenant, section: .locations,
            commands: [
                "doorstep location show --tenant \(tenant.slug) \(quoted)",
                "doorstep location history --tenant \(tenant.slug) \(quoted)",
                "doorstep confirmation count --tenant \(tenant.slug) --location \(quoted)",
            ], hasMap: hasMap, notice: notice
        ) { main in
            main.element(.div, .class("beside place")) { div in
                div.element(.div) { facts in
                    self.facts(
                        request, tenant, location, found?.byLocation[location.identifier] ?? [], &facts)
                    if found == nil { facts.findingsToCome() }
                }
                if self.hasMap { Self.map(location, for: .trial, &div) }
            }
            main.element(.h2, text: "URLs that lead here")
            main.urls(urls, of: tenant)
            main.addition(
                of: ExperienceRecord.self, request, tenant,
                query: [("location", location.identifier.text)])
            main.element(.h2, text: "Confirmations in \(LocationsPage.days) days")
            main.confirmations(chart)
            main.element(.h2, .id("try"), text: "Try a point")
            Self.trial(trial, tenant, location, &main)
            main.element(.h2, text: "History")
            if history.isEmpty {
                main.element(
                    .p,
                    text:
                        "The tenant's newest \(Self.historyReach.grouped) changes include none to this location. The command searches all changes."
                )
            } else {
                main.entries(
                    history, caption: "Changes, newest first", restoredIn: request.mayChange ? tenant : nil)
            }
        }
    }

    private func facts(
        _ request: ConsoleRequest, _ tenant: Tenant, _ location: LocationRecord,
        _ findings: [CatalogueFinding], _ html: inout HTMLWriter
    ) {
        let center = location.region.center
        html.element(.dl, .class("facts")) { list in
            list.element(.dt, text: "Identifier")
            list.element(.dd) { dd in dd.element(.code) { $0.name(location.identifier.text) } }
            list.element(.dt, text: "Centre")
            list.element(.dd) { dd in
                dd.element(.code, text: "\(center.latitude), \(center.longitude)")
            }
            list.element(.dt, text: "Radius")
            list.element(.dd, text: LocationsPage.meters(location.region.radius))
            for field in LocationRecord.fields where field.kind == .optional && field.isCell {
                guard let text = field.cell(of: location) else { continue }
                list.element(.dt, text: field.name.capitalizedSentence)
                list.element(.dd) { $0.name(text) }
            }
            for (name, value) in location.details.texts {
                list.element(.dt) { $0.name(name) }
                list.element(.dd) { $0.name(value.stringValue ?? "") }
            }
        }
        html.changes(of: location, request, tenant)
        for finding in findings {
            html.element(.p, .class("finding")) { p in
                p.badge(Problem.title(of: finding.code), "warning")
                p.text(" ")
                p.name(finding.description.capitalizedSentence + ".")
            }
        }
        html.element(.details) { details in
            details.element(.summary, text: "Region in Swift")
            details.element(.pre, .tabindex(0)) { pre in
                pre.element(.code) { code in
                    code.text(
                        """
                        CLCircularRegion(
                            center: CLLocationCoordinate2D(latitude: \(center.latitude), longitude: \(center.longitude)),
                            radius: \(location.region.radius.meters), identifier: \(location.identifier.text.debugDescription))
                        """)
                }
            }
        }
    }

    /// The use of a location's map.
    enum MapUse: String {
        /// A click fills the fields of "Try a point".
        case trial = "place"
        /// Map and form change each other.
        case edit
        /// The map of a new location, without a current circle.
        case add
        /// Shows the new circle beside the current one.
        case review
    }

    /// - Parameter changed: the location after the change under review.
    static func map(
        _ location: LocationRecord, for use: MapUse, changed: LocationRecord? = nil, _ html: inout HTMLWriter
    ) {
        let (center, new) = (location.region.center, changed?.region)
        html.element(.section, .class("map-box"), .ariaLabel("Map of the location")) { section in
            section.element(
                .div, .class("map"), .data("map", use.rawValue), .hidden,
                .data("latitude", "\(center.latitude)"), .data("longitude", "\(center.longitude)"),
                .data("radius", "\(location.region.radius.meters)"),
                new.map { .data("new-latitude", "\($0.center.latitude)") },
                new.map { .data("new-longitude", "\($0.center.longitude)") },
                new.map { .data("new-radius", "\($0.radius.meters)") })
            section.element(.p, .class("hint"), .role("status"), .id("map-says"))
        }
    }

    /// The map beside the form of a new location. It begins with the tenant's other locations in view.
    static func mapOfNewLocation(of tenant: Tenant, _ html: inout HTMLWriter) {
        html.element(.section, .class("map-box"), .ariaLabel("Map of the new location")) { section in
            section.element(
                .div, .class("map"), .data("map", MapUse.add.rawValue), .hidden,
                .data("cells", HTMLLink(to: "t", tenant.slug.text, "places.cells").text))
            section.element(.p, .class("hint"), .role("status"), .id("map-says"))
        }
    }

    private static func trial(
        _ trial: Trial, _ tenant: Tenant, _ location: LocationRecord, _ html: inout HTMLWriter
    ) {
        if let result = trial.result { outcome(result, &html) }
        if let error = trial.error {
            html.element(.p, .class("error"), .role("alert"), .id("trial-error"), text: error)
        }
        html.element(
            .form, .class("filter"), .post,
            .action(HTMLLink(location: location.identifier, of: tenant, "try"))
        ) { form in
            form.field(
                "Latitude", name: "latitude", value: trial.latitude, inputmode: "decimal", isRequired: false)
            form.field(
                "Longitude", name: "longitude", value: trial.longitude, inputmode: "decimal",
                isRequired: false)
            form.field(
                "Accuracy in metres", name: "accuracy", value: trial.accuracy, inputmode: "decimal",
                isRequired: false)
            form.choice(
                "Launch source", name: "source", InvocationSource.allCases.map(\.rawValue),
                chosen: trial.source.rawValue)
            form.choice(
                "Location access", name: "access",
                ConfirmationRequest.LocationAccess.allCases.map(\.rawValue),
                chosen: trial.access.rawValue)
            form.element(.button, text: "Try")
        }
        html.element(
            .p, .class("hint"),
            text:
                "A test records nothing. If you enter no point, the result is that of a clip that sends no position."
        )
    }

    private static func outcome(
        _ result: (confirmation: Confirmation, distance: Distance?), _ html: inout HTMLWriter
    ) {
        let (confirmation, distance) = result
        let isIn = confirmation.outcome == .inRegion
        html.element(.p, .class(isIn ? "outcome ok" : "outcome failed"), .role("status")) { p in
            p.element(.span, .ariaHidden, text: isIn ? "✓ " : "✕ ")
            p.element(.code, text: confirmation.outcome.rawValue)
            if let distance { p.text(", \(LocationsPage.meters(distance)) from the centre") }
            if !confirmation.isCertain { p.text("; not certain") }
            if let error = confirmation.error {
                p.text("; \(ActivationError.domain) code \(error.code), \(error.name)")
            }
            p.text(".")
        }
    }
}

extension HTMLWriter {
    /// A select field with its label above it.
    mutating func choice(_ label: String, name: String, _ values: [String], chosen: String) {
        element(.div, .class("field")) { div in
            div.element(.label, .for(name), text: label)
            div.element(.select, .id(name), .name(name)) { select in
                for value in values {
                    select.element(
                        .option, .value(value), value == chosen ? .selected : nil,
                        text: value.replacing("_", with: " "))
                }
            }
        }
    }
}
