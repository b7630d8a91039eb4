import Administration
import Formats
import HTTPTypes
import Invocation

/// The page that turns a link into a session.
enum LoginPage {
    /// The parameter and form field with the page to show after the sign-in.
    static let next = "next"

    /// The sign-in page for a request without a session. After the sign-in, the browser returns to a page that it requested.
    static func link(backTo request: ReceivedRequest) -> HTMLLink {
        guard request.method == .get || request.method == .head, request.path != "/" else {
            return HTMLLink("/login")
        }
        let target = request.query.isEmpty ? request.path : "\(request.path)?\(request.query)"
        return HTMLLink(to: "login", query: [(next, target)])
    }

    /// The page to show after the sign-in; nil for anything but a path of the console.
    static func nextPage(of fields: FormFields) -> HTMLLink? { fields[next].flatMap(HTMLLink.init(path:)) }

    /// - Parameters:
    ///   - next: the page to show after the sign-in.
    ///   - kept: the form to show after the sign-in.
    static func page(next: HTMLLink? = nil, keeping kept: KeptForm? = nil, hasFailed: Bool = false) -> Page {
        let status: HTTPResponse.Status = hasFailed || kept != nil ? .forbidden : .ok
        return Page(title: "Sign in", status: status, commands: ["doorstep console link"]) { main in
            if kept != nil {
                main.element(
                    .p, .class("notice"), .role("status"),
                    text: """
                        Your session has ended, so the form was not used. This page keeps it. Create a link, and paste the link into the \
                        field: do not open it. If you have signed in at another page of this browser, leave the field empty.
                        """)
            }
            if hasFailed {
                main.element(.p, .class("error"), .role("alert"), .id("token-error")) { p in
                    p.text(
                        "This link was already used, has expired (ten minutes) or is not valid. Create another link."
                    )
                }
            }
            let use = kept == nil ? "open the link" : "paste the link here"
            main.element(
                .p,
                text:
                    "Run the command below on the server, and \(use) within ten minutes. Each link works once."
            )
            main.element(.form, .id("login"), .class("stack"), .post, .action(HTMLLink("/login"))) { form in
                if let next { form.hiddenField(Self.next, next.text) }
                kept?.write(into: &form)
                form.element(.div, .class("field")) { div in
                    div.element(.label, .for("token"), text: "Link, or its token (the part after #)")
                    div.void(
                        .input, .id("token"), .name("token"), .type("text"), kept == nil ? .required : nil,
                        .autocomplete("off"), .spellcheck(false), .maxlength(2_048),
                        hasFailed ? .ariaDescribedby("token-error") : nil)
                }
                form.element(.button, .class("main"), text: "Sign in")
            }
        }
    }

    /// The form field that confirms ``question(_:_:_:next:keeping:)``.
    static let confirmation = "confirmed"

    /// Asks before a link replaces the session of another person, or one with other rights, because anyone can send a link.
    /// Asking does not use the link.
    static func question(
        _ current: ConsoleAccess, _ new: ConsoleAccess, _ link: ConsoleSecret, next: HTMLLink?,
        keeping kept: KeptForm?
    ) -> Page {
        Page(title: "Continue as another person?", commands: ["doorstep console link"]) { main in
            main.facts([
                (
                    "Signed in",
                    { dd in
                        dd.name(current.name.text)
                        dd.text(", \(current.rights)")
                    }
                ),
                (
                    "The link",
                    { dd in
                        dd.name(new.name.text)
                        dd.text(", \(new.rights)")
                    }
                ),
            ])
            main.element(
                .p,
                text:
                    "If you continue, your session ends. If you do not know who created the link, do not use it, and stay signed in."
            )
            main.element(.form, .id("continue"), .post, .action(HTMLLink("/login"))) { form in
                form.hiddenField("token", link.text)
                form.hiddenField(confirmation, "1")
                if let next { form.hiddenField(Self.next, next.text) }
                kept?.write(into: &form)
                form.element(.p) { p in
                    p.element(.button, .class("main")) { button in
                        button.text("Continue as ")
                        button.name(new.name.text)
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
