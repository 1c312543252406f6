// The files of a page, which the compiler copies into the library.

#include "page.h"

// Clang has it in older versions of C, too.
#pragma clang diagnostic ignored "-Wc23-extensions"

// The modules, each after those that it imports.
static const unsigned char code[] = {
#embed "Page/format.js"
    , '\n',
#embed "Page/columns.js"
    , '\n',
#embed "Page/trace.js"
    , '\n',
#embed "Page/weights.js"
    , '\n',
#embed "Page/calltree.js"
    , '\n',
#embed "Page/lanes.js"
    , '\n',
#embed "Page/hotspots.js"
    , '\n',
#embed "Page/selection.js"
    , '\n',
#embed "Page/worker.js"
    , '\n',
#embed "Page/elements.js"
    , '\n',
#embed "Page/source.js"
    , '\n',
#embed "Page/colours.js"
    , '\n',
#embed "Page/timescale.js"
    , '\n',
#embed "Page/minimap.js"
    , '\n',
#embed "Page/graphpainter.js"
    , '\n',
#embed "Page/trackpainter.js"
    , '\n',
#embed "Page/overlays.js"
    , '\n',
#embed "Page/gestures.js"
    , '\n',
#embed "Page/splitters.js"
    , '\n',
#embed "Page/address.js"
    , '\n',
#embed "Page/timeline.js"
    , '\n',
#embed "Page/eventlist.js"
    , '\n',
#embed "Page/detail.js"
    , '\n',
#embed "Page/treeview.js"
    , '\n',
#embed "Page/flamegraph.js"
    , '\n',
#embed "Page/charts.js"
    , '\n',
#embed "Page/chartpanel.js"
    , '\n',
#embed "Page/treeoptions.js"
    , '\n',
#embed "Page/advice.js"
    , '\n',
#embed "Page/treemap.js"
    , '\n',
#embed "Page/keys.js"
    , '\n',
#embed "Page/filters.js"
    , '\n',
#embed "Page/tables.js"
    , '\n',
#embed "Page/page.js"
    , '\n',
#embed "Page/report.js"
    , '\n',
#embed "Page/diff.js"
    , '\n',
#embed "Page/inspection.js"
    , '\n',
#embed "Page/modellayout.js"
    , '\n',
#embed "Page/modeldiagram.js"
    , '\n',
#embed "Page/model.js"
    , '\n',
#embed "Page/main.js"
    , 0};

static const unsigned char style[] = {
#embed "Page/page.css"
    , 0};
static const unsigned char header[] = {
#embed "Page/header.html"
    , 0};
static const unsigned char report[] = {
#embed "Page/report.html"
    , 0};
static const unsigned char diff[] = {
#embed "Page/diff.html"
    , 0};
static const unsigned char inspection[] = {
#embed "Page/inspection.html"
    , 0};
static const unsigned char model[] = {
#embed "Page/model.html"
    , 0};

const char *fl_page_code(void) { return (const char *)code; }

const char *fl_page_style(void) { return (const char *)style; }

const char *fl_page_body(enum fl_page_kind kind) {
    static const unsigned char *const bodies[] = {report, diff, inspection, model};
    return (const char *)bodies[kind];
}

const char *fl_page_header(void) { return (const char *)header; }
