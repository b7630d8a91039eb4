public import Foundation

/// The storage that App Clip and full app share: a directory of their App Group, or a test's.
///
/// Both apps may use it at the same time, so each item is written whole or not at all.
public protocol SharedContainer: Sendable {
    /// Returns an item's data, or nil if there is none.
    func read(_ item: ContainerItem) throws -> Data?
    /// Writes an item, and replaces the existing one.
    func write(_ data: Data, to item: ContainerItem) throws
    /// Writes an item if there is none, and returns the stored data. If two callers do so at the same time,
    /// one writes and both get the same data.
    func establish(_ data: Data, as item: ContainerItem) throws -> Data
    /// Removes an item, if there is one.
    func remove(_ item: ContainerItem) throws
}

/// An item that a session stores.
public enum ContainerItem: String, Sendable, CaseIterable {
    /// The ID by which the server knows this install, a UUID.
    case instance
    /// The key of App Attest, and its state.
    case attestation
    /// The latest invocation URL.
    case lastURL = "last-url"
    /// The latest results of lookups.
    case lookups
}
