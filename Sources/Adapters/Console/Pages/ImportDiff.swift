import Administration
import Formats
import Geodesy
import Invocation
import Lookups
import Tenancy

/// The locations that a file would move far.
struct MovedLocations: Sendable {
    struct Move: Sendable {
        let identifier: String
        let name: String
        let distance: Distance
    }

    /// In the order of the file, at most ``limit``.
    private(set) var first: [Move] = []
    private(set) var count = 0

    /// A longer move may be a mistake. [ours]
    static let threshold = Distance(meters: 500)
    private static let limit = ImportPlan.limit

    /// Skips refused rows.
    init(in file: [UInt8], from table: TenantTable) async throws {
        var reader = TableReader<LocationRecord>()
        for try await piece in FilePieces(bytes: file) { add(try reader.rows(in: piece), table) }
        add(try reader.finish(), table)
    }

    private mutating func add(_ rows: [ImportedRow<LocationRecord>], _ table: TenantTable) {
        for case .row(let record, _, _) in rows {
            guard let now = table.location(record.identifier) else { continue }
            let distance = now.region.center.distance(to: record.region.center)
            guard distance > Self.threshold else { continue }
            count += 1
            guard first.count < Self.limit else { continue }
            first.append(
                Move(identifier: record.identifier.text, name: record.name.text, distance: distance))
        }
    }
}

extension HTMLWriter {
    /// The changes that an import would make.
    mutating func diff(_ plan: ImportPlan, _ moved: MovedLocations, prunes: Bool) {
        table("Changes by kind", columns: ["Change", "Count"]) { rows in
            let counts = [
                ("new", plan.counts.added), ("changed", plan.counts.changed),
                ("moved more than \(LocationsPage.meters(MovedLocations.threshold))", moved.count),
                ("removed", plan.counts.removed), ("unchanged", plan.counts.unchanged),
            ]
            for (what, count) in counts {
                rows.element(.tr) { row in
                    row.element(.th, .scope("row"), text: what)
                    row.element(.td, .class("number"), text: count.grouped)
                }
            }
        }
        if !plan.removalsAreAllowed {
            element(
                .p, .class("error"), .role("alert"),
                text:
                    "The import would remove more than half of the locations. Set a higher limit, or import without removals."
            )
        }
        for quota in plan.quotas where quota.isExceeded {
            element(
                .p, .class("error"), .role("alert"), text: "\(QuotaExceeded(quota))".capitalizedSentence + "."
            )
        }
        if plan.inUse.count > 0 {
            element(
                .p, .class("error"), .role("alert"),
                text:
                    "Some locations to be removed are in use. Remove the references first; until then nothing can be imported."
            )
            items("In use", plan.inUse.first, of: plan.inUse.count)
        }
        if moved.count > 0 {
            element(.h2, text: "Moved more than \(LocationsPage.meters(MovedLocations.threshold))")
            element(.ul) { list in
                for move in moved.first {
                    list.element(.li) { item in
                        item.element(.code) { $0.name(move.identifier) }
                        item.text(" ")
                        item.name(move.name)
                        item.text(": \(LocationsPage.meters(move.distance))")
                    }
                }
            }
            more(moved.count - moved.first.count)
        }
        items("Changed", plan.changed, of: plan.counts.changed)
        cleared(plan.cleared)
        items("New", plan.added, of: plan.counts.added)
        if prunes { items("Removed", plan.removed, of: plan.counts.removed) }
    }

    /// The fields that would be lost.
    private mutating func cleared(_ fields: [ImportPlan.Clearing]) {
        guard !fields.isEmpty else { return }
        element(.h2, text: "Cleared")
        element(.ul) { list in
            for cleared in fields {
                list.element(.li) { item in
                    item.element(.code) { $0.name(cleared.field) }
                    item.text(
                        ": at \(cleared.count.grouped) \(cleared.count == 1 ? "location" : "locations")")
                }
            }
        }
    }

    private mutating func items(_ title: String, _ items: [ImportPlan.Item], of count: Int) {
        guard count > 0 else { return }
        element(.h2, text: title)
        element(.ul) { list in
            for planned in items {
                list.element(.li) { item in
                    item.element(.code) { $0.name(planned.name) }
                    guard !planned.detail.isEmpty else { return }
                    item.text(": ")
                    item.name(planned.detail)
                }
            }
        }
        more(count - items.count)
    }

    /// The refused rows with their reasons.
    mutating func refused(_ problems: ImportProblems) {
        element(
            .p, .class("error"), .role("alert"),
            text:
                "\(problems.count.grouped) \(problems.count == 1 ? "row is" : "rows are") refused. Correct the file; nothing can be imported until then."
        )
        table("Refused rows", columns: ["Line", "Location", "Reason", "Value"]) { rows in
            for problem in problems.first {
                rows.element(.tr) { row in
                    row.element(.th, .scope("row"), text: "\(problem.line)")
                    row.element(.td) { $0.name(problem.item ?? "") }
                    row.element(.td) { $0.name(problem.reason) }
                    row.element(.td) { $0.name(problem.value ?? "") }
                }
            }
        }
        more(problems.count - problems.first.count)
    }

    private mutating func more(_ count: Int) {
        if count > 0 { element(.p, .class("hint"), text: "And \(count.grouped) more.") }
    }
}
