#ifndef FAULTLINE_PAGE_H
#define FAULTLINE_PAGE_H

// The program, the style and the elements of a page, without its data. All are UTF-8 and end with a null byte.

/// A kind of page.
enum fl_page_kind { FL_PAGE_REPORT, FL_PAGE_DIFF, FL_PAGE_INSPECTION, FL_PAGE_MODEL };

/// All modules of the program, one after the other, with the words that connect them.
const char *fl_page_code(void);
/// The style of all kinds.
const char *fl_page_style(void);
/// The elements of a kind of page before the program fills them.
const char *fl_page_body(enum fl_page_kind kind);
/// The header that all kinds have, for the place that the elements mark.
const char *fl_page_header(void);

#endif
