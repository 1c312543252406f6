// The keys of an event of one kind, in the order in which they are written.

#ifndef FAULTLINE_KEY_TABLE_HPP
#define FAULTLINE_KEY_TABLE_HPP

#include <faultline_schema.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace faultline {

struct Key {
    std::string_view name;
    const fl_field *field;
    const fl_list *list;   // null for a plain field
    uint8_t listIndex;
    bool isCommon;
};

class KeyTable {
public:
    static constexpr size_t capacity = 48;

    explicit KeyTable(const fl_event_schema *schema) {
        uint32_t commonCount = 0;
        const fl_field *common = fl_common_fields(&commonCount);
        for (uint32_t index = 0; index < commonCount; index++) {
            add({common[index].name, &common[index], nullptr, 0, true});
        }
        if (schema == nullptr) { return; }
        for (uint32_t index = 0; index < schema->fieldCount; index++) {
            const fl_field *field = &schema->fields[index];
            Key key = {field->name, field, nullptr, 0, false};
            for (uint8_t list = 0; list < schema->listCount; list++) {
                if (schema->lists[list].countOffset == field->offset) {
                    key.list = &schema->lists[list];
                    key.listIndex = list;
                }
            }
            add(key);
        }
    }

    // Returns the key of that name, searching from `cursor`. Keys in the order of the schema are found at the first or
    // second try, others within one round. Null if there is none.
    const Key *find(std::string_view name, size_t &cursor) const {
        for (size_t tried = 0; tried < count; tried++) {
            size_t at = cursor + tried;
            if (at >= count) { at -= count; }
            const Key &key = keys[at];
            if (key.name.size() == name.size() && std::memcmp(key.name.data(), name.data(), name.size()) == 0) {
                cursor = at + 1 == count ? 0 : at + 1;
                return &key;
            }
        }
        return nullptr;
    }

    // Whether there was room for every key.
    bool isComplete() const { return !overflow; }

private:
    void add(Key key) {
        if (count == capacity) {
            overflow = true;
        } else {
            keys[count++] = key;
        }
    }

    std::array<Key, capacity> keys{};
    size_t count = 0;
    bool overflow = false;
};

}  // namespace faultline

#endif
