import Crypto
import Foundation
import HTTPTypes

/// The pages that say what happened and what to do, one for each ``ProblemType``, and the list of them.
///
/// They are the `type` of problems, so that whoever meets one reads on there. No script, nothing from elsewhere, and nothing
/// of the request in them.
enum ProblemPages {
    static let routes = [
        Route(.get, "/problems", .open { answer(index, to: $0) }),
        Route(
            .get, "/problems/{code}",
            .open { request throws(Problem) in
                guard let page = request.parameters["code"].flatMap({ pages[String($0)] }) else {
                    throw .notFound
                }
                return answer(page, to: request)
            }),
    ]

    private static func answer(_ page: [UInt8], to request: APIRequest) -> Answer {
        var answer = Answer(shared: page, ifNoneMatch: request.fields.ifNoneMatch)
        answer.contentType = "text/html; charset=utf-8"
        answer.headers = [
            .contentSecurityPolicy: contentSecurityPolicy, .xContentTypeOptions: "nosniff",
        ]
        return answer
    }

    private static let pages = ProblemType.byCode.mapValues { type in
        page(
            title: type.title,
            """
            <h1>\(markup(type.title))</h1>
            <p><code>\(markup(type.code))</code>, with status \(statuses(of: type))</p>
            <h2>What happened</h2>
            <p>\(markup(type.cause))</p>
            <h2>What to do</h2>
            <p>\(markup(type.remedy))</p>
            <p><a href="/problems">All problems</a></p>
            """)
    }

    private static let index = page(
        title: "Problems",
        """
        <h1>Problems</h1>
        <p>The codes of the errors that this server answers with. Each has a page.</p>
        <dl>
        \(ProblemType.all.map(entry).joined(separator: "\n"))
        </dl>
        """)

    private static func entry(of type: ProblemType) -> String {
        """
        <dt><a href="\(markup(type.path))"><code>\(markup(type.code))</code></a> \(statuses(of: type))</dt>
        <dd>\(markup(type.title))</dd>
        """
    }

    private static func statuses(of type: ProblemType) -> String {
        type.statuses.map { "\($0.code)" }.joined(separator: " or ")
    }

    private static func page(title: String, _ body: String) -> [UInt8] {
        Array(
            """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <title>\(markup(title)) – Doorstep</title>
            <style>\(style)</style>
            </head>
            <body>
            \(body)
            </body>
            </html>

            """.utf8)
    }

    private static let style =
        "body{font:1rem/1.5 system-ui,sans-serif;max-width:42rem;margin:2rem auto;padding:0 1rem}"
        + ":root{color-scheme:light dark}h1{line-height:1.2}dt{margin-top:1rem}code{overflow-wrap:anywhere}"

    private static let contentSecurityPolicy: String = {
        let hash = Data(SHA256.hash(data: Data(style.utf8))).base64EncodedString()
        return """
            default-src 'none'; style-src 'sha256-\(hash)'; base-uri 'none'; form-action 'none'; \
            frame-ancestors 'none'
            """
    }()

    /// A text as HTML: what stands between backticks as code.
    static func markup(_ text: String) -> String {
        var escaped = ""
        var isCode = false
        for character in text {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case "`":
                isCode.toggle()
                escaped += isCode ? "<code>" : "</code>"
            default: escaped.append(character)
            }
        }
        return escaped
    }
}
