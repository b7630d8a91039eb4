// Makes the QR codes that deploy/checks/qr looks at: reads a mask's number, or "-", a space and a text from each line, and
// writes the code as SVG, a line each.

while let line = readLine() {
    let parts = line.split(separator: " ", maxSplits: 1)
    let mask = Int(parts[0]).map { QRMask.all[$0] }
    do {
        print(try QRSymbol(String(parts[1]), mask: mask).svg, terminator: "")
    } catch {
        print(error.code)
    }
}
