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
}
