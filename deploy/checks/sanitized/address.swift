let bytes = UnsafeMutablePointer<Int>.allocate(capacity: 4)
bytes.initialize(repeating: 0, count: 4)
bytes[CommandLine.arguments.count - 1] = 1
bytes[CommandLine.arguments.count + 3] = 1  // wrong
print(bytes[0])
bytes.deallocate()
