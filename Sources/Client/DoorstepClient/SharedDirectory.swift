public import Foundation

/// A container that is a directory: one file for each item.
///
/// It uses no lock, because the system ends an app that is suspended while it holds a lock in an App
/// Group's container [Apple: TN2408 and the termination reason `0xdead10cc`]. A file is written
/// beside its final name and then moved or linked there, which is atomic (POSIX `rename` and `link`).
public struct SharedDirectory: SharedContainer {
    private let directory: URL

    /// - Parameter directory: Created at the first write.
    public init(_ directory: URL) {
        self.directory = directory
    }

    #if canImport(Darwin)
        /// Creates the container of an App Group, which both apps must have in their entitlements
        /// (`com.apple.security.application-groups`). Nil if this app does not have it.
        public init?(appGroup: String) {
            guard
                let group = FileManager.default.containerURL(
                    forSecurityApplicationGroupIdentifier: appGroup)
            else { return nil }
            self.init(group.appendingPathComponent("Doorstep", isDirectory: true))
        }
    #endif

    /// See ``SharedContainer/read(_:)``.
    public func read(_ item: ContainerItem) throws -> Data? {
        let file = place(item)
        do {
            return try Data(contentsOf: file)
        } catch let error as CocoaError
            where error.code == .fileReadNoSuchFile || error.code == .fileNoSuchFile
        {
            return nil
        }
    }

    /// Writes a temporary file beside the item and moves it to the item's name.
    public func write(_ data: Data, to item: ContainerItem) throws {
        try makeDirectory()
        try data.write(to: place(item), options: Self.options)
    }

    /// Writes a temporary file beside the item and links it to the item's name, which fails if the item
    /// exists.
    public func establish(_ data: Data, as item: ContainerItem) throws -> Data {
        if let present = try read(item) { return present }
        try makeDirectory()
        let draft = directory.appendingPathComponent("\(item.rawValue).\(UUID().uuidString)")
        try data.write(to: draft, options: Self.options)
        defer { try? FileManager.default.removeItem(at: draft) }
        do {
            try FileManager.default.linkItem(at: draft, to: place(item))
            return data
        } catch {
            // The other process was first, or the file cannot be written at all.
            guard let present = try read(item) else { throw error }
            return present
        }
    }

    /// See ``SharedContainer/remove(_:)``.
    public func remove(_ item: ContainerItem) throws {
        do {
            try FileManager.default.removeItem(at: place(item))
        } catch let error as CocoaError where error.code == .fileNoSuchFile {
        }
    }

    private func place(_ item: ContainerItem) -> URL {
        directory.appendingPathComponent(item.rawValue)
    }

    private func makeDirectory() throws {
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        #if os(iOS)
            // An install's ID and key must not be backed up, because a backup could copy them to a second
            // device.
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            var directory = directory
            try directory.setResourceValues(values)
        #endif
    }

    /// Readable after the first unlock, as a notification may launch an app while the device is locked.
    private static var options: Data.WritingOptions {
        #if os(iOS)
            [.atomic, .completeFileProtectionUntilFirstUserAuthentication]
        #else
            .atomic
        #endif
    }
}
