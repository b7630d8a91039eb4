import Administration
import HTML
import HTTPTypes

/// Where a link is turned into a session.
enum LoginPage {
    static func page(hasFailed: Bool = false) -> Page {
        Page(title: "Sign in", status: hasFailed ? .forbidden : .ok, commands: ["doorstep console link"]) {
            main in
            if hasFailed {
                main.element(.p, .class("error"), .role("alert"), .id("token-error")) { p in
                    p.text(
                        "This link was used already, is older than ten minutes, or never was one. Make another."
                    )
                }
            }
            main.element(
                .p,
                text:
                    "Whoever may write the database may sign in: a command prints a link that is good once, for ten minutes."
            )
            main.element(.form, .id("login"), .class("stack"), .post, .action(HTMLLink("/login"))) { form in
                form.element(.div, .class("field")) { div in
                    div.element(.label, .for("token"), text: "The link, or what stands after its #")
                    div.void(
                        .input, .id("token"), .name("token"), .type("text"), .required, .autocomplete("off"),
                        .spellcheck(false), .maxlength(2_048),
                        hasFailed ? .ariaDescribedby("token-error") : nil)
                }
                form.element(.button, .class("main"), text: "Sign in")
            }
        }
    }

    /// The field of a form that a person has sent from ``question(_:_:_:)``.
    static let confirmation = "confirmed"

    /// Asks before a link replaces the session of another person, or one with other rights: a link to the console can come from
    /// anybody. Asking does not use the link.
    static func question(_ current: ConsoleAccess, _ next: ConsoleAccess, _ link: ConsoleSecret) -> Page {
        Page(title: "Continue as another person?", commands: ["doorstep console link"]) { main in
            main.facts([
                (
                    "Signed in",
                    { dd in
                        dd.name(current.name.text)
                        dd.text(", who \(current.rights)")
                    }
                ),
                (
                    "The link",
                    { dd in
                        dd.name(next.name.text)
                        dd.text(", who \(next.rights)")
                    }
                ),
            ])
            main.element(
                .p,
                text:
                    "To continue ends your session. If you do not know who made the link, stay signed in, and do not use it."
            )
            main.element(.form, .id("continue"), .post, .action(HTMLLink("/login"))) { form in
                form.hiddenField("token", link.text)
                form.hiddenField(confirmation, "1")
                form.element(.p) { p in
                    p.element(.button, .class("main")) { button in
                        button.text("Continue as ")
                        button.name(next.name.text)
                    }
                }
            }
            main.element(.p) { p in
                p.element(.a, .href(.home)) { a in
                    a.text("Stay signed in as ")
                    a.name(current.name.text)
                }
            }
        }
    }
}
