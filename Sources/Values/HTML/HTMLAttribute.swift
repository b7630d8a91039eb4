/// An attribute with its value, if it has one.
///
/// Those that are missing are missing on purpose: `on…`, `style`, `srcdoc`, `http-equiv`.
public struct HTMLAttribute: Sendable {
    let name: StaticString
    let value: String?

    private init(_ name: StaticString, _ value: String?) {
        self.name = name
        self.value = value
    }

    static let charset = HTMLAttribute("charset", "utf-8")

    public static func id(_ value: String) -> HTMLAttribute { .init("id", value) }
    public static func `class`(_ value: String) -> HTMLAttribute { .init("class", value) }
    public static func lang(_ value: String) -> HTMLAttribute { .init("lang", value) }
    public static func role(_ value: String) -> HTMLAttribute { .init("role", value) }
    public static func ariaLabel(_ value: String) -> HTMLAttribute { .init("aria-label", value) }
    public static func scope(_ value: String) -> HTMLAttribute { .init("scope", value) }
    public static func datetime(_ value: String) -> HTMLAttribute { .init("datetime", value) }

    // Of <meta> and <link>.
    public static func name(_ value: String) -> HTMLAttribute { .init("name", value) }
    public static func property(_ value: String) -> HTMLAttribute { .init("property", value) }
    public static func content(_ value: String) -> HTMLAttribute { .init("content", value) }
    public static func rel(_ value: String) -> HTMLAttribute { .init("rel", value) }
    public static func sizes(_ value: String) -> HTMLAttribute { .init("sizes", value) }

    // What is followed or loaded.
    public static func href(_ link: HTMLLink) -> HTMLAttribute { .init("href", link.text) }
    public static func src(_ link: HTMLLink) -> HTMLAttribute { .init("src", link.text) }
    public static func alt(_ value: String) -> HTMLAttribute { .init("alt", value) }
    public static func width(_ value: Int) -> HTMLAttribute { .init("width", "\(value)") }
    public static func height(_ value: Int) -> HTMLAttribute { .init("height", "\(value)") }

    // Of SVG.
    public static func viewBox(width: Int, height: Int) -> HTMLAttribute {
        .init("viewBox", "0 0 \(width) \(height)")
    }
    public static func shapeRendering(_ value: String) -> HTMLAttribute { .init("shape-rendering", value) }
    public static func fill(_ value: String) -> HTMLAttribute { .init("fill", value) }
    public static func d(_ value: String) -> HTMLAttribute { .init("d", value) }
}
