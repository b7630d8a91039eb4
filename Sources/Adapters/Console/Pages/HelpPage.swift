import Formats

/// Help and keyboard shortcuts.
enum HelpPage {
    @Sendable static func response(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        .page(
            Page(title: "Help and shortcuts", commands: ["doorstep --help"]) { main in
                main.element(
                    .p,
                    text: """
                        Use the search field at the top to find locations by identifier, name or coordinates, and other items by ID. \
                        Paste a URL to diagnose it: the experience that it matches, the location that it leads to, and the launches by \
                        Apple that can use it.
                        """)
                main.element(
                    .p,
                    text: """
                        The tenant's audit log records each change under your name. Lookups use a change within a second.
                        """)
                main.element(.h2, text: "Keyboard shortcuts")
                main.table("Keyboard shortcuts, outside text fields", columns: ["Key", "Action"]) { rows in
                    let keys =
                        [("/", "search"), ("Ctrl K", "search")]
                        + Page.Section.allCases.map { ("g \($0.key)", $0.title) } + [
                            ("j k", "next and previous row"), ("e", "edit the item"), ("?", "this page"),
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
                        .button, .type("button"), .id("keys"), .hidden, .data("off", "Turn shortcuts on"),
                        text: "Turn shortcuts off")
                }
            })
    }
}
