import Administration
import Formats
import Foundation
import HTTPServer
import HTTPTypes
import Logging
import Notifications
import Tenancy

/// Turns errors of endpoints into pages. The page of an unexpected error contains no details.
struct FailurePages: Sendable {
    let layout: Layout
    let logger: Logger

    /// - Parameters:
    ///   - session: nil for a user who has not signed in, and for one who is unknown.
    ///   - tenant: the tenant in the request's path, if the session may see it.
    func page(
        of refusal: ConsoleRefusal, for session: ConsoleSession? = nil, tenant: Tenant? = nil
    ) -> ServerResponse {
        let page = Page(title: refusal.title, tenant: tenant, status: refusal.status) { main in
            main.element(.p, text: refusal.text)
            if tenant == nil {
                main.element(.p) { $0.element(.a, .href(.home), text: "Go to the tenants") }
            }
        }
        return ConsoleResponse.html(layout.html(page, for: session), refusal.status, hasMap: false)
    }

    /// Logs an unexpected error.
    func refusal(for error: any Error, _ method: HTTPRequest.Method) -> ConsoleRefusal {
        switch error {
        case let refusal as ConsoleRefusal:
            return refusal
        case let error as ReadOnlyAccess:
            return ConsoleRefusal(
                status: .forbidden, title: "Not allowed",
                text: "\(error). Nothing was changed.".capitalizedSentence)
        case let error as AdministrationError:
            return .conflict("\(error). Nothing was changed.".capitalizedSentence)
        case let error as QuotaExceeded:
            return .conflict("\(error). Nothing was changed.".capitalizedSentence)
        case let refusal as WebhookRefusal:
            return refusal == .unknownWebhook
                ? .notFound : .conflict("\(refusal). Nothing was changed.".capitalizedSentence)
        case is ServerRequestBody.TooLong:
            return ConsoleRefusal(
                status: .contentTooLarge, title: "Form too large",
                text: "A form may have at most \(FormFields.maximumLength) bytes. Nothing was done.")
        default:
            let id = UUID().uuidString.lowercased()
            logger.error(
                "a console page failed",
                metadata: ["error": "\(error)", "id": "\(id)", "method": "\(method)"])
            return ConsoleRefusal(
                status: .internalServerError, title: "Something went wrong",
                text:
                    "See the console's log for the error with the ID \(id). Try again in a moment: the database may be unreachable."
            )
        }
    }
}

extension String {
    /// With a capital first letter. Refusals begin with a small letter.
    var capitalizedSentence: String { prefix(1).uppercased() + dropFirst() }
}
