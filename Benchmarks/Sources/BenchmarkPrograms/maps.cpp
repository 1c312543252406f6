#include "programs.h"

#include <map>
#include <string>
#include <unordered_map>

int64_t program_maps(void) {
    int64_t sum = 0;
    for (int round = 0; round < 100; round++) {
        std::unordered_map<std::string, std::string> names;
        std::map<int, std::string> sorted;
        for (int number = 0; number < 10000; number++) {
            std::string key = "a key that does not fit in the object " + std::to_string(number);
            names[key] = key + ", and its value";
            sorted[(number * 7919) % 10000] = key;
            if (number % 3 == 0) { names.erase(key); }
        }
        sum += static_cast<int64_t>(names.size() + sorted.size());
    }
    return sum;
}
