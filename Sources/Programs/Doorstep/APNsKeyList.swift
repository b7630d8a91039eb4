import APNsClient
import APNsPayload
import Formats
import Foundation
import Notifications
import Platform
import Tenancy

/// The file with the keys of each team: `{"keys": [{"team": …, "id": …, "file": …}]}`.
///
/// Each entry has a team, the ID of the team's key, and Apple's `.p8` file. The file's path is relative to the list; only the
/// file's owner and group may read it. A key for one environment has `environments`, and a topic-specific key has its bundle IDs in
/// `topics`. Two keys cannot be for the same team, environment and bundle ID.
struct APNsKeyList {
    let path: String

    private static let maximumLength = 1 << 20

    /// An entry of the list.
    private struct Entry {
        let team: TeamID
        let id: String
        let environments: Set<APNsEnvironment>
        /// Nil for a key of the whole team.
        let topics: Set<BundleID>?
        let file: SecretFile

        func key() throws -> APNsKey {
            let pem = String(decoding: try file.bytes(), as: UTF8.self)
            return try APNsKey(team: team, id: id, pem: pem, environments: environments, topics: topics)
        }

        /// Whether both keys would serve the same requests, so that the server could not choose between them.
        func competes(with other: Entry) -> Bool {
            guard team == other.team, !environments.isDisjoint(with: other.environments) else { return false }
            guard let topics, let otherTopics = other.topics else { return topics == other.topics }
            return !topics.isDisjoint(with: otherTopics)
        }
    }

    /// The keys, with their files read.
    /// - Throws: `CommandError`, and `APNsClientError` for an invalid key.
    func keys() throws -> [APNsKey] { try entries().map { try $0.key() } }

    /// The keys, with their files read.
    /// - Parameter known: The versions of the files that are in use, the list's first.
    /// - Returns: Nil if no file has changed.
    func read(
        unlessVersionsAre known: [FileStatus?]?
    ) throws -> (keys: [APNsKey], versions: [FileStatus?])? {
        // The versions are read before the files, so that a change between the two is read the next time.
        let version = FileStatus(path: path)
        let entries = try entries()
        let versions = [version] + entries.map { FileStatus(path: $0.file.path) }
        if versions == known { return nil }
        return (try entries.map { try $0.key() }, versions)
    }

    private func entries() throws -> [Entry] {
        guard let file = FileHandle(forReadingAtPath: path),
            let text = try? file.read(upToCount: Self.maximumLength), text.count < Self.maximumLength
        else { throw CommandError.unreadableFile(path) }
        guard case .object(let object)? = try? JSONValue(parsing: text) else {
            throw CommandError.notAnObject(path)
        }
        do {
            var reader = JSONObjectReader(object)
            let keys = try reader.requiredArray("keys")
            try reader.finish()
            let entries = try keys.enumerated().map { number, key in
                try entry(try JSONObjectReader(key, path: "keys[\(number)]"))
            }
            for (number, entry) in entries.enumerated()
            where entries[..<number].contains(where: { $0.team == entry.team && $0.id == entry.id }) {
                throw JSONFieldError.invalid(
                    path: "keys[\(number)].id", reason: "must not be named twice for a team")
            }
            for (number, entry) in entries.enumerated() {
                guard let other = entries[..<number].firstIndex(where: { $0.competes(with: entry) }) else {
                    continue
                }
                throw JSONFieldError.invalid(
                    path: "keys[\(number)]",
                    reason: "must not be for the same team, environment and topic as keys[\(other)]:"
                        + " name different environments or topics, or remove one key")
            }
            guard !entries.isEmpty else {
                throw JSONFieldError.invalid(path: "keys", reason: "must not be empty")
            }
            return entries
        } catch let error as JSONFieldError {
            throw CommandError.invalidAPNsKeys(path, "\(error)")
        }
    }

    private func entry(_ entry: JSONObjectReader) throws -> Entry {
        var entry = entry
        let team = try entry.requiredString("team")
        let id = try entry.requiredString("id")
        let file = try entry.requiredString("file")
        let environments = try entry.optionalArray("environments")
        let topics = try entry.optionalArray("topics")
        try entry.finish()
        guard let team = try? TeamID(team) else {
            throw JSONFieldError.invalid(
                path: entry.path(of: "team"), reason: "must be a team ID such as ABCDE12345")
        }
        let known = environments?.compactMap { $0.stringValue.flatMap(APNsEnvironment.init) }
        guard known?.count == environments?.count, known?.isEmpty != true else {
            throw JSONFieldError.invalid(
                path: entry.path(of: "environments"), reason: "must be production, sandbox, or both")
        }
        let bundleIDs = topics?.compactMap { $0.stringValue.flatMap { try? BundleID($0) } }
        guard bundleIDs?.count == topics?.count, bundleIDs?.isEmpty != true else {
            throw JSONFieldError.invalid(
                path: entry.path(of: "topics"), reason: "must be bundle IDs such as com.example.MyApp.Clip")
        }
        let place = URL(
            fileURLWithPath: file, relativeTo: URL(fileURLWithPath: path).deletingLastPathComponent())
        return Entry(
            team: team, id: id, environments: known.map(Set.init) ?? Set(APNsEnvironment.allCases),
            topics: bundleIDs.map(Set.init), file: SecretFile(path: place.path))
    }
}
