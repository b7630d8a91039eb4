/// An element that has content and an end.
///
/// `script` is not among them, nor is what loads or embeds another page.
public struct HTMLTag: Sendable {
    let name: StaticString

    private init(_ name: StaticString) { self.name = name }

    static let html = HTMLTag("html")
    static let head = HTMLTag("head")
    static let body = HTMLTag("body")

    public static let title = HTMLTag("title")

    public static let header = HTMLTag("header")
    public static let nav = HTMLTag("nav")
    public static let main = HTMLTag("main")
    public static let section = HTMLTag("section")
    public static let footer = HTMLTag("footer")
    public static let div = HTMLTag("div")

    public static let h1 = HTMLTag("h1")
    public static let h2 = HTMLTag("h2")
    public static let h3 = HTMLTag("h3")
    public static let p = HTMLTag("p")
    public static let pre = HTMLTag("pre")
    public static let figure = HTMLTag("figure")
    public static let figcaption = HTMLTag("figcaption")

    public static let ul = HTMLTag("ul")
    public static let ol = HTMLTag("ol")
    public static let li = HTMLTag("li")
    public static let dl = HTMLTag("dl")
    public static let dt = HTMLTag("dt")
    public static let dd = HTMLTag("dd")

    public static let table = HTMLTag("table")
    public static let caption = HTMLTag("caption")
    public static let thead = HTMLTag("thead")
    public static let tbody = HTMLTag("tbody")
    public static let tr = HTMLTag("tr")
    public static let th = HTMLTag("th")
    public static let td = HTMLTag("td")

    public static let a = HTMLTag("a")
    public static let span = HTMLTag("span")
    public static let strong = HTMLTag("strong")
    public static let code = HTMLTag("code")
    public static let time = HTMLTag("time")
    /// For a name of unknown direction: it cannot change the direction of the surrounding text.
    public static let bdi = HTMLTag("bdi")

    public static let small = HTMLTag("small")
    public static let kbd = HTMLTag("kbd")
    public static let details = HTMLTag("details")
    public static let summary = HTMLTag("summary")

    public static let form = HTMLTag("form")
    public static let label = HTMLTag("label")
    public static let select = HTMLTag("select")
    public static let option = HTMLTag("option")
    public static let textarea = HTMLTag("textarea")
    public static let button = HTMLTag("button")

    public static let svg = HTMLTag("svg")
    public static let g = HTMLTag("g")
    public static let rect = HTMLTag("rect")
    public static let circle = HTMLTag("circle")
    public static let path = HTMLTag("path")
}

/// An element that has no content and no end (HTML §13.1.2).
public struct HTMLVoidTag: Sendable {
    let name: StaticString

    private init(_ name: StaticString) { self.name = name }

    public static let meta = HTMLVoidTag("meta")
    public static let link = HTMLVoidTag("link")
    public static let img = HTMLVoidTag("img")
    public static let br = HTMLVoidTag("br")
    public static let hr = HTMLVoidTag("hr")
    public static let input = HTMLVoidTag("input")
}
