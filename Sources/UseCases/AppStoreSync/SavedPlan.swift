import Formats
public import Foundation
public import Tenancy

/// A plan that a person has reviewed. It is applied exactly, or nothing is applied.
public struct SavedPlan: Sendable, Hashable {
    public let tenant: TenantID
    public let clip: BundleID
    public let madeAt: Date
    /// The options of the plan, which 'apply' does not accept again.
    public let wishes: SyncRunner.Wishes
    /// The changes, by URL.
    let changes: [String: SyncPlan.Step]

    /// The version of the file; the meaning of its members does not change within one version. [ours]
    public static let formatVersion = 1

    init(
        tenant: TenantID, clip: BundleID, madeAt: Date, wishes: SyncRunner.Wishes,
        changes: [String: SyncPlan.Step]
    ) {
        self.tenant = tenant
        self.clip = clip
        self.madeAt = madeAt
        self.wishes = wishes
        self.changes = changes
    }

    public init(
        _ survey: SyncSurvey, of clip: BundleID, _ tenant: TenantID, _ wishes: SyncRunner.Wishes,
        at now: Date
    ) {
        self.init(
            tenant: tenant, clip: clip, madeAt: now, wishes: wishes,
            changes: Dictionary(
                survey.plan.rows.filter(\.step.isChange).map { ($0.url, $0.step) }
            ) { first, _ in first })
    }

    /// The remaining allowance, if a part of the plan is already done.
    var wishesLeft: SyncRunner.Wishes {
        var left = wishes
        left.isKept = true
        return left
    }

    /// Whether the plan contains this change.
    func has(_ row: SyncPlan.Row) -> Bool { changes[row.url] == row.step }

    /// Changes that are already done do not matter, so a stopped run can continue with the same file.
    /// - Throws: `SyncError.stalePlan` if a change differs now or is no longer possible.
    func check(_ plan: SyncPlan) throws(SyncError) {
        let rows = Dictionary(plan.rows.map { ($0.url, $0) }) { first, _ in first }
        var differences: [String: String] = [:]
        for row in plan.rows where row.step.isChange && !has(row) && !isUnderWay(row) {
            differences[row.url] = Self.difference(changes[row.url], row.step)
        }
        for (url, planned) in changes where rows[url]?.step.isChange != true {
            switch (rows[url]?.step, planned) {
            case (.inStep, _), (nil, .remove): continue
            // It was tried since.
            case (.blocked([.obstacle(.refusedBefore)]), _), (.blocked([.obstacle(.imageRejected)]), _):
                continue
            // It was sent, and a run settles whether it happened.
            case (.blocked([.unsettledCreation]), .create): continue
            case (let step, _): differences[url] = Self.difference(planned, step)
            }
        }
        guard let first = differences.min(by: { $0.key < $1.key }) else { return }
        throw .stalePlan(url: first.key, first.value, count: differences.count)
    }

    /// Whether the row is a creation of the plan that was sent and has happened, but is not yet recorded as done. Without
    /// permission to adopt, only such experiences are adopted.
    private func isUnderWay(_ row: SyncPlan.Row) -> Bool {
        guard case .create = changes[row.url], case .adopt(_, let changes, _) = row.step else { return false }
        return changes.isEmpty && !wishes.adopts
    }

    private static func difference(
        _ planned: SyncPlan.Step?, _ step: SyncPlan.Step?
    ) -> String {
        guard let planned else { return "no change was planned, but now \(step?.name ?? "none") is due" }
        switch step {
        case nil: return "\(planned.name) was planned, but the catalogue no longer has it"
        case .blocked(let blocks):
            let codes = blocks.map(\.code).joined(separator: ", ")
            return "\(planned.name) was planned, but it is now blocked by \(codes)"
        case let step? where step.name != planned.name:
            return "\(planned.name) was planned, but now it would be \(step.name)"
        case let step?:
            let before = planned.changes.map { [$0.path: $0.old] }
            return before == step.changes.map { [$0.path: $0.old] }
                ? "the catalogue has changed"
                : "App Store Connect, or the applied state, has changed"
        }
    }
}

extension SyncPlan.Step {
    fileprivate var changes: [FieldChange] {
        switch self {
        case .update(_, let changes, _), .adopt(_, let changes, _): changes
        case .create, .remove, .blocked, .unmanaged, .inStep: []
        }
    }
}
