import ArgumentParser

/// A word on the command line that is similar to the name of a subcommand, and is none.
struct MisspelledCommand {
    let word: String
    let suggestion: String
    /// The command that has the suggested subcommand.
    let parent: any ParsableCommand.Type

    /// The most edits for which a word is taken for a misspelled name. [ours]
    private static let similarity = 2

    /// - Parameter arguments: Words of the command line without the program's name.
    /// - Returns: nil if each word that should name a subcommand does, or is similar to none.
    init?(in arguments: some Sequence<String>, of root: any ParsableCommand.Type) {
        var parent = root
        for word in arguments {
            let subcommands = parent.configuration.subcommands
            // What follows is an option, the command `help`, or an argument of the command.
            guard !subcommands.isEmpty, !word.hasPrefix("-"), word != "help" else { return nil }
            if let found = subcommands.first(where: { $0.allNames.contains(word) }) {
                parent = found
                continue
            }
            guard
                let suggestion = word.mostSimilar(
                    of: subcommands.map { $0._commandName }, within: Self.similarity)
            else { return nil }
            self.word = word
            self.suggestion = suggestion
            self.parent = parent
            return
        }
        return nil
    }

    /// Prints the suggestion and the usage of the parent, and ends the program with the status of wrong usage.
    func exit() -> Never {
        parent.exit(
            withError: ValidationError("There is no command '\(word)'. Did you mean '\(suggestion)'?"))
    }
}

extension ParsableCommand {
    fileprivate static var allNames: [String] { [_commandName] + configuration.aliases }
}
