// zlib for Swift.

#ifndef CZLIB_SHIM_H
#define CZLIB_SHIM_H

#include <zlib.h>

// deflateInit2 and inflateInit2 are macros, which Swift does not import. 16 more bits than the largest window ask for gzip's header.
static inline int czlib_begin_gzip(z_stream *stream) {
    return deflateInit2(stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
}

// A negative size of the window asks for compressed bytes without any header.
static inline int czlib_begin_raw_inflate(z_stream *stream) {
    return inflateInit2(stream, -MAX_WBITS);
}

#endif
