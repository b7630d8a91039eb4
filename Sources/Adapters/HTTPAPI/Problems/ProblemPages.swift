import Crypto
import Formats
import Foundation
import HTTPTypes

/// One page for each ``ProblemType`` with its cause and remedy, and a page that lists them.
///
/// The URLs of these pages are the `type` of problems, so that developers find an explanation. The pages have no scripts, no external
/// content and no text from the request.
enum ProblemPages {
    static let endpoints = [
        Endpoint(.get, "/problems", .open { response(index, to: $0) }),
        Endpoint(
            .get, "/problems/{code}",
            .open { request throws(Problem) in
                guard let page = request.parameters["code"].flatMap({ pages[String($0)] }) else {
                    throw .notFound
                }
                return response(page, to: request)
            }, problems: [.notFound]),
    ]

    private static func response(_ page: APIResponse.Shared, to request: APIRequest) -> APIResponse {
        var response = APIResponse(page, as: "text/html; charset=utf-8", to: request)
        response.headers[.contentSecurityPolicy] = contentSecurityPolicy
        response.headers[.xContentTypeOptions] = "nosniff"
        return response
    }

    private static let pages = ProblemType.byCode.mapValues { type in
        page(title: type.title) { main in
            main.element(.h1) { write(type.title, to: &$0) }
            main.element(.p) { p in
                p.element(.code, text: type.code)
                p.text(", with status \(type.status.code)")
            }
            main.element(.h2, text: "What happened")
            main.element(.p) { write(type.cause, to: &$0) }
            main.element(.h2, text: "What to do")
            main.element(.p) { write(type.remedy, to: &$0) }
            main.element(.p) { $0.element(.a, .href(HTMLLink("/problems")), text: "All problems") }
        }
    }

    private static let index = page(title: "Problems") { main in
        main.element(.h1, text: "Problems")
        main.element(.p, text: "All error codes of this server. Each has a page.")
        main.element(.dl) { list in
            for type in ProblemType.all {
                list.element(.dt) { dt in
                    dt.element(.a, HTMLLink(path: type.path).map { .href($0) }) {
                        $0.element(.code, text: type.code)
                    }
                    dt.text(" \(type.status.code)")
                }
                list.element(.dd) { write(type.title, to: &$0) }
            }
        }
    }

    private static func page(title: String, _ content: (inout HTMLWriter) -> Void) -> APIResponse.Shared {
        let page = HTMLWriter.page(language: "en") { head in
            head.void(.meta, .name("viewport"), .content("width=device-width"))
            head.element(.title, text: "\(title) – Doorstep")
            head.style(style)
        } body: {
            content(&$0)
        }
        return APIResponse.Shared(page, isCompressed: true)
    }

    private static let style: StaticString = """
        body{font:1rem/1.5 system-ui,sans-serif;max-width:42rem;margin:2rem auto;padding:0 1rem}\
        :root{color-scheme:light dark}h1{line-height:1.2}dt{margin-top:1rem}code{overflow-wrap:anywhere}
        """

    private static let contentSecurityPolicy: String = {
        let hash = Data(SHA256.hash(data: Data("\(style)".utf8))).base64EncodedString()
        return """
            default-src 'none'; style-src 'sha256-\(hash)'; base-uri 'none'; form-action 'none'; \
            frame-ancestors 'none'
            """
    }()

    /// Writes a text, with the parts between backticks as code.
    static func write(_ text: String, to html: inout HTMLWriter) {
        for (index, part) in text.split(separator: "`", omittingEmptySubsequences: false).enumerated() {
            if index.isMultiple(of: 2) {
                html.text(String(part))
            } else {
                html.element(.code, text: String(part))
            }
        }
    }
}
