/* From the names of a request to the bytes of its answer. `plain.py` is the same in Python, and the
 * two must give the same bytes: change them together.
 *
 * This reads bytes that strangers sent. So every index is checked, every allocation may fail, and
 * all of a caller's objects are taken apart before anything of our own is touched: what a caller
 * passes may run Python code that calls us again.
 *
 * Only the stable ABI of CPython 3.11 is used, so one build serves every later version.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdint.h>
#include <string.h>

#define UNASKED UINT32_MAX
#define UNKNOWN_NODE 1u
/* The limits are those of plain.py. */
#define MAX_ROW ((1u << 24) - 1)
#define MAX_PLACES (1u << 24)
#define MAX_QUESTIONS 64
#define MAX_NAME 65535
#define MAX_BODY (UINT32_MAX - 15)
#define MAX_UNIT ((int64_t)1 << 60)
#define MAX_SCORE 10

/* ---- Numbers and bytes ---- */

static inline uint64_t load64(const char *from) {
    uint64_t word;
    memcpy(&word, from, sizeof word); /* any address: a plain pointer would have to be aligned */
    return word;
}

static int fail(PyObject *kind, const char *message) {
    PyErr_SetString(kind, message);
    return -1;
}

/* An int between low and high, as plain.py's _number. */
static int take_number(PyObject *object, int64_t low, int64_t high, const char *what, int64_t *out) {
    int overflow;
    long long value;
    if (!PyLong_Check(object)) {
        PyErr_Format(PyExc_TypeError, "the %s must be an int", what);
        return -1;
    }
    value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (value == -1 && !overflow && PyErr_Occurred()) return -1;
    if (overflow || value < low || value > high) {
        PyErr_Format(PyExc_ValueError, "the %s is out of range", what);
        return -1;
    }
    *out = value;
    return 0;
}

/* A memoryview of unsigned 32-bit integers over a copy of these. */
static PyObject *make_view(const uint32_t *numbers, size_t count) {
    PyObject *bytes, *raw, *view;
    bytes = PyBytes_FromStringAndSize((const char *)numbers, (Py_ssize_t)(count * sizeof *numbers));
    if (bytes == NULL) return NULL;
    raw = PyMemoryView_FromObject(bytes);
    Py_DECREF(bytes);
    if (raw == NULL) return NULL;
    view = PyObject_CallMethod(raw, "cast", "s", "I");
    Py_DECREF(raw);
    return view;
}

/* ---- The index: a hash table of names ----
 *
 * Names lie one behind the other in an arena of 8-byte units, each behind its row and length. A slot
 * of the table holds half of the hash and where the name lies, so a wrong slot is told from the right
 * one without a look at the arena. A removed name leaves a tombstone and a hole; when these are as
 * many as what is alive, the table is built anew, so that a change costs the same on average however
 * large the table is.
 */
#define FREE 0u /* nothing lies at unit 0 of the arena */
#define TOMBSTONE UINT32_MAX
#define NEVER_READ 0x80000000u /* in a length: JSON may write this name in another way */
#define SMALLEST_TABLE 16u

typedef struct {
    uint32_t tag;
    uint32_t at;
} Slot;

typedef struct {
    uint32_t row;
    uint32_t length; /* and the flag NEVER_READ: a name that is read never has the same length */
} Entry;

typedef struct {
    PyObject_HEAD
    uint64_t seed;
    Slot *slots;
    size_t capacity; /* of slots: a power of two */
    size_t alive;
    size_t buried;
    uint64_t *arena;
    size_t arena_capacity; /* in units, as the next two */
    size_t arena_used;
    size_t arena_dead;
} Index;

static inline uint64_t fold(uint64_t a, uint64_t b) {
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* In the manner of wyhash. The seed is a secret: nobody can choose names that fall on one slot. */
static inline uint64_t hash_name(uint64_t seed, const char *name, size_t length) {
    uint64_t hash = (seed ^ length) * 0x9E3779B97F4A7C15u, first = 0, last = 0;
    size_t i;
    if (length > 16) {
        for (i = 0; i + 16 < length; i += 16) {
            hash = fold(load64(name + i) ^ seed, load64(name + i + 8) ^ hash);
        }
        first = load64(name + length - 16); /* some bytes twice: cheaper than to mask them */
        last = load64(name + length - 8);
    } else if (length >= 8) {
        first = load64(name);
        last = load64(name + length - 8);
    } else {
        memcpy(&first, name, length);
    }
    return fold(first ^ seed, last ^ hash);
}

static inline int same_bytes(const char *a, const char *b, size_t length) {
    size_t i;
    if (length < 8) return memcmp(a, b, length) == 0;
    for (i = 0; i + 8 < length; i += 8) {
        if (load64(a + i) != load64(b + i)) return 0;
    }
    return load64(a + length - 8) == load64(b + length - 8);
}

static inline Entry *entry_at(const Index *self, uint32_t at) {
    return (Entry *)(void *)(self->arena + at);
}

static inline const char *entry_text(const Entry *entry) {
    return (const char *)(entry + 1);
}

static inline size_t units_of(size_t length) {
    return 1 + (length + 7) / 8;
}

/* The slot of a name, or NULL. At least half of the slots are free, so the search ends. */
static inline Slot *find_slot(const Index *self, uint64_t hash, const char *name, size_t length,
                              uint32_t flag) {
    size_t mask = self->capacity - 1, place = (size_t)hash & mask;
    uint32_t tag = (uint32_t)(hash >> 32);
    for (;; place = (place + 1) & mask) {
        Slot *slot = &self->slots[place];
        if (slot->at == FREE) return NULL;
        if (slot->tag != tag || slot->at == TOMBSTONE) continue;
        const Entry *entry = entry_at(self, slot->at);
        if (entry->length == ((uint32_t)length | flag) && same_bytes(entry_text(entry), name, length)) {
            return slot;
        }
    }
}

static void occupy_slot(Slot *slots, size_t capacity, uint64_t hash, uint32_t at) {
    size_t place = (size_t)hash & (capacity - 1);
    while (slots[place].at != FREE) place = (place + 1) & (capacity - 1);
    slots[place].tag = (uint32_t)(hash >> 32);
    slots[place].at = at;
}

/* Build the table anew without tombstones and holes, with room to grow. */
static int rebuild(Index *self) {
    size_t capacity = SMALLEST_TABLE, units, used = 1, i;
    Slot *slots;
    uint64_t *arena;
    while (capacity < 4 * (self->alive + 1)) capacity *= 2;
    units = 2 * (self->arena_used - self->arena_dead) + units_of(MAX_NAME) / 16;
    slots = PyMem_Calloc(capacity, sizeof *slots);
    arena = PyMem_Malloc(units * sizeof *arena);
    if (slots == NULL || arena == NULL) {
        PyMem_Free(slots);
        PyMem_Free(arena);
        PyErr_NoMemory();
        return -1;
    }
    for (i = 0; i < self->capacity; i++) {
        if (self->slots[i].at == FREE || self->slots[i].at == TOMBSTONE) continue;
        const Entry *entry = entry_at(self, self->slots[i].at);
        size_t length = entry->length & ~NEVER_READ;
        memcpy(arena + used, entry, units_of(length) * sizeof *arena);
        occupy_slot(slots, capacity, hash_name(self->seed, entry_text(entry), length), (uint32_t)used);
        used += units_of(length);
    }
    PyMem_Free(self->slots);
    PyMem_Free(self->arena);
    self->slots = slots;
    self->capacity = capacity;
    self->buried = 0;
    self->arena = arena;
    self->arena_capacity = units;
    self->arena_used = used;
    self->arena_dead = 1; /* unit 0 */
    return 0;
}

/* Room for one more name of this length. */
static int make_room(Index *self, size_t length) {
    size_t needed, larger;
    uint64_t *arena;
    if (2 * (self->alive + self->buried + 1) > self->capacity && rebuild(self) < 0) return -1;
    needed = self->arena_used + units_of(length);
    if (needed <= self->arena_capacity) return 0;
    larger = 2 * needed;
    arena = needed >= TOMBSTONE ? NULL : PyMem_Realloc(self->arena, larger * sizeof *arena);
    if (arena == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    self->arena = arena;
    self->arena_capacity = larger;
    return 0;
}

static uint32_t name_flag(const char *name, size_t length) {
    size_t i;
    for (i = 0; i < length; i++) {
        if ((unsigned char)name[i] < 0x20 || name[i] == '"' || name[i] == '\\') return NEVER_READ;
    }
    return 0;
}

static const char *take_name(PyObject *object, size_t *length) {
    Py_ssize_t size;
    const char *name;
    if (!PyUnicode_Check(object)) {
        fail(PyExc_TypeError, "a name must be a str");
        return NULL;
    }
    name = PyUnicode_AsUTF8AndSize(object, &size);
    if (name == NULL) return NULL;
    if (size > MAX_NAME) {
        fail(PyExc_ValueError, "the name is too long");
        return NULL;
    }
    *length = (size_t)size;
    return name;
}

static PyObject *index_put(Index *self, PyObject *args) {
    PyObject *object, *number;
    const char *name;
    size_t length;
    uint64_t hash;
    uint32_t flag;
    int64_t row;
    Slot *slot;
    if (!PyArg_ParseTuple(args, "OO:put", &object, &number)) return NULL;
    if ((name = take_name(object, &length)) == NULL) return NULL;
    if (take_number(number, 1, MAX_ROW, "row", &row) < 0) return NULL;
    flag = name_flag(name, length);
    hash = hash_name(self->seed, name, length);
    slot = find_slot(self, hash, name, length, flag);
    if (slot == NULL) {
        if (make_room(self, length) < 0) return NULL;
        uint32_t at = (uint32_t)self->arena_used;
        Entry *entry = entry_at(self, at);
        self->arena[at + units_of(length) - 1] = 0; /* what pads the name: defined, if never looked at */
        entry->length = (uint32_t)length | flag;
        entry->row = (uint32_t)row;
        memcpy(entry + 1, name, length);
        occupy_slot(self->slots, self->capacity, hash, at);
        self->arena_used += units_of(length);
        self->alive++;
    } else {
        entry_at(self, slot->at)->row = (uint32_t)row;
    }
    Py_RETURN_NONE;
}

static PyObject *index_remove(Index *self, PyObject *object) {
    size_t length;
    const char *name = take_name(object, &length);
    Slot *slot;
    if (name == NULL) return NULL;
    slot = find_slot(self, hash_name(self->seed, name, length), name, length, name_flag(name, length));
    if (slot == NULL) {
        PyErr_SetObject(PyExc_KeyError, object);
        return NULL;
    }
    slot->at = TOMBSTONE;
    self->alive--;
    self->buried++;
    self->arena_dead += units_of(length);
    if (2 * self->arena_dead > self->arena_used + 1024 && rebuild(self) < 0) {
        PyErr_Clear(); /* the name is gone all the same; the next change tries again */
    }
    Py_RETURN_NONE;
}

/* ---- Candidates ----
 *
 * Literal i, the JSON text of name i, stands in `text` from starts[i] on, and one byte, a comma,
 * parts it from literal i + 1. So its length is starts[i + 1] - starts[i] - 1, in a request and in
 * what is put together from literals alike.
 */
typedef struct {
    PyObject_HEAD
    PyObject *text; /* bytes */
    const char *data;
    size_t count;
    uint32_t max_row;
    uint32_t *row;
    uint32_t *starts; /* one more than rows */
    uint32_t *place;  /* by candidate; NULL until judged */
    uint32_t *counts; /* by place */
    size_t places;
} Candidates;

typedef struct {
    PyTypeObject *candidates;
} State;

static void *allocate(PyTypeObject *type) {
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    return alloc(type, 0);
}

static void release(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    freefunc give_back = (freefunc)PyType_GetSlot(type, Py_tp_free);
    give_back(self);
    Py_DECREF(type);
}

static inline size_t literal_length(const Candidates *self, size_t i) {
    return self->starts[i + 1] - self->starts[i] - 1;
}

static int resize_candidates(Candidates *self, size_t capacity) {
    uint32_t *row, *starts;
    row = PyMem_Realloc(self->row, (capacity + 1) * sizeof *row);
    if (row != NULL) self->row = row;
    starts = PyMem_Realloc(self->starts, (capacity + 1) * sizeof *starts);
    if (starts != NULL) self->starts = starts;
    if (row == NULL || starts == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

static void forget_places(Candidates *self) {
    PyMem_Free(self->place);
    PyMem_Free(self->counts);
    self->place = NULL;
    self->counts = NULL;
}

static void candidates_dealloc(Candidates *self) {
    forget_places(self);
    PyMem_Free(self->row);
    PyMem_Free(self->starts);
    Py_XDECREF(self->text);
    release((PyObject *)self);
}

/* Rows and starts of candidates out of two tuples of equal size; the literals are parted by commas. */
static int fill_candidates(Candidates *self, PyObject *rows, PyObject *literals) {
    Py_ssize_t i, count = PyTuple_Size(rows);
    size_t at = 0;
    int64_t row;
    if (resize_candidates(self, (size_t)count) < 0) return -1;
    for (i = 0; i < count; i++) {
        PyObject *literal = PyTuple_GetItem(literals, i);
        if (take_number(PyTuple_GetItem(rows, i), 0, MAX_ROW, "row", &row) < 0) return -1;
        if (!PyBytes_Check(literal)) return fail(PyExc_TypeError, "bytes are needed");
        self->row[i] = (uint32_t)row;
        self->starts[i] = (uint32_t)at;
        if (row > self->max_row) self->max_row = (uint32_t)row;
        at += (size_t)PyBytes_Size(literal) + 1;
        if (at > MAX_BODY) return fail(PyExc_ValueError, "the literals are too long");
    }
    self->starts[count] = (uint32_t)at;
    self->text = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)at);
    if (self->text == NULL) return -1;
    char *data = PyBytes_AsString(self->text);
    self->data = data;
    for (i = 0; i < count; i++) {
        PyObject *literal = PyTuple_GetItem(literals, i);
        memcpy(data + self->starts[i], PyBytes_AsString(literal), (size_t)PyBytes_Size(literal));
        data[self->starts[i + 1] - 1] = ',';
    }
    self->count = (size_t)count;
    return 0;
}

static PyObject *candidates_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    PyObject *rows, *literals, *row_tuple, *literal_tuple = NULL;
    Candidates *self = NULL;
    if (keywords != NULL && PyDict_Size(keywords)) {
        fail(PyExc_TypeError, "Candidates takes no keywords");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "OO:Candidates", &rows, &literals)) return NULL;
    row_tuple = PySequence_Tuple(rows);
    if (row_tuple != NULL) literal_tuple = PySequence_Tuple(literals);
    if (literal_tuple != NULL) {
        if (PyTuple_Size(row_tuple) != PyTuple_Size(literal_tuple)) {
            fail(PyExc_ValueError, "there must be a literal for each row");
        } else {
            self = allocate(type);
            if (self != NULL && fill_candidates(self, row_tuple, literal_tuple) < 0) Py_CLEAR(self);
        }
    }
    Py_XDECREF(row_tuple);
    Py_XDECREF(literal_tuple);
    return (PyObject *)self;
}

/* ---- Names of a request to rows ---- */

/* A quote at or after `at`, or NULL. Eight bytes a step. */
static inline const char *next_quote(const char *at, const char *end) {
    const uint64_t ones = 0x0101010101010101u, high = ones << 7;
    while (end - at >= 8) {
        uint64_t other = load64(at) ^ (ones * '"'); /* zero where a quote is */
        if ((other - ones) & ~other & high) break;
        at += 8;
    }
    while (at < end && *at != '"') at++;
    return at < end ? at : NULL;
}

static int is_plain(const char *name, size_t length) {
    size_t i;
    for (i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)name[i];
        if (byte < 0x20 || byte == '\\' || byte > 0x7F) return 0;
    }
    return 1;
}

/* 1: all rows are known; 0: not a plain list; -1: no memory. `end` is the closing bracket. */
static int read_names(const Index *index, Candidates *self, const char *at, const char *end) {
    size_t capacity = (size_t)(end - at) / 16 + 16;
    if (resize_candidates(self, capacity) < 0) return -1;
    while (at < end) {
        const char *name, *quote;
        size_t length;
        uint32_t row = 0;
        if (*at != '"' || (quote = next_quote(at + 1, end)) == NULL) return 0;
        if (self->count == capacity) {
            capacity *= 2;
            if (resize_candidates(self, capacity) < 0) return -1;
        }
        name = at + 1;
        length = (size_t)(quote - name);
        Slot *slot = find_slot(index, hash_name(index->seed, name, length), name, length, 0);
        if (slot != NULL) {
            row = entry_at(index, slot->at)->row;
        } else if (!is_plain(name, length)) {
            return 0;
        }
        if (row > self->max_row) self->max_row = row;
        self->row[self->count] = row;
        self->starts[self->count++] = (uint32_t)(at - self->data);
        at = quote + 1;
        if (at == end) break;
        if (*at++ != ',' || at == end) return 0;
    }
    self->starts[self->count] = (uint32_t)(end + 1 - self->data);
    return 1;
}

static PyObject *index_read(Index *self, PyObject *args) {
    PyObject *body, *number, *module;
    const char *data;
    size_t size;
    int64_t start;
    int told;
    Candidates *read;
    if (!PyArg_ParseTuple(args, "OO:read", &body, &number)) return NULL;
    if (!PyBytes_Check(body)) {
        fail(PyExc_TypeError, "bytes are needed");
        return NULL;
    }
    if (take_number(number, 0, PY_SSIZE_T_MAX, "start", &start) < 0) return NULL;
    data = PyBytes_AsString(body);
    size = (size_t)PyBytes_Size(body);
    if (size > MAX_BODY || size < 3 || (uint64_t)start > size - 3) Py_RETURN_NONE;
    if (data[start] != '[' || data[size - 2] != ']' || data[size - 1] != '}') Py_RETURN_NONE;
    if ((module = PyType_GetModule(Py_TYPE((PyObject *)self))) == NULL) return NULL;
    read = allocate(((State *)PyModule_GetState(module))->candidates);
    if (read == NULL) return NULL;
    Py_INCREF(body);
    read->text = body;
    read->data = data;
    told = read_names(self, read, data + start + 1, data + size - 2);
    if (told == 1) return (PyObject *)read;
    Py_DECREF((PyObject *)read);
    if (told < 0) return NULL;
    Py_RETURN_NONE;
}

static PyObject *index_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    PyObject *seed;
    Index *self;
    if (keywords != NULL && PyDict_Size(keywords)) {
        fail(PyExc_TypeError, "NameIndex takes no keywords");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "O!:NameIndex", &PyLong_Type, &seed)) return NULL;
    self = allocate(type);
    if (self == NULL) return NULL;
    self->seed = PyLong_AsUnsignedLongLongMask(seed);
    self->arena_used = self->arena_dead = 1;
    if (PyErr_Occurred() || rebuild(self) < 0) Py_CLEAR(self);
    return (PyObject *)self;
}

static void index_dealloc(Index *self) {
    PyMem_Free(self->slots);
    PyMem_Free(self->arena);
    release((PyObject *)self);
}

static Py_ssize_t index_length(Index *self) {
    return (Py_ssize_t)self->alive;
}

static PyObject *index_nbytes(Index *self, void *closure) {
    (void)closure;
    return PyLong_FromSize_t(sizeof *self + self->capacity * sizeof *self->slots +
                             self->arena_capacity * sizeof *self->arena);
}

/* ---- Questions: a column of codes by row, and a table of what is said of a code ---- */

typedef struct {
    Py_buffer buffer;
    const char *data; /* may stand at any address */
    size_t length;
} Codes;

typedef struct {
    size_t count;
    Codes column[MAX_QUESTIONS];
    Codes table[MAX_QUESTIONS];
} Questions;

static inline uint32_t code_at(const Codes *codes, size_t i) {
    uint32_t code;
    memcpy(&code, codes->data + i * sizeof code, sizeof code);
    return code;
}

static inline uint32_t look_up(const Codes *table, uint32_t code) {
    return code < table->length ? code_at(table, code) : UNASKED;
}

static int take_codes(PyObject *object, Codes *codes) {
    if (PyObject_GetBuffer(object, &codes->buffer, PyBUF_ND | PyBUF_FORMAT) < 0) {
        if (!PyErr_ExceptionMatches(PyExc_BufferError)) return -1;
        PyErr_Clear();
    } else if (codes->buffer.ndim == 1 && codes->buffer.itemsize == sizeof(uint32_t) &&
               codes->buffer.format != NULL && strcmp(codes->buffer.format, "I") == 0) {
        codes->data = codes->buffer.buf;
        codes->length = (size_t)codes->buffer.len / sizeof(uint32_t);
        return 0;
    } else {
        PyBuffer_Release(&codes->buffer);
    }
    return fail(PyExc_ValueError, "codes must be a contiguous buffer of unsigned 32-bit integers");
}

static int take_column(const Candidates *self, PyObject *object, Codes *codes) {
    if (take_codes(object, codes) < 0) return -1;
    if (self->max_row == 0 || self->max_row < codes->length) return 0;
    PyBuffer_Release(&codes->buffer);
    return fail(PyExc_ValueError, "a column is too short");
}

static void release_questions(Questions *questions) {
    while (questions->count > 0) {
        questions->count--;
        PyBuffer_Release(&questions->column[questions->count].buffer);
        PyBuffer_Release(&questions->table[questions->count].buffer);
    }
}

static int fill_questions(const Candidates *self, PyObject *columns, PyObject *tables,
                          Questions *questions) {
    Py_ssize_t i, count = PyTuple_Size(columns);
    if (count != PyTuple_Size(tables)) {
        return fail(PyExc_ValueError, "there must be a table for each column");
    }
    if (count > MAX_QUESTIONS) return fail(PyExc_ValueError, "there are too many questions");
    for (i = 0; i < count; i++) {
        if (take_column(self, PyTuple_GetItem(columns, i), &questions->column[i]) < 0) return -1;
        if (take_codes(PyTuple_GetItem(tables, i), &questions->table[i]) < 0) {
            PyBuffer_Release(&questions->column[i].buffer);
            return -1;
        }
        questions->count++;
    }
    return 0;
}

/* After success the caller must release the questions. */
static int take_questions(const Candidates *self, PyObject *columns, PyObject *tables,
                          Questions *questions) {
    PyObject *column_tuple = PySequence_Tuple(columns), *table_tuple = NULL;
    int told = -1;
    questions->count = 0;
    if (column_tuple != NULL) table_tuple = PySequence_Tuple(tables);
    if (table_tuple != NULL) told = fill_questions(self, column_tuple, table_tuple, questions);
    if (told < 0) release_questions(questions);
    Py_XDECREF(column_tuple);
    Py_XDECREF(table_tuple);
    return told;
}

/* The sizes of questions, and the number of places. */
static int take_sizes(PyObject *object, size_t count, uint32_t *sizes, size_t *places) {
    PyObject *tuple = PySequence_Tuple(object);
    size_t i;
    int64_t size;
    int told = 0;
    if (tuple == NULL) return -1;
    *places = 2;
    if ((size_t)PyTuple_Size(tuple) != count) {
        told = fail(PyExc_ValueError, "there must be a size for each table");
    }
    for (i = 0; told == 0 && i < count; i++) {
        PyObject *number = PyTuple_GetItem(tuple, (Py_ssize_t)i);
        told = take_number(number, 0, MAX_PLACES, "size", &size);
        if (told < 0) break;
        sizes[i] = (uint32_t)size;
        *places += (size_t)size;
    }
    if (told == 0 && *places > MAX_PLACES) told = fail(PyExc_ValueError, "there are too many places");
    Py_DECREF(tuple);
    return told;
}

/* ---- Verdicts ---- */

/* Ask one question of all that no earlier one refused. 1: a code was not asked about yet. */
static int ask(const Candidates *self, uint32_t *place, const Codes *column, const Codes *table,
               uint32_t base, uint32_t size) {
    uint32_t unasked = 0, beyond = 0;
    size_t i;
    for (i = 0; i < self->count; i++) {
        uint32_t said, open = place[i] == 0;
        if (self->row[i] == 0) continue;
        said = look_up(table, code_at(column, self->row[i]));
        unasked |= open & (said == UNASKED);
        beyond |= open & (said > size) & (said != UNASKED);
        place[i] = open && said ? base + said : place[i];
    }
    if (beyond) return fail(PyExc_ValueError, "a table holds a refusal beyond its size");
    return (int)unasked;
}

/* The first question with an unasked code, -1 if there is none, -2 for an error. */
static int judge_all(const Candidates *self, const Questions *questions, const uint32_t *sizes,
                     uint32_t *place) {
    uint32_t base = 1;
    size_t i;
    for (i = 0; i < self->count; i++) place[i] = self->row[i] ? 0 : UNKNOWN_NODE;
    for (i = 0; i < questions->count; i++) {
        int told = ask(self, place, &questions->column[i], &questions->table[i], base, sizes[i]);
        if (told < 0) return -2;
        if (told > 0) return (int)i;
        base += sizes[i];
    }
    return -1;
}

static PyObject *candidates_judge(Candidates *self, PyObject *args) {
    PyObject *columns, *tables, *size_list;
    Questions questions;
    uint32_t sizes[MAX_QUESTIONS], *place, *counts;
    size_t places, i;
    int told = -2;
    if (!PyArg_ParseTuple(args, "OOO:judge", &columns, &tables, &size_list)) return NULL;
    if (take_questions(self, columns, tables, &questions) < 0) return NULL;
    if (take_sizes(size_list, questions.count, sizes, &places) < 0) {
        release_questions(&questions);
        return NULL;
    }
    forget_places(self);
    place = PyMem_Malloc((self->count + 1) * sizeof *place);
    counts = PyMem_Calloc(places, sizeof *counts);
    if (place == NULL || counts == NULL) {
        PyErr_NoMemory();
    } else {
        told = judge_all(self, &questions, sizes, place);
    }
    release_questions(&questions);
    if (told != -1) {
        PyMem_Free(place);
        PyMem_Free(counts);
        return told == -2 ? NULL : PyLong_FromLong(told);
    }
    for (i = 0; i < self->count; i++) counts[place[i]]++;
    self->place = place;
    self->counts = counts;
    self->places = places;
    return PyLong_FromLong(-1);
}

static int all_pass(const Questions *questions, uint32_t row) {
    size_t i;
    for (i = 0; i < questions->count; i++) {
        if (look_up(&questions->table[i], code_at(&questions->column[i], row)) != 0) return 0;
    }
    return 1;
}

static PyObject *count_codes(const Candidates *self, const Questions *questions, const Codes *column,
                             size_t size) {
    uint32_t *counts = PyMem_Calloc(size + 1, sizeof *counts);
    PyObject *view;
    size_t i;
    if (counts == NULL) return PyErr_NoMemory();
    for (i = 0; i < self->count; i++) {
        uint32_t row = self->row[i], code;
        if (row == 0 || !all_pass(questions, row)) continue;
        code = code_at(column, row);
        if (code < size) counts[code]++;
    }
    view = make_view(counts, size);
    PyMem_Free(counts);
    return view;
}

static PyObject *candidates_reached(Candidates *self, PyObject *args) {
    PyObject *columns, *tables, *column_object, *number, *view = NULL;
    Questions questions;
    Codes column;
    int64_t size;
    if (!PyArg_ParseTuple(args, "OOOO:reached", &columns, &tables, &column_object, &number)) return NULL;
    if (take_number(number, 0, MAX_PLACES, "size", &size) < 0) return NULL;
    if (take_questions(self, columns, tables, &questions) < 0) return NULL;
    if (take_column(self, column_object, &column) == 0) {
        view = count_codes(self, &questions, &column, (size_t)size);
        PyBuffer_Release(&column.buffer);
    }
    release_questions(&questions);
    return view;
}

/* ---- What was said, as numbers ---- */

static int must_be_judged(const Candidates *self) {
    return self->place != NULL ? 0 : fail(PyExc_ValueError, "the candidates were not judged yet");
}

static PyObject *candidates_counts(Candidates *self, void *closure) {
    (void)closure;
    return must_be_judged(self) < 0 ? NULL : make_view(self->counts, self->places);
}

static PyObject *candidates_places(Candidates *self, void *closure) {
    (void)closure;
    return must_be_judged(self) < 0 ? NULL : make_view(self->place, self->count);
}

static PyObject *candidates_rows(Candidates *self, PyObject *number) {
    uint32_t *rows;
    int64_t place;
    size_t i, found = 0;
    PyObject *view;
    if (must_be_judged(self) < 0) return NULL;
    if (take_number(number, 0, (int64_t)self->places - 1, "place", &place) < 0) return NULL;
    rows = PyMem_Malloc((self->counts[place] + 1) * sizeof *rows);
    if (rows == NULL) return PyErr_NoMemory();
    for (i = 0; i < self->count; i++) {
        if (self->place[i] == place) rows[found++] = self->row[i];
    }
    view = make_view(rows, found);
    PyMem_Free(rows);
    return view;
}

static PyObject *candidates_passing_bits(Candidates *self, PyObject *number) {
    int64_t size;
    size_t i;
    PyObject *bytes;
    unsigned char *bits;
    if (must_be_judged(self) < 0) return NULL;
    if (take_number(number, 0, (int64_t)MAX_ROW + 1, "size", &size) < 0) return NULL;
    bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)((size + 7) / 8));
    if (bytes == NULL) return NULL;
    bits = (unsigned char *)PyBytes_AsString(bytes);
    memset(bits, 0, (size_t)((size + 7) / 8));
    for (i = 0; i < self->count; i++) {
        uint32_t row = self->row[i];
        if (self->place[i] == 0 && row < size) bits[row >> 3] |= (unsigned char)(1u << (row & 7));
    }
    return bytes;
}

static Py_ssize_t candidates_length(Candidates *self) {
    return (Py_ssize_t)self->count;
}

/* ---- Answers ----
 *
 * What an answer takes is added up first, so that it is written straight into its bytes object.
 */
static inline char *append(char *at, const char *text, size_t length) {
    memcpy(at, text, length);
    return at + length;
}

#define APPEND(at, text) append(at, text, sizeof(text) - 1)

/* A comma stands behind each item of a list: the bracket takes the place of the last one. */
static inline void close_list(char *at, int items) {
    if (items) at--;
    *at = ']';
}

static PyObject *candidates_names(Candidates *self, PyObject *unused) {
    PyObject *bytes;
    char *at;
    size_t i, room = 1;
    (void)unused;
    if (must_be_judged(self) < 0) return NULL;
    for (i = 0; i < self->count; i++) {
        if (self->place[i] == 0) room += literal_length(self, i) + 1;
    }
    if (self->counts[0] == 0) room++;
    bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)room);
    if (bytes == NULL) return NULL;
    at = APPEND(PyBytes_AsString(bytes), "[");
    for (i = 0; i < self->count; i++) {
        if (self->place[i] != 0) continue;
        at = append(at, self->data + self->starts[i], literal_length(self, i));
        *at++ = ',';
    }
    close_list(at, self->counts[0] > 0);
    return bytes;
}

/* The candidates that members name: those that do not pass, a known row only once. */
static size_t list_refused(const Candidates *self, unsigned char *seen, uint32_t *refused) {
    size_t i, count = 0;
    for (i = 0; i < self->count; i++) {
        uint32_t row = self->row[i];
        if (self->place[i] == 0) continue;
        if (row != 0) {
            if (seen[row >> 3] >> (row & 7) & 1) continue;
            seen[row >> 3] |= (unsigned char)(1u << (row & 7));
        }
        refused[count++] = (uint32_t)i;
    }
    return count;
}

/* How many bytes the members take; -1 and an error if a text is none, or it is too much. */
static Py_ssize_t room_for_members(const Candidates *self, PyObject *texts, const uint32_t *refused,
                                   size_t count) {
    uint64_t room = count ? count - 1 : 0; /* commas */
    size_t i;
    for (i = 0; i < count; i++) {
        PyObject *text = PyTuple_GetItem(texts, (Py_ssize_t)self->place[refused[i]]);
        if (!PyBytes_Check(text)) return fail(PyExc_TypeError, "bytes are needed");
        room += literal_length(self, refused[i]) + 1 + (uint64_t)PyBytes_Size(text);
        if (room > (uint64_t)PY_SSIZE_T_MAX) {
            PyErr_NoMemory();
            return -1;
        }
    }
    return (Py_ssize_t)room;
}

static PyObject *write_members(const Candidates *self, PyObject *texts, const uint32_t *refused,
                               size_t count) {
    Py_ssize_t room = room_for_members(self, texts, refused, count);
    PyObject *bytes = room < 0 ? NULL : PyBytes_FromStringAndSize(NULL, room);
    char *at;
    size_t i;
    if (bytes == NULL) return NULL;
    at = PyBytes_AsString(bytes);
    for (i = 0; i < count; i++) {
        size_t candidate = refused[i];
        PyObject *text = PyTuple_GetItem(texts, (Py_ssize_t)self->place[candidate]);
        if (i > 0) *at++ = ',';
        at = append(at, self->data + self->starts[candidate], literal_length(self, candidate));
        *at++ = ':';
        at = append(at, PyBytes_AsString(text), (size_t)PyBytes_Size(text));
    }
    return bytes;
}

static PyObject *members_of(const Candidates *self, PyObject *texts) {
    PyObject *bytes = NULL;
    unsigned char *seen;
    uint32_t *refused;
    if (must_be_judged(self) < 0) return NULL;
    if ((size_t)PyTuple_Size(texts) < self->places) {
        fail(PyExc_ValueError, "there must be a text for each place");
        return NULL;
    }
    seen = PyMem_Calloc(self->max_row / 8 + 1, 1);
    refused = PyMem_Malloc((self->count + 1) * sizeof *refused);
    if (seen == NULL || refused == NULL) {
        PyErr_NoMemory();
    } else {
        bytes = write_members(self, texts, refused, list_refused(self, seen, refused));
    }
    PyMem_Free(seen);
    PyMem_Free(refused);
    return bytes;
}

static PyObject *candidates_members(Candidates *self, PyObject *object) {
    PyObject *texts = PySequence_Tuple(object), *bytes;
    if (texts == NULL) return NULL;
    bytes = members_of(self, texts);
    Py_DECREF(texts);
    return bytes;
}

/* ---- Scores ---- */

/* The score of each candidate, and the lowest of them. */
static int score_all(const Candidates *self, const Questions *questions, uint64_t unit,
                     unsigned char *scores, unsigned char *lowest) {
    size_t i, k;
    *lowest = MAX_SCORE;
    for (i = 0; i < self->count; i++) {
        uint64_t total = 0, score = 0;
        for (k = 0; self->row[i] != 0 && k < questions->count; k++) {
            uint32_t code = code_at(&questions->column[k], self->row[i]);
            if (code >= questions->table[k].length) {
                return fail(PyExc_ValueError, "a code is beyond the end of its table");
            }
            total += code_at(&questions->table[k], code);
        }
        score = (20 * total + unit) / (2 * unit);
        scores[i] = (unsigned char)(score < MAX_SCORE ? score : MAX_SCORE);
        if (scores[i] < *lowest) *lowest = scores[i];
    }
    return 0;
}

static PyObject *write_scores(const Candidates *self, const unsigned char *scores, unsigned char lowest) {
    static const size_t around = sizeof "{\"Host\":,\"Score\":1}," - 1;
    PyObject *bytes;
    char *at;
    size_t i, room = 1;
    for (i = 0; i < self->count; i++) {
        int score = scores[i] - lowest;
        if (score != 0) room += literal_length(self, i) + around + (score == MAX_SCORE);
    }
    if (room == 1) room++;
    bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)room);
    if (bytes == NULL) return NULL;
    at = APPEND(PyBytes_AsString(bytes), "[");
    for (i = 0; i < self->count; i++) {
        int score = scores[i] - lowest;
        if (score == 0) continue;
        at = APPEND(at, "{\"Host\":");
        at = append(at, self->data + self->starts[i], literal_length(self, i));
        at = APPEND(at, ",\"Score\":");
        if (score == MAX_SCORE) *at++ = '1';
        *at++ = (char)('0' + score % 10);
        at = APPEND(at, "},");
    }
    close_list(at, room > 2);
    return bytes;
}

static PyObject *candidates_score(Candidates *self, PyObject *args) {
    PyObject *columns, *tables, *number, *answer = NULL;
    Questions questions;
    unsigned char *scores, lowest;
    int64_t unit;
    if (!PyArg_ParseTuple(args, "OOO:score", &columns, &tables, &number)) return NULL;
    if (take_number(number, 1, MAX_UNIT, "unit", &unit) < 0) return NULL;
    if (take_questions(self, columns, tables, &questions) < 0) return NULL;
    scores = PyMem_Malloc(self->count + 1);
    if (scores == NULL) {
        PyErr_NoMemory();
    } else if (score_all(self, &questions, (uint64_t)unit, scores, &lowest) == 0) {
        answer = write_scores(self, scores, lowest);
    }
    PyMem_Free(scores);
    release_questions(&questions);
    return answer;
}

/* ---- Whole nodes ---- */

/* The known node that stands here: a new reference, or NULL; `*length` is that of its text. */
static PyObject *known_node(PyObject *known, const char *text, size_t size, size_t *length) {
    static const char start[] = ",{\"metadata\":{\"name\":\"";
    const size_t before = sizeof start - 1;
    const char *quote;
    PyObject *name, *node, *own;
    if (size < before || memcmp(text, start, before) != 0) return NULL;
    quote = memchr(text + before, '"', size - before);
    if (quote == NULL) return NULL;
    name = PyBytes_FromStringAndSize(text + before, quote - text - (Py_ssize_t)before);
    if (name == NULL) return NULL;
    node = PyDict_GetItemWithError(known, name);
    Py_XINCREF(node);
    Py_DECREF(name);
    if (node == NULL) return NULL;
    own = PyTuple_Check(node) && PyTuple_Size(node) > 0 ? PyTuple_GetItem(node, 0) : NULL;
    if (own == NULL || !PyBytes_Check(own)) {
        fail(PyExc_TypeError, "a known node must be a tuple that begins with its text");
    } else {
        *length = (size_t)PyBytes_Size(own);
        if (*length > 0 && *length <= size && memcmp(text, PyBytes_AsString(own), *length) == 0) {
            return node;
        }
    }
    Py_DECREF(node);
    return NULL;
}

static PyObject *rows_recognise(PyObject *module, PyObject *args) {
    PyObject *text, *number, *known, *found, *node;
    int64_t at;
    size_t size, length;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOO!:recognise", &text, &number, &PyDict_Type, &known)) return NULL;
    if (!PyBytes_Check(text)) {
        fail(PyExc_TypeError, "bytes are needed");
        return NULL;
    }
    if (take_number(number, 0, PY_SSIZE_T_MAX, "at", &at) < 0) return NULL;
    size = (size_t)PyBytes_Size(text);
    if ((found = PyList_New(0)) == NULL) return NULL;
    while ((uint64_t)at < size) {
        node = known_node(known, PyBytes_AsString(text) + at, size - (size_t)at, &length);
        if (node == NULL) break;
        if (PyList_Append(found, node) < 0) {
            Py_DECREF(node);
            break;
        }
        Py_DECREF(node);
        at += (int64_t)length;
    }
    if (PyErr_Occurred()) {
        Py_DECREF(found);
        return NULL;
    }
    return Py_BuildValue("(NL)", found, (long long)at);
}

/* ---- The module ---- */

static PyMethodDef index_methods[] = {
    {"put", (PyCFunction)index_put, METH_VARARGS, NULL},
    {"remove", (PyCFunction)index_remove, METH_O, NULL},
    {"read", (PyCFunction)index_read, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef index_properties[] = {
    {"nbytes", (getter)index_nbytes, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot index_slots[] = {
    {Py_tp_new, index_new},         {Py_tp_dealloc, index_dealloc}, {Py_tp_methods, index_methods},
    {Py_tp_getset, index_properties}, {Py_sq_length, index_length},   {0, NULL},
};

static PyType_Spec index_spec = {
    "extender.rows._native.NameIndex", sizeof(Index), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, index_slots,
};

static PyMethodDef candidates_methods[] = {
    {"judge", (PyCFunction)candidates_judge, METH_VARARGS, NULL},
    {"reached", (PyCFunction)candidates_reached, METH_VARARGS, NULL},
    {"rows", (PyCFunction)candidates_rows, METH_O, NULL},
    {"passing_bits", (PyCFunction)candidates_passing_bits, METH_O, NULL},
    {"names", (PyCFunction)candidates_names, METH_NOARGS, NULL},
    {"members", (PyCFunction)candidates_members, METH_O, NULL},
    {"score", (PyCFunction)candidates_score, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef candidates_properties[] = {
    {"counts", (getter)candidates_counts, NULL, NULL, NULL},
    {"places", (getter)candidates_places, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot candidates_slots[] = {
    {Py_tp_new, candidates_new},
    {Py_tp_dealloc, candidates_dealloc},
    {Py_tp_methods, candidates_methods},
    {Py_tp_getset, candidates_properties},
    {Py_sq_length, candidates_length},
    {0, NULL},
};

static PyType_Spec candidates_spec = {
    "extender.rows._native.Candidates", sizeof(Candidates), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, candidates_slots,
};

static int add_types(PyObject *module) {
    State *state = PyModule_GetState(module);
    PyObject *index;
    int told;
    state->candidates = (PyTypeObject *)PyType_FromModuleAndSpec(module, &candidates_spec, NULL);
    if (state->candidates == NULL) return -1;
    index = PyType_FromModuleAndSpec(module, &index_spec, NULL);
    if (index == NULL) return -1;
    told = PyModule_AddObjectRef(module, "NameIndex", index);
    Py_DECREF(index);
    if (told < 0) return -1;
    return PyModule_AddObjectRef(module, "Candidates", (PyObject *)state->candidates);
}

static int module_traverse(PyObject *module, visitproc visit, void *arg) {
    State *state = PyModule_GetState(module);
    Py_VISIT((PyObject *)state->candidates);
    return 0;
}

static int module_clear(PyObject *module) {
    State *state = PyModule_GetState(module);
    Py_CLEAR(state->candidates);
    return 0;
}

static PyMethodDef functions[] = {
    {"recognise", rows_recognise, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, add_types},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    "extender.rows._native",
    "Rows, verdicts and answers in C.",
    sizeof(State),
    functions,
    module_slots,
    module_traverse,
    module_clear,
    NULL,
};

PyMODINIT_FUNC PyInit__native(void) {
    return PyModuleDef_Init(&definition);
}
