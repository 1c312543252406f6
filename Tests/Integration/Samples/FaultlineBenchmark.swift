import FaultlineRecorder

struct Library {
    init(recorder: Recorder) throws {}

    func showAlbums() throws {}
}
