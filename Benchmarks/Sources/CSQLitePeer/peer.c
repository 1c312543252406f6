#include "peer.h"

#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static inline int64_t read_row(sqlite3_stmt *statement) {
    const unsigned char *first_name = sqlite3_column_text(statement, 3);
    const unsigned char *last_name = sqlite3_column_text(statement, 4);
    int64_t sum = sqlite3_column_bytes(statement, 3) + sqlite3_column_bytes(statement, 4);
    sum += (first_name != NULL) + (last_name != NULL);
    sum += sqlite3_column_int64(statement, 1) + sqlite3_column_int64(statement, 2);
    sum += sqlite3_column_int64(statement, 5) + (int64_t)(sqlite3_column_double(statement, 6) * 100);
    sum += sqlite3_column_int64(statement, 7) + sqlite3_column_int64(statement, 8);
    return sum;
}

int64_t peer_scan(sqlite3_stmt *statement) {
    int64_t sum = 0;
    while (sqlite3_step(statement) == SQLITE_ROW) sum += read_row(statement);
    sqlite3_reset(statement);
    return sum;
}

typedef struct kept_row {
    struct kept_row *next;
    int64_t key;
    int64_t version;
    int64_t age;
    double height;
    int64_t score;
    int64_t is_active;
    int32_t first_name_length;
    int32_t last_name_length;
    char texts[];
} kept_row;

int64_t peer_keep(sqlite3_stmt *statement) {
    kept_row *kept = NULL;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        const unsigned char *first_name = sqlite3_column_text(statement, 3);
        int32_t first_name_length = sqlite3_column_bytes(statement, 3);
        const unsigned char *last_name = sqlite3_column_text(statement, 4);
        int32_t last_name_length = sqlite3_column_bytes(statement, 4);
        kept_row *row = malloc(sizeof(kept_row) + (size_t)(first_name_length + last_name_length));
        if (row == NULL) abort();
        row->next = kept;
        kept = row;
        row->key = sqlite3_column_int64(statement, 1);
        row->version = sqlite3_column_int64(statement, 2);
        row->age = sqlite3_column_int64(statement, 5);
        row->height = sqlite3_column_double(statement, 6);
        row->score = sqlite3_column_int64(statement, 7);
        row->is_active = sqlite3_column_int64(statement, 8);
        row->first_name_length = first_name_length;
        row->last_name_length = last_name_length;
        memcpy(row->texts, first_name, (size_t)first_name_length);
        memcpy(row->texts + first_name_length, last_name, (size_t)last_name_length);
    }
    sqlite3_reset(statement);
    int64_t sum = 0;
    while (kept != NULL) {
        kept_row *next = kept->next;
        sum += kept->key + kept->version + kept->age + (int64_t)(kept->height * 100) + kept->score + kept->is_active;
        sum += kept->first_name_length + kept->last_name_length;
        free(kept);
        kept = next;
    }
    return sum;
}

int64_t peer_find(sqlite3_stmt *statement, const int64_t *keys, int64_t count) {
    int64_t sum = 0;
    for (int64_t place = 0; place < count; place++) {
        sqlite3_bind_int64(statement, 1, keys[place]);
        if (sqlite3_step(statement) == SQLITE_ROW) sum += read_row(statement);
        sqlite3_reset(statement);
    }
    return sum;
}

int peer_insert(sqlite3_stmt *statement, const peer_person *people, int64_t count, int64_t first_key) {
    for (int64_t place = 0; place < count; place++) {
        const peer_person *person = &people[place];
        sqlite3_bind_int64(statement, 1, first_key + place);
        sqlite3_bind_int64(statement, 2, 1);
        sqlite3_bind_int64(statement, 3, 1);
        sqlite3_bind_text(statement, 4, person->first_name, person->first_name_length, SQLITE_STATIC);
        sqlite3_bind_text(statement, 5, person->last_name, person->last_name_length, SQLITE_STATIC);
        sqlite3_bind_int64(statement, 6, person->age);
        sqlite3_bind_double(statement, 7, person->height);
        sqlite3_bind_int64(statement, 8, person->score);
        sqlite3_bind_int64(statement, 9, person->is_active);
        int result = sqlite3_step(statement);
        if (result != SQLITE_DONE) return result;
        sqlite3_reset(statement);
    }
    return SQLITE_OK;
}

void peer_trim_memory(void) { malloc_trim(0); }
