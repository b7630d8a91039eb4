import ArgumentParser
import Encodings
import Foundation
import JSON
import Receipts

struct ReceiptKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receipt-key",
        abstract: "Create, rotate and list the keys that sign receipts of confirmations.",
        discussion: """
            The keys are in a file that every server reads, and reads again when it changes. Verifiers find the public \
            keys at /.well-known/jwks.json.
            """,
        subcommands: [Create.self, Rotate.self, List.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create the file with a key that signs at once, readable by its owner alone.")

        @OptionGroup var options: ReceiptKeyOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let now = Date()
            let keys = ReceiptKeySet(at: now)
            try options.requiredFile().create(keys)
            output.print(JSONObject(keys.keys[0], of: keys, at: now), line: "Created key \(keys.keys[0].id)")
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a key that is published now and signs in an hour.",
            discussion: """
                By then every verifier has read the published keys again. Keys whose last receipts have expired are \
                removed. Nothing else is needed: run it as often as keys are to change.
                """)

        @OptionGroup var options: ReceiptKeyOptions
        @OptionGroup var output: OutputOptions
        @Flag(
            name: .customLong("at-once"),
            help: """
                For keys that others may have got hold of: the new key signs now and all others are gone, so that \
                receipts of the last ten minutes are refused.
                """)
        var isAtOnce = false

        func run() async throws {
            let file = try options.requiredFile()
            let now = Date()
            let keys = isAtOnce ? ReceiptKeySet(at: now) : try file.keys().rotated(at: now)
            try file.replace(by: keys)
            let key = keys.keys[keys.keys.count - 1]
            output.print(
                JSONObject(key, of: keys, at: now),
                line: "Created key \(key.id), which signs from \(key.signsFrom.rfc3339)")
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the keys in the order in which they sign, without the keys themselves.")

        @OptionGroup var options: ReceiptKeyOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let keys = try options.requiredFile().keys()
            let now = Date()
            output.print(
                keys.keys.map { JSONObject($0, of: keys, at: now) }, columns: ["id", "status", "signsFrom"])
        }
    }
}

extension JSONObject {
    fileprivate init(_ key: ReceiptKey, of keys: ReceiptKeySet, at now: Date) {
        let status =
            if key.id == keys.signing(at: now).id { "signing" } else if key.signsFrom > now { "next" } else {
                "retired"
            }
        self = [
            "id": .string(key.id), "status": .string(status),
            "signsFrom": key.signsFrom == .distantPast ? .null : .string(key.signsFrom.rfc3339),
        ]
    }
}
