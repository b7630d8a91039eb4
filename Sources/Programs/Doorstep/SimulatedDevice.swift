import AppAttest
import AppAttestSimulator
import Formats
import Foundation
import Invocation
import Tenancy

/// A simulated device in a file: its root, its app, and the keys that it attested. Only the owner can read the file.
struct SimulatedDevice {
    /// An attested key. A server knows it for one clip.
    private struct AttestedKey {
        let server: String
        let clip: BundleID
        let id: [UInt8]
    }

    private let file: SecretFile
    private let root: SoftwareRoot
    private var authenticator: SoftwareAuthenticator
    private var keys: [AttestedKey] = []

    /// The certificate that a server must trust.
    var rootPEM: String { root.pem }

    /// Makes a device with a root of its own. ``save()`` writes it.
    init(
        newAt path: String, app: AppID, environment: AttestationEnvironment, category: ValidationCategory
    ) throws {
        file = SecretFile(path: path)
        root = try SoftwareRoot(at: Date())
        authenticator = try SoftwareAuthenticator(
            root: root, appID: app, environment: environment, category: category)
    }

    /// Reads a device.
    /// - Throws: `CommandError` if the file cannot be read, is not a device, or others can read it.
    init(readFrom path: String) throws {
        file = SecretFile(path: path)
        let bytes = try file.bytes()
        do {
            var fields = try JSONObjectReader(try JSONValue(parsing: bytes))
            guard let category = ValidationCategory(name: try fields.requiredString("category")) else {
                throw CommandError.unreadableFile(path)
            }
            root = try SoftwareRoot(
                pem: try fields.requiredString("root"), keyPEM: try fields.requiredString("rootKey"))
            authenticator = try SoftwareAuthenticator(
                root: root, appID: AppID(try fields.requiredString("appID")),
                environment: try fields.requiredCase("environment", of: AttestationEnvironment.self),
                category: category)
            for value in try fields.requiredArray("keys") {
                var key = try JSONObjectReader(value)
                let (server, clip) = (try key.requiredString("server"), try key.requiredString("clip"))
                let stored = SoftwareAuthenticator.StoredKey(
                    pem: try key.requiredString("privateKey"),
                    counter: UInt32(clamping: try key.requiredInteger("counter")))
                try key.finish()
                keys.append(
                    AttestedKey(server: server, clip: try BundleID(clip), id: try authenticator.add(stored)))
            }
            try fields.finish()
        } catch {
            throw CommandError.unreadableFile(path)
        }
    }

    /// Writes the file.
    func save() throws {
        let keys = self.keys.compactMap { key -> JSONValue? in
            guard let stored = authenticator.storedKey(key.id) else { return nil }
            return [
                "server": .string(key.server), "clip": .string(key.clip.text),
                "privateKey": .string(stored.pem), "counter": JSONValue(Int(stored.counter)),
            ]
        }
        let object: JSONObject = [
            "root": .string(root.pem), "rootKey": .string(root.keyPEM),
            "appID": .string(authenticator.appID.text),
            "environment": .string(authenticator.environment.rawValue),
            "category": .string(authenticator.category.name), "keys": .array(keys),
        ]
        try file.replace(by: Array((JSONValue.object(object).prettyPrinted() + "\n").utf8))
    }

    /// The key that was attested last for a clip at a server; nil if there is none.
    func keyID(of clip: BundleID, at server: String) -> [UInt8]? {
        keys.last { $0.clip == clip && $0.server == server }?.id
    }

    /// Makes a key and its attestation for a challenge.
    mutating func attest(challenge: String) throws -> (keyID: [UInt8], attestation: [UInt8]) {
        let id = authenticator.generateKey()
        let hash = ClientData.attestation(challenge: challenge).hash
        return (id, try authenticator.attest(keyID: id, clientDataHash: hash, at: Date()))
    }

    /// Remembers that a server accepted a key for a clip.
    mutating func keep(_ keyID: [UInt8], of clip: BundleID, at server: String) {
        keys.removeAll { $0.clip == clip && $0.server == server }
        keys.append(AttestedKey(server: server, clip: clip, id: keyID))
    }

    /// Signs data, and writes the file before the assertion can be used: a counter is used once.
    mutating func assertion(_ keyID: [UInt8], _ data: ClientData) throws -> [UInt8] {
        let assertion = try authenticator.assertion(keyID: keyID, clientDataHash: data.hash)
        try save()
        return assertion
    }
}
