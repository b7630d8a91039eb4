public import Foundation

/// What the requests of one key have cost, kept where all processes that use the key see it.
public protocol RequestLedger: Sendable {
    /// Sets requests aside before they are sent.
    /// - Parameter allowance: the most in the hour that ends now.
    func spend(_ count: Int, of allowance: Int, at now: Date) async throws -> RequestGrant
    /// Takes note that the service counts more than was set aside here: others use the key too.
    func raise(to count: Int, at now: Date) async throws
}

/// What is set aside of a key's budget.
public struct RequestGrant: Sendable, Hashable {
    /// At most what was asked for; 0 where there is no room.
    public let count: Int
    /// All of the hour, these among them.
    public let spent: Int
    /// When there is room again.
    public let next: Date

    public init(count: Int, spent: Int, next: Date) {
        self.count = count
        self.spent = spent
        self.next = next
    }
}
