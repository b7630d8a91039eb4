import ArgumentParser
import Receipts

/// The file of the keys for receipts.
struct ReceiptKeyOptions: ParsableArguments {
    @Option(
        name: .customLong("receipt-keys"),
        help: ArgumentHelp(
            "The file of the keys that sign receipts. (environment: DOORSTEP_RECEIPT_KEYS)", valueName: "file"
        ))
    var path: String?

    var file: ReceiptKeyFile? {
        (path ?? Environment.text("DOORSTEP_RECEIPT_KEYS")).map(ReceiptKeyFile.init(path:))
    }

    func requiredFile() throws -> ReceiptKeyFile {
        guard let file else { throw CommandError.noReceiptKeys }
        return file
    }
}

/// Whether receipts are made, and in whose name.
struct ReceiptOptions: ParsableArguments {
    @OptionGroup var keys: ReceiptKeyOptions
    @Option(
        name: .customLong("receipt-issuer"),
        help: "Who receipts say they are from. (environment: DOORSTEP_RECEIPT_ISSUER, default: doorstep)")
    var issuer: String?

    /// Nil when there are no keys.
    func makeIssuer() throws -> ReceiptIssuer? {
        guard let file = keys.file else { return nil }
        return ReceiptIssuer(name, keys: try file.keys())
    }

    private var name: String { issuer ?? Environment.text("DOORSTEP_RECEIPT_ISSUER") ?? "doorstep" }
}
