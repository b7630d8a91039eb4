import HTML

/// How to get around.
enum HelpPage {
    @Sendable static func response(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        .page(
            Page(title: "Help and keys", commands: ["doorstep --help"]) { main in
                main.element(
                    .p,
                    text: """
                        The box at the top finds places by their identifiers and names. A URL that is pasted there is diagnosed: \
                        which experience it matches, which place it leads to, and which of Apple's launches can lead to it.
                        """)
                main.element(
                    .p,
                    text: """
                        Whatever is changed here stands in the tenant's audit log under your name. Lookups follow within a second.
                        """)
                main.element(.h2, text: "Keys")
                main.table("Keys, where no field has the focus", columns: ["Key", "What it does"]) { rows in
                    let keys =
                        [("/", "to the box that finds")]
                        + Page.Section.allCases.map { ("g \($0.key)", $0.title) } + [
                            ("j k", "down and up a list"), ("e", "edit the place"), ("?", "this page"),
                        ]
                    for (key, text) in keys {
                        rows.element(.tr) { row in
                            row.element(.th, .scope("row")) { $0.element(.kbd, text: key) }
                            row.element(.td, text: text)
                        }
                    }
                }
                main.element(.p) { p in
                    p.element(
                        .button, .type("button"), .id("keys"), .hidden, .data("off", "Switch the keys on"),
                        text: "Switch the keys off")
                }
            })
    }
}
