import Administration
import ArgumentParser
import Formats
import ServerClient

/// The command that manages the items of one kind. It follows from the description of the resource, whose key is one field.
struct CollectionCommand<Item: CollectionResource>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: Item.commandName, abstract: "Manage a tenant's \(Item.noun)s.",
            discussion: "Example: doorstep \(Item.commandName) list",
            subcommands: subcommands + [Export.self])
    }

    /// The subcommands of every kind.
    static var subcommands: [any ParsableCommand.Type] {
        [Create.self, List.self, Show.self, Update.self, Delete.self, Import.self]
    }

    private static func verb(
        _ name: String, _ abstract: String, example: String, _ discussion: String = ""
    ) -> CommandConfiguration {
        CommandConfiguration(
            commandName: name, abstract: abstract,
            discussion: "\(discussion)Example: doorstep \(Item.commandName) \(name)\(example)")
    }

    struct Create: AsyncParsableCommand {
        static var configuration: CommandConfiguration {
            CollectionCommand.verb(
                "create", "Create a \(Item.noun).", example: Item.exampleKey + Item.exampleOptions)
        }

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: Item.keyHelp) var key: String
        @OptionGroup var fields: NewItemOptions<Item>

        func run() async throws {
            var members = fields.members
            if let field = Item.keyField { members[field.name] = .string(key) }
            let item = try Item.read(members)
            try await tenant.withItems(Item.self) { try await $0.create(item) }
            output.print(item.json, line: "Created \(Item.noun) \(key)")
        }
    }

    struct List: AsyncParsableCommand {
        static var configuration: CommandConfiguration {
            CollectionCommand.verb(
                "list", "List a tenant's \(Item.noun)s by \(Item.keyField?.name ?? "key").",
                example: " --limit 20")
        }

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Option(help: ArgumentHelp("Only \(Item.noun)s after this one.")) var after: String?
        @Option(help: ArgumentHelp("Maximum number of \(Item.noun)s.")) var limit = 1_000

        func validate() throws {
            guard limit > 0 else { throw ValidationError("--limit must be 1 or more") }
        }

        func run() async throws {
            let after = try after.map { try Item.requiredKey($0) }
            let items = try await tenant.withItems(Item.self) {
                try await $0.list(after: after, limit: limit)
            }
            output.print(items.map(\.json), columns: Item.tableColumns)
        }
    }

    struct Show: AsyncParsableCommand {
        static var configuration: CommandConfiguration {
            CollectionCommand.verb("show", "Show a \(Item.noun).", example: Item.exampleKey)
        }

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: Item.keyHelp) var key: String

        func run() async throws {
            let key = try Item.requiredKey(key)
            let item = try await tenant.withItems(Item.self) { try await $0.show(key) }
            output.print(item.json, columns: Item.tableColumns)
        }
    }

    struct Update: AsyncParsableCommand {
        static var configuration: CommandConfiguration {
            CollectionCommand.verb(
                "update", "Change a \(Item.noun); omitted options keep their values.",
                example: Item.exampleKey + Item.exampleOptions)
        }

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: Item.keyHelp) var key: String
        @OptionGroup var fields: ItemChangeOptions<Item>

        func validate() throws { try requireChange(!fields.patch.isEmpty) }

        func run() async throws {
            let itemKey = try Item.requiredKey(key)
            let patch = fields.patch
            let item = try await tenant.withItems(Item.self) { items in
                try await items.update(itemKey) { try $0.patched(by: patch) }
            }
            output.print(item.json, line: "Updated \(Item.noun) \(key)")
        }
    }

    struct Delete: AsyncParsableCommand {
        static var configuration: CommandConfiguration {
            CollectionCommand.verb("delete", "Delete a \(Item.noun).", example: Item.exampleKey)
        }

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @Argument(help: Item.keyHelp) var key: String

        func run() async throws {
            let itemKey = try Item.requiredKey(key)
            _ = try await tenant.withItems(Item.self) { try await $0.delete(itemKey) }
            output.printDeletion(of: Item.noun, key)
        }
    }

    struct Import: AsyncParsableCommand {
        static var configuration: CommandConfiguration {
            CollectionCommand.verb(
                "import", "Import \(Item.noun)s: all rows or none.",
                example: " \(Item.collection).csv --dry-run",
                """
                The first line names the columns: \(Item.columnNames). \(Item.fileNotes)


                """)
        }

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var output: OutputOptions
        @OptionGroup var file: ImportFile

        func run() async throws {
            let outcome = try await file.reading { chunks, options in
                try await tenant.withItems(Item.self) { try await $0.importTable(chunks, options) }
            }
            try file.report(outcome, output)
        }
    }

    struct Export: AsyncParsableCommand {
        static var configuration: CommandConfiguration {
            CollectionCommand.verb(
                "export", "Export a tenant's \(Item.noun)s as CSV for an import.",
                example: " --output \(Item.collection).csv",
                """
                Columns: \(Item.columnNames), then the columns that only some items have, by name. A file that is imported and exported again is the same byte by byte.


                """)
        }

        @OptionGroup var tenant: TenantOptions
        @OptionGroup var file: ExportFile
        @OptionGroup var spreadsheet: SpreadsheetOptions

        func run() async throws {
            let count = try await tenant.export(to: file) { [spreadsheet] catalogue, sink in
                try await catalogue.export(
                    Item.self, forSpreadsheets: spreadsheet.isForSpreadsheets, to: sink)
            }
            file.note(count, Item.noun)
        }
    }
}

extension CollectionResource {
    /// The columns of a CSV file.
    static var columnNames: String { fields.filter(\.isCell).map(\.cell).joined(separator: ", ") }

    fileprivate static var keyHelp: ArgumentHelp {
        ArgumentHelp(keyField?.documentation ?? "", valueName: keyField?.name)
    }

    /// The key of the example, after a space.
    fileprivate static var exampleKey: String {
        keyField.flatMap { example[$0.name]?.stringValue }.map { " \($0)" } ?? ""
    }

    /// The options of the example, each after a space.
    fileprivate static var exampleOptions: String {
        fields.filter { $0.kind == .required }.compactMap { field in
            example[field.name].map { " --\(field.name) \($0.stringValue ?? $0.text)" }
        }.joined()
    }

    /// - Throws: The error for an unknown item.
    fileprivate static func requiredKey(_ text: String) throws -> Key {
        guard let key = key(named: text) else {
            throw AdministrationError.unknownItem(of: typeName, named: text)
        }
        return key
    }
}
