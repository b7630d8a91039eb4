import APNsClient
import Foundation
import JSON
import Notifications
import Tenancy

/// The file that says which key is used for which team: `{"keys": [{"team": …, "id": …, "file": …}]}`.
///
/// Each entry names a team, the ID of its key, the `.p8` file that Apple gave out (relative to the list, and readable by
/// nobody but its owner and its group) and, for a key that is for one alone, its `environments`.
struct APNsKeyList {
    let path: String

    private static let maximumLength = 1 << 20

    /// The keys, with their files read.
    /// - Throws: `CommandError`, and `APNsClientError` for what is no key.
    func keys() throws -> [APNsKey] {
        guard let file = FileHandle(forReadingAtPath: path),
            let text = try? file.read(upToCount: Self.maximumLength), text.count < Self.maximumLength
        else { throw CommandError.unreadableFile(path) }
        guard case .object(let object)? = try? JSONValue(parsing: text) else {
            throw CommandError.notAnObject(path)
        }
        do {
            var reader = JSONObjectReader(object)
            let entries = try reader.requiredArray("keys")
            try reader.finish()
            let keys = try entries.enumerated().map { number, entry in
                try key(try JSONObjectReader(entry, path: "keys[\(number)]"))
            }
            guard !keys.isEmpty else {
                throw JSONFieldError.invalid(path: "keys", reason: "must not be empty")
            }
            return keys
        } catch let error as JSONFieldError {
            throw CommandError.invalidAPNsKeys(path, "\(error)")
        }
    }

    private func key(_ entry: JSONObjectReader) throws -> APNsKey {
        var entry = entry
        let team = try entry.requiredString("team")
        let id = try entry.requiredString("id")
        let file = try entry.requiredString("file")
        let environments = try entry.optionalArray("environments")
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
        let place = URL(
            fileURLWithPath: file, relativeTo: URL(fileURLWithPath: path).deletingLastPathComponent())
        let pem = String(decoding: try SecretFile(path: place.path).bytes(), as: UTF8.self)
        return try APNsKey(
            team: team, id: id, pem: pem, environments: known.map(Set.init) ?? Set(APNsEnvironment.allCases))
    }
}
