import APNsPayload
import APNsSimulator
import Crypto
import Formats
import Foundation
import Notifications
import TestSupport
import Testing

/// A key for APNs that the simulator accepts, with the files and settings for a server.
struct ProviderKey {
    static let team = "ABCDE12345"
    static let id = "KEY0000001"

    let key = P256.Signing.PrivateKey()
    private let directory: TemporaryDirectory

    init(in directory: TemporaryDirectory) {
        self.directory = directory
    }

    /// A simulator of the production environment that knows the key.
    var simulator: APNsSimulator.Options {
        var options = APNsSimulator.Options(
            teams: [
                .init(id: Self.team, keys: [.init(id: Self.id, publicKey: key.publicKey.pemRepresentation)])
            ])
        options.environment = .production
        return options
    }

    /// Writes the key, the simulator's certificate and a key list. Returns the server's settings for them.
    func settings(for simulator: APNsSimulator, listedFor team: String = team) throws -> [String: String] {
        try write(key.pemRepresentation, to: "AuthKey.p8")
        try write(try #require(simulator.authority), to: "ca.pem")
        try list(for: team)
        return [
            "DOORSTEP_TOKEN_SECRET": "a secret of the tests that is long enough too",
            "DOORSTEP_APNS_KEYS": directory.path("keys.json"),
            "DOORSTEP_APNS_CA_FILE": directory.path("ca.pem"),
            "DOORSTEP_APNS_PRODUCTION": "127.0.0.1:\(simulator.port)",
        ]
    }

    /// Replaces the list by one that assigns the key to a team.
    func list(for team: String) throws {
        try writeList(#"{"keys": [{"team": "\#(team)", "id": "\#(Self.id)", "file": "AuthKey.p8"}]}"#)
    }

    func writeList(_ text: String) throws { try write(text, to: "keys.json") }

    /// Replaces the file atomically, because a server may read it at any time.
    private func write(_ text: String, to name: String) throws {
        let path = directory.path(name)
        let unfinished = path + ".unfinished"
        try Data(text.utf8).write(to: URL(fileURLWithPath: unfinished))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: unfinished)
        try #require(rename(unfinished, path) == 0)
    }
}
