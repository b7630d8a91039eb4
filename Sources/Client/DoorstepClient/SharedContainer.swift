public import Foundation

/// Where App Clip and full app keep what both need: a directory of their App Group, or a test's.
///
/// Both may use it at once, so each item is written whole or not at all.
public protocol SharedContainer: Sendable {
    /// What an item is, or nil when there is none.
    func read(_ item: ContainerItem) throws -> Data?
    /// Writes an item in the place of the one that is there.
    func write(_ data: Data, to item: ContainerItem) throws
    /// Writes an item where there is none, and gives what is there then: of two that do so at once, one writes and both get the
    /// same.
    func establish(_ data: Data, as item: ContainerItem) throws -> Data
    /// Removes an item, if there is one.
    func remove(_ item: ContainerItem) throws
}

/// What a session keeps.
public enum ContainerItem: String, Sendable, CaseIterable {
    /// The ID by which the server knows this install, a UUID.
    case instance
    /// The key of App Attest, and how far it has come.
    case attestation
    /// The latest invocation URL.
    case lastURL = "last-url"
    /// The latest answers to lookups.
    case lookups
}
