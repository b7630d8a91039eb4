import Codes
import Formats

/// QR codes to print and cut out, each with its name and URL. The output is one HTML page, which is printed on as many sheets as
/// needed.
///
/// The page is written code by code, because a million codes take gigabytes.
enum QRSheet {
    struct Code {
        let symbol: QRSymbol
        /// Nil if the code has only its URL.
        let label: String?
        let url: String
    }

    /// Writes the page.
    ///
    /// - Parameter makeCode: Makes the code of a row. Its errors end the page.
    static func write<Row>(
        _ rows: [Row], to sink: ([UInt8]) throws -> Void, _ makeCode: (Row) throws -> Code
    ) throws {
        let end = Array("</main></body></html>".utf8)
        let page = HTMLWriter.page(language: "en") { head in
            head.void(.meta, .name("viewport"), .content("width=device-width"))
            head.element(.title, text: "QR codes")
            head.style(Self.style)
        } body: {
            $0.element(.main)
        }
        try sink(Array(page.dropLast(end.count)))
        for row in rows {
            var html = HTMLWriter()
            write(try makeCode(row), to: &html)
            try sink(html.bytes)
        }
        try sink(end)
    }

    private static func write(_ code: Code, to html: inout HTMLWriter) {
        let size = code.symbol.outerSize
        html.element(.figure) { figure in
            figure.element(
                .svg, .role("img"), .ariaLabel("QR code"), .viewBox(width: size, height: size),
                .shapeRendering("crispEdges")
            ) { svg in
                svg.element(.rect, .width(size), .height(size), .fill("#fff"))
                svg.element(.path, .d(code.symbol.path))
            }
            figure.element(.figcaption) { caption in
                if let label = code.label {
                    caption.element(.strong) { $0.element(.bdi, text: label) }
                }
                caption.element(.bdi, text: code.url)
            }
        }
    }

    /// The same style on paper and on screen: black on white. A code is never split over two sheets.
    private static let style: StaticString = """
        @page{margin:12mm}body{margin:0;font:3mm/1.3 system-ui,sans-serif;color:#000;background:#fff}\
        main{display:grid;grid-template-columns:repeat(auto-fill,minmax(50mm,1fr));gap:8mm}\
        figure{margin:0;break-inside:avoid;text-align:center}figcaption{overflow-wrap:anywhere}\
        strong{display:block}
        """
}
