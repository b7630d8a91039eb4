import ArgumentParser
import Receipts

/// The file of the keys for receipts.
struct ReceiptKeyOptions: ParsableArguments {
    @Option(Settings.receiptKeys) var path: String?

    /// Nil if no file is named.
    func file() throws -> ReceiptKeyFile? {
        try Settings.receiptKeys.value(path).map(ReceiptKeyFile.init(path:))
    }

    func requiredFile() throws -> ReceiptKeyFile {
        guard let file = try file() else { throw CommandError.noReceiptKeys }
        return file
    }
}

/// The settings of receipts: the file of keys and the issuer.
struct ReceiptOptions: ParsableArguments {
    @OptionGroup var keys: ReceiptKeyOptions
    @Option(Settings.receiptIssuer) var issuer: String?

    /// Nil if there are no keys.
    func signing() throws -> (issuer: ReceiptIssuer, keys: ReceiptKeyFile)? {
        let name = try Settings.receiptIssuer.value(issuer)
        return try keys.file().map { (ReceiptIssuer(name, keys: try $0.keys()), $0) }
    }
}
