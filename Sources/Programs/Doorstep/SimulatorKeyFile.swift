import Crypto
import Foundation

/// The private key with which a simulator's owner signs. It is read from a file, or created and written there.
enum SimulatorKeyFile {
    static func key(at file: String) throws -> P256.Signing.PrivateKey {
        try existingKey(file) ?? newKey(file)
    }

    private static func existingKey(_ file: String) throws -> P256.Signing.PrivateKey? {
        guard FileManager.default.fileExists(atPath: file) else { return nil }
        guard let pem = try? String(contentsOfFile: file, encoding: .utf8),
            let key = try? P256.Signing.PrivateKey(pemRepresentation: pem)
        else { throw CommandError.invalidOption("--private-key", "\(file) is not a P-256 private key") }
        return key
    }

    private static func newKey(_ file: String) throws -> P256.Signing.PrivateKey {
        let key = P256.Signing.PrivateKey()
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CommandError.unwritableFile(file) }
        do {
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            try handle.write(contentsOf: Data((key.pemRepresentation + "\n").utf8))
            try handle.close()
        } catch {
            throw CommandError.unwritableFile(file)
        }
        return key
    }
}
