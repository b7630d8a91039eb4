public import Foundation

/// The requests that one key has used, shared by all processes that use the key.
public protocol RequestLedger: Sendable {
    /// Sets requests aside before they are sent.
    /// - Parameter allowance: the most in the hour that ends now.
    func spend(_ count: Int, of allowance: Int, at now: Date) async throws -> RequestGrant
    /// Records that the service counts more requests than were reserved here, because others use the key, too.
    func raise(to count: Int, at now: Date) async throws
}

/// Requests that are reserved from a key's rate limit.
public struct RequestGrant: Sendable, Hashable {
    /// At most the requested number; 0 if none is left.
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
