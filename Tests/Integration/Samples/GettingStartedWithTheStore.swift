var visible: Range<Int> { fatalError() }

func showRows(_ rows: Range<Int>) {}
