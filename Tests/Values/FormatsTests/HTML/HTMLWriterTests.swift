import Formats
import PropertyTesting
import Testing

struct HTMLWriterTests {
    private static func written(_ body: (inout HTMLWriter) -> Void) -> String {
        var writer = HTMLWriter()
        body(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func pageIsWrittenCompletely() {
        let page = HTMLWriter.page(language: "en") { head in
            head.element(.title, text: "Menu")
            head.style("p{margin:0}")
        } body: { body in
            body.element(.main, .class("wide")) { main in
                main.element(.h1, text: "Fish & chips")
                main.element(.p) { p in
                    p.text("Order ")
                    p.element(.a, .href(HTMLLink("/menu")), text: "here")
                    p.void(.br)
                    p.raw("<em>now</em>")
                }
                main.element(.span)
            }
        }
        #expect(
            String(decoding: page, as: UTF8.self) == """
                <!doctype html><html lang="en"><head><meta charset="utf-8"><title>Menu</title>\
                <style>p{margin:0}</style></head><body><main class="wide"><h1>Fish &amp; chips</h1>\
                <p>Order <a href="/menu">here</a><br><em>now</em></p><span></span></main></body></html>
                """)
    }

    @Test func nilAttributesAreOmitted() {
        let title: String? = nil
        #expect(
            Self.written { $0.element(.p, title.map { .ariaLabel($0) }, .id("a"), text: "b") }
                == #"<p id="a">b</p>"#)
    }

    @Test(arguments: [
        (#"</title><script>alert(1)</script>"#, "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;"),
        (#"" onload="alert(1)"#, "&quot; onload=&quot;alert(1)"),
        ("' onload='alert(1)", "&#39; onload=&#39;alert(1)"),
        ("&lt;script&gt;", "&amp;lt;script&amp;gt;"),
        ("<!--", "&lt;!--"), ("]]>", "]]&gt;"),
        ("a\u{0}b\u{8}c\u{1B}d\u{7F}e", "a\u{FFFD}b\u{FFFD}c\u{FFFD}d\u{FFFD}e"),
        ("\t\n\r", "\t\n\r"), ("\u{202E}é𝕏", "\u{202E}é𝕏"), ("", ""),
    ])
    func hostileTextIsEscaped(text: String, escaped: String) {
        #expect(
            Self.written { $0.element(.p, .ariaLabel(text), text: text) }
                == #"<p aria-label="\#(escaped)">\#(escaped)</p>"#)
        #expect(
            Self.written { $0.void(.meta, .content(text)) } == #"<meta content="\#(escaped)">"#)
    }

    /// A page with random text has only the markup of its own elements, and the text can be read back.
    @Test func randomTextAddsNoMarkup() {
        var generator = SplitMix64(seed: 5)
        let pieces = [
            "<", ">", "&", "\"", "'", "`", "=", "/", "<!--", "-->", "</p>", "&amp;", "é", "𝕏", "\n", "a",
        ]
        for _ in 0..<1_000 {
            let text = (0..<generator.below(12)).map { _ in generator.pick(pieces) }.joined()
            let page = Self.written { $0.element(.p, .id(text), text: text) }
            for (mark, count) in [("<", 2), (">", 2), ("\"", 2), ("'", 0)] as [(Character, Int)] {
                #expect(page.count { $0 == mark } == count, "\(text.debugDescription)")
            }
            let parts = page.split(separator: #"">"#, omittingEmptySubsequences: false)
            #expect(parts.count == 2)
            #expect(Self.read(parts[0].dropFirst(#"<p id=""#.count)) == text)
            #expect(Self.read(parts[1].dropLast("</p>".count)) == text)
        }
    }

    /// Replaces the five character references as a browser does.
    private static func read(_ text: Substring) -> String {
        String(text).replacing(/&(lt|gt|quot|#39|amp);/) { match in
            switch match.output.1 {
            case "lt": "<"
            case "gt": ">"
            case "quot": "\""
            case "#39": "'"
            default: "&"
            }
        }
    }

    @Test(arguments: [
        "https://example.com", "https://example.com:8443/a?b=c&d=%20#e", "https://a", "https://a?b",
        "https://a#b@c",
    ])
    func httpsURLIsAcceptedAsLink(text: String) throws {
        #expect(try #require(HTMLLink(https: text)).text == text)
    }

    @Test(arguments: [
        "", "https://", "https:///a", "http://example.com", "HTTPS://example.com", "javascript:alert(1)",
        " https://example.com", "https://example.com/\n", "https://user@example.com",
        "https://a:b@example.com/",
        "https://example.com/\"onload=", "https://example.com\\@evil.example", "https://exämple.com",
        "https://example.com/<", "data:text/html,a", "/a", "//example.com", "https://[::1]/",
    ])
    func otherURLIsRejectedAsLink(text: String) {
        #expect(HTMLLink(https: text) == nil)
    }

    @Test(arguments: [
        ("/", true), ("/a/b?c=d#e", true), ("", false), ("a", false), ("//host", false), ("/\\host", false),
        ("/a b", false), ("/\n/host", false), ("javascript:/a", false),
    ])
    func pathLinkStaysOnOwnHost(text: String, isLink: Bool) {
        #expect((HTMLLink(path: text) != nil) == isLink)
    }
}
