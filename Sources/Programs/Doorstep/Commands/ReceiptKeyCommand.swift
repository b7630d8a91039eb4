import ArgumentParser
import Formats
import Foundation
import Receipts

struct ReceiptKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receipt-key",
        abstract: "Manage the keys that sign receipts of confirmations.",
        discussion: """
            Every server reads the keys from a file, and reads it again when it changes. The public keys are at \
            /.well-known/jwks.json.

            Example: doorstep receipt-key list --receipt-keys receipts.json
            """,
        subcommands: [Create.self, Rotate.self, List.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: "Create the file, with a key that signs immediately; only its owner can read it.",
            discussion: "Example: doorstep receipt-key create --receipt-keys receipts.json")

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
            commandName: "rotate",
            abstract: "Add a key that is published now and signs in an hour.",
            discussion: """
                By then every verifier has read the published keys again. Keys whose last receipts have expired are \
                removed. Run this command as often as you want to change keys.

                Example: doorstep receipt-key rotate --receipt-keys receipts.json
                """)

        @OptionGroup var options: ReceiptKeyOptions
        @OptionGroup var output: OutputOptions
        @Flag(
            name: .customLong("at-once"),
            help: """
                Use after a leak: the new key signs now, and all others are removed. Receipts of the last ten \
                minutes become invalid.
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
            commandName: "list",
            abstract: "List the keys in the order in which they sign, without their secrets.",
            discussion: "Example: doorstep receipt-key list --receipt-keys receipts.json")

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
