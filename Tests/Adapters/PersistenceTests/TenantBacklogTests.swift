import Foundation
import Tenancy
import Testing

@testable import Persistence

/// Several tenants share a queue of limited size.
@Suite struct TenantBacklogTests {
    private let tenants = (0..<5).map { _ in TenantID(UUID()) }

    private static func counts(_ backlog: TenantBacklog<Int>, _ tenants: [TenantID]) -> [Int] {
        var backlog = backlog
        let all = backlog.removeFirst(upTo: .max)
        return tenants.map { tenant in all.count { $0.tenant == tenant } }
    }

    @Test func singleTenantUsesTheWholeBacklog() {
        var backlog = TenantBacklog<Int>()
        let kept = (0..<150).map { backlog.append($0, of: tenants[0], room: 100) }
        #expect(kept == Array(repeating: true, count: 100) + Array(repeating: false, count: 50))
        let all = backlog.removeFirst(upTo: .max)
        #expect(all.map(\.element) == Array(0..<100))
        #expect(backlog.count == 0)
    }

    @Test func floodingTenantMakesRoomForOthers() {
        var backlog = TenantBacklog<Int>()
        for number in 0..<1_000 { _ = backlog.append(number, of: tenants[0], room: 100) }
        var dropped = 0
        for tenant in tenants[1...3] {
            for number in 0..<20 { dropped += backlog.append(number, of: tenant, room: 100) ? 0 : 1 }
        }
        // Each record of the other tenants replaced one record of the largest tenant.
        #expect(dropped == 60 && backlog.count == 100)
        #expect(Self.counts(backlog, tenants) == [40, 20, 20, 20, 0])
        // The oldest records of this tenant stay.
        var rest = backlog
        #expect(
            rest.removeFirst(upTo: .max).filter { $0.tenant == tenants[0] }.map(\.element) == Array(0..<40))
    }

    @Test func floodingTenantsShareEqually() {
        var backlog = TenantBacklog<Int>()
        for tenant in tenants {
            for number in 0..<1_000 { _ = backlog.append(number, of: tenant, room: 100) }
        }
        #expect(Self.counts(backlog, tenants) == [20, 20, 20, 20, 20])
    }

    @Test func backlogIsBoundedWithMoreTenantsThanRoom() {
        var backlog = TenantBacklog<Int>()
        let many = (0..<10).map { _ in TenantID(UUID()) }
        for tenant in many { for number in 0..<3 { _ = backlog.append(number, of: tenant, room: 4) } }
        #expect(backlog.count == 4)
        #expect(Self.counts(backlog, many).allSatisfy { $0 <= 1 })
    }

    @Test func backlogWithoutRoomAcceptsNothing() {
        var backlog = TenantBacklog<Int>()
        let isKept = backlog.append(1, of: tenants[0], room: 0)
        #expect(!isKept && backlog.count == 0)
    }

    @Test func batchContainsElementsOfEachTenant() {
        var backlog = TenantBacklog<Int>()
        for number in 0..<1_000 { _ = backlog.append(number, of: tenants[0], room: 2_000) }
        for number in 0..<3 { _ = backlog.append(number, of: tenants[1], room: 2_000) }
        let batch = backlog.removeFirst(upTo: 100)
        #expect(batch.count == 100 && backlog.count == 903)
        #expect(batch.filter { $0.tenant == tenants[1] }.map(\.element) == [0, 1, 2])
        #expect(batch.filter { $0.tenant == tenants[0] }.map(\.element) == Array(0..<97))
    }

    @Test func elementsPutBackComeFirst() {
        var backlog = TenantBacklog<Int>()
        for number in 0..<4 { _ = backlog.append(number, of: tenants[0], room: 10) }
        let taken = backlog.removeFirst(upTo: 2)
        backlog.putBack(taken.map(\.element), of: tenants[0])
        #expect(backlog.removeFirst(upTo: 10).map(\.element) == [0, 1, 2, 3])
    }
}
