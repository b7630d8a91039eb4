import Administration
import ArgumentParser

struct CodeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: ShortCode.commandName,
        abstract: "Manage short codes; export App Clip Codes and QR codes; estimate whether URLs fit.",
        discussion: """
            A short code stands for a longer URL; the identifier rule hash:NAME reads it.

            Example: doorstep code list
            """,
        subcommands: CollectionCommand<ShortCode>.subcommands + [Export.self, Fit.self, MeasureHost.self])
}
