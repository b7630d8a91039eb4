import HTTPAPI
import Logging
import Platform
import ServiceLifecycle

/// Signs receipts by the keys of a file, also when the file has changed.
struct ReceiptKeyService: Service {
    private let file: ReceiptKeyFile
    private let issuer: ReceiptIssuer
    private let logger: Logger

    /// How long a change can stay unnoticed. A new key does not sign for much longer than that.
    private static let interval = Duration.seconds(10)

    init(_ file: ReceiptKeyFile, _ issuer: ReceiptIssuer, logger: Logger) {
        self.file = file
        self.issuer = issuer
        self.logger = logger
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            // Of the start nothing is known but the keys: the first look reads the file once more.
            var known: FileStatus?
            var failure: String?
            while !Task.isCancelled {
                do {
                    if let (keys, version) = try file.read(unlessVersionIs: known) {
                        issuer.replaceKeys(by: keys)
                        known = version
                        logger.notice(
                            "keys for receipts",
                            metadata: ["keys": "\(keys.keys.map(\.id).joined(separator: " "))"])
                    }
                    failure = nil
                } catch {
                    // Told once, and not every ten seconds.
                    if failure != "\(error)" {
                        logger.error(
                            "the keys for receipts cannot be read: signing by those before",
                            metadata: ["error": "\(error)"])
                    }
                    failure = "\(error)"
                }
                try? await Task.sleep(for: Self.interval)
            }
        }
    }
}
