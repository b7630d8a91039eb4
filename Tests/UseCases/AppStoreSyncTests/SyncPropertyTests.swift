import AppStoreSync
import Invocation
import Testing

struct SyncPropertyTests {
    private static let seeds: Range<UInt64> = 0..<500

    @Test func appliedPlanLeavesNoChanges() throws {
        var kinds: Set<String> = []
        for seed in Self.seeds {
            let registrations = try RandomRegistrations(seed: seed)
            let plan = try SyncPlan(registrations.state, policy: registrations.policy)
            kinds.formUnion(plan.rows.map { String("\($0.step)".prefix { $0.isLetter }) })
            let after = try SyncPlan(registrations.applying(plan), policy: registrations.policy)
            #expect(after.isEmpty, "seed \(seed): \(after.rows.filter(\.step.isChange))")
        }
        #expect(
            kinds == ["create", "update", "remove", "adopt", "blocked", "unmanaged", "inStep"])
    }

    @Test func planIsIndependentOfInputOrder() throws {
        for seed in Self.seeds {
            let registrations = try RandomRegistrations(seed: seed)
            let plan = try SyncPlan(registrations.state, policy: registrations.policy)
            #expect(
                try SyncPlan(registrations.shuffled(), policy: registrations.policy) == plan,
                "seed \(seed)")
        }
    }

    @Test func planChangesOnlyOwnedExperiences() throws {
        for seed in Self.seeds {
            let registrations = try RandomRegistrations(seed: seed)
            let state = registrations.state
            let plan = try SyncPlan(state, policy: registrations.policy)
            var removals = 0
            for row in plan.rows {
                switch row.step {
                case .update(let id, _, _):
                    #expect(id.hasPrefix("own-"), "seed \(seed)")
                case .remove(let id):
                    removals += 1
                    #expect(id.hasPrefix("own-") && state.listing.isComplete, "seed \(seed)")
                case .adopt(let id, _, _):
                    #expect(id.hasPrefix("other-"), "seed \(seed)")
                case .create, .blocked, .unmanaged, .inStep: break
                }
            }
            #expect(removals <= registrations.policy.allowedRemovals, "seed \(seed)")
            #expect(!state.desired.isEmpty || removals == 0, "seed \(seed)")
        }
    }

    /// An experience in the records or in the listing is not created again.
    @Test func planCreatesNothingTwice() throws {
        for seed in Self.seeds {
            let registrations = try RandomRegistrations(seed: seed)
            let state = registrations.state
            var taken = Set(
                try state.listing.experiences.filter { !state.removedIDs.contains($0.id) }
                    .map { try InvocationURL($0.link).canonical })
            for row in state.applied {
                switch row.phase {
                case .created: taken.insert(row.url.canonical)
                case .creating(let missing): if missing < 2 { taken.insert(row.url.canonical) }
                }
            }
            for row in try SyncPlan(state, policy: registrations.policy).rows {
                switch row.step {
                case .create: #expect(!taken.contains(row.url), "seed \(seed): \(row.url)")
                default: break
                }
            }
        }
    }

    /// An update contains all desired values, and keeps texts and choices that the catalogue does not specify.
    @Test func updateKeepsUnspecifiedFields() throws {
        for seed in Self.seeds {
            let registrations = try RandomRegistrations(seed: seed)
            let remote = Dictionary(
                uniqueKeysWithValues: registrations.state.listing.experiences.map {
                    ($0.id, $0.content.fields)
                })
            let desired = Dictionary(
                uniqueKeysWithValues: registrations.state.desired.map {
                    ($0.url.canonical, $0.content.fields)
                })
            for row in try SyncPlan(registrations.state, policy: registrations.policy).rows {
                guard case .update(let id, _, let sent) = row.step, let old = remote[id] else { continue }
                let expected = old.merging(desired[row.url] ?? [:]) { $1 }
                #expect(sent.fields == expected, "seed \(seed): \(row.url)")
            }
        }
    }
}
