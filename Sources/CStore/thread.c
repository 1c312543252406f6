#include "cstore.h"

static _Thread_local void *thread_value;

void *cstore_thread_value(void) { return thread_value; }

void cstore_set_thread_value(void *value) { thread_value = value; }
