#ifndef RECORDER_START_H
#define RECORDER_START_H

// Creates the program's recorder. FaultlineRecorder defines it.
void faultline_start_recorder(void);

#endif
