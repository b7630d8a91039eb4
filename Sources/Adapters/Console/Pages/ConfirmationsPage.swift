import Administration
import Confirmations
import Formats
import Foundation
import Invocation
import Receipts

/// Numbers of confirmations by day and outcome. Doorstep stores no coordinates of confirmations.
struct ConfirmationsPage: Sendable {
    private let finished: FinishedDays<ConfirmationCounts>

    init(_ finished: FinishedDays<ConfirmationCounts>) {
        self.finished = finished
    }

    @Sendable func response(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let counts = try await finished.counts(
            of: tenant.id, days: LocationsPage.days, at: request.now
        ) { try await request.stores.confirmations.counts($0, of: tenant.id) }
        let chart = ConfirmationChart(counts, at: request.now)
        return .page(
            Page(
                title: "Confirmations", tenant: tenant, section: .confirmations,
                commands: ["doorstep confirmation count --tenant \(tenant.slug)"]
            ) { main in
                main.element(
                    .p, text: "Confirmations at all locations, and for URLs that lead to no location.")
                main.confirmations(chart)
            })
    }
}

/// The confirmations of the last days, counted by day and outcome.
struct ConfirmationChart {
    /// Oldest day first. Includes days without confirmations.
    let days: [(day: String, counts: [Confirmation.Outcome: Int])]

    /// The confirmations at one location.
    init(_ request: ConsoleRequest, of tenant: Tenant, at location: LocationIdentifier) async throws {
        self.init(
            try await request.stores.confirmations.counts(
                ConfirmationSelection(location: location, start: request.firstDay),
                of: tenant.id), at: request.now)
    }

    init(_ counts: [ConfirmationCounts], at now: Date) {
        let byDay = Dictionary(counts.map { ($0.day, $0.counts) }, uniquingKeysWith: { one, _ in one })
        let first = now.start(ofDays: LocationsPage.days)
        days = (0..<LocationsPage.days).map { number in
            let day = first.addingTimeInterval(Double(number) * 86_400)
            return (String(day.rfc3339.prefix(10)), byDay[day] ?? [:])
        }
    }

    var total: Int { days.reduce(0) { $0 + $1.counts.values.reduce(0, +) } }
    var highest: Int { days.map { $0.counts.values.reduce(0, +) }.max() ?? 0 }

    /// In the order of a bar's segments, from bottom to top.
    static let outcomes = Confirmation.Outcome.allCases.map { (outcome: $0, title: title(of: $0)) }

    private static func title(of outcome: Confirmation.Outcome) -> String {
        switch outcome {
        case .inRegion: "in region"
        case .notInRegion: "not in region"
        case .doesNotMatch: "does not match"
        case .disallowed: "disallowed"
        case .undetermined: "undetermined"
        }
    }
}

extension HTMLWriter {
    /// A bar chart, and the same numbers as a table.
    mutating func confirmations(_ chart: ConfirmationChart) {
        guard chart.total > 0 else {
            return element(.p, text: "No confirmations in the last \(LocationsPage.days) days.")
        }
        let (step, height) = (12.0, 96.0)
        element(.figure, .class("chart")) { figure in
            figure.element(
                .svg, .role("img"),
                .ariaLabel(
                    "\(chart.total.grouped) confirmations in \(LocationsPage.days) days, at most \(chart.highest.grouped) on one"
                ),
                .viewBox(width: Int(step) * chart.days.count, height: Int(height))
            ) { svg in
                for (index, day) in chart.days.enumerated() {
                    var bottom = height
                    for (outcome, _) in ConfirmationChart.outcomes {
                        guard let count = day.counts[outcome] else { continue }
                        let tall = Double(count) / Double(chart.highest) * (height - 4)
                        bottom -= tall
                        svg.element(
                            .rect, .class("bar \(outcome.rawValue)"), .x(Double(index) * step + 1),
                            .y(bottom),
                            .width(step - 2), .height(tall))
                    }
                }
            }
            figure.element(.figcaption) { caption in
                for (outcome, title) in ConfirmationChart.outcomes {
                    let count = chart.days.reduce(0) { $0 + ($1.counts[outcome] ?? 0) }
                    guard count > 0 else { continue }
                    caption.element(
                        .span, .class("key \(outcome.rawValue)"), text: "\(title) \(count.grouped)")
                }
            }
        }
        element(.details) { details in
            details.element(.summary, text: "Show as a table")
            details.table(
                "Confirmations by day", columns: ["Day"] + ConfirmationChart.outcomes.map(\.title)
            ) { rows in
                for day in chart.days.reversed() where !day.counts.isEmpty {
                    rows.element(.tr) { row in
                        row.element(.th, .scope("row"), text: day.day)
                        for (outcome, _) in ConfirmationChart.outcomes {
                            row.element(.td, .class("number"), text: (day.counts[outcome] ?? 0).grouped)
                        }
                    }
                }
            }
        }
    }
}
