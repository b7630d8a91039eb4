/// An attribute with its value, if it has one.
///
/// The attributes `on…`, `style`, `srcdoc` and `http-equiv` are missing on purpose.
public struct HTMLAttribute: Sendable {
    let prefix: StaticString
    let name: StaticString
    let value: String?

    private init(_ name: StaticString, _ value: String?, prefix: StaticString = "") {
        self.prefix = prefix
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

    public static func title(_ value: String) -> HTMLAttribute { .init("title", value) }
    public static func tabindex(_ value: Int) -> HTMLAttribute { .init("tabindex", "\(value)") }
    public static func dir(_ value: String) -> HTMLAttribute { .init("dir", value) }
    public static let hidden = HTMLAttribute("hidden", nil)
    public static let open = HTMLAttribute("open", nil)
    public static func ariaCurrent(_ value: String) -> HTMLAttribute { .init("aria-current", value) }
    public static func ariaLabelledby(_ value: String) -> HTMLAttribute { .init("aria-labelledby", value) }
    public static func ariaDescribedby(_ value: String) -> HTMLAttribute { .init("aria-describedby", value) }
    public static func ariaLive(_ value: String) -> HTMLAttribute { .init("aria-live", value) }
    public static let ariaHidden = HTMLAttribute("aria-hidden", "true")
    public static let ariaInvalid = HTMLAttribute("aria-invalid", "true")

    /// A value for a script of the page: `data-` and a name that is a literal in the source.
    public static func data(_ name: StaticString, _ value: String) -> HTMLAttribute {
        .init(name, value, prefix: "data-")
    }

    // For forms.
    public static func action(_ link: HTMLLink) -> HTMLAttribute { .init("action", link.text) }
    public static let post = HTMLAttribute("method", "post")
    public static func type(_ value: String) -> HTMLAttribute { .init("type", value) }
    public static func value(_ value: String) -> HTMLAttribute { .init("value", value) }
    public static func `for`(_ value: String) -> HTMLAttribute { .init("for", value) }
    public static func placeholder(_ value: String) -> HTMLAttribute { .init("placeholder", value) }
    public static func autocomplete(_ value: String) -> HTMLAttribute { .init("autocomplete", value) }
    public static func inputmode(_ value: String) -> HTMLAttribute { .init("inputmode", value) }
    public static func maxlength(_ value: Int) -> HTMLAttribute { .init("maxlength", "\(value)") }
    public static func accept(_ value: String) -> HTMLAttribute { .init("accept", value) }
    public static func rows(_ value: Int) -> HTMLAttribute { .init("rows", "\(value)") }
    public static func spellcheck(_ value: Bool) -> HTMLAttribute { .init("spellcheck", "\(value)") }
    public static let required = HTMLAttribute("required", nil)
    public static let checked = HTMLAttribute("checked", nil)
    public static let selected = HTMLAttribute("selected", nil)
    public static let readonly = HTMLAttribute("readonly", nil)

    // For <meta> and <link>.
    public static func name(_ value: String) -> HTMLAttribute { .init("name", value) }
    public static func property(_ value: String) -> HTMLAttribute { .init("property", value) }
    public static func content(_ value: String) -> HTMLAttribute { .init("content", value) }
    public static func rel(_ value: String) -> HTMLAttribute { .init("rel", value) }
    public static func sizes(_ value: String) -> HTMLAttribute { .init("sizes", value) }

    // The target of a link, or a resource to load.
    public static func href(_ link: HTMLLink) -> HTMLAttribute { .init("href", link.text) }
    public static func src(_ link: HTMLLink) -> HTMLAttribute { .init("src", link.text) }
    public static func alt(_ value: String) -> HTMLAttribute { .init("alt", value) }
    public static func width(_ value: Int) -> HTMLAttribute { .init("width", "\(value)") }
    public static func height(_ value: Int) -> HTMLAttribute { .init("height", "\(value)") }

    // For SVG.
    public static func viewBox(width: Int, height: Int) -> HTMLAttribute {
        .init("viewBox", "0 0 \(width) \(height)")
    }
    public static func x(_ value: Double) -> HTMLAttribute { .init("x", "\(value)") }
    public static func y(_ value: Double) -> HTMLAttribute { .init("y", "\(value)") }
    public static func width(_ value: Double) -> HTMLAttribute { .init("width", "\(value)") }
    public static func height(_ value: Double) -> HTMLAttribute { .init("height", "\(value)") }
    public static func shapeRendering(_ value: String) -> HTMLAttribute { .init("shape-rendering", value) }
    public static func fill(_ value: String) -> HTMLAttribute { .init("fill", value) }
    public static func d(_ value: String) -> HTMLAttribute { .init("d", value) }
}
