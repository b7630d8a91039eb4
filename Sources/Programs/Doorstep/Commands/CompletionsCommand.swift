import ArgumentParser

struct CompletionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions", abstract: "Print the completion script of a shell.",
        discussion: """
            The packages install the scripts. Without a package, write the script where your shell looks for it.

            Example: doorstep completions bash > ~/.local/share/bash-completion/completions/doorstep
            """)

    enum Shell: String, ExpressibleByArgument, CaseIterable {
        case bash
        case zsh
        case fish
    }

    @Argument(help: "Shell.") var shell: Shell

    func run() {
        let shell: CompletionShell =
            switch shell {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        print(DoorstepCommand.completionScript(for: shell))
    }
}
