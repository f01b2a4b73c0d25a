/* The bytes of an answer. What it takes is added up first, so that it is written straight into the
 * bytes object that is returned. */
#include "native.h"

typedef struct {
    const char *data;
    size_t length;
} Text;

/* memcpy without a call for what names and reasons are like: two copies that overlap. */
static inline char *append(char *at, const char *text, size_t length) {
    if (length >= 16 && length <= 32) {
        memcpy(at, text, 16);
        memcpy(at + length - 16, text + length - 16, 16);
    } else if (length > 32 && length <= 64) {
        memcpy(at, text, 32);
        memcpy(at + length - 32, text + length - 32, 32);
    } else {
        memcpy(at, text, length);
    }
    return at + length;
}

#define APPEND(at, text) append(at, text, sizeof(text) - 1)

static inline char *append_literal(char *at, const Candidates *self, size_t i) {
    return append(at, self->data + self->starts[i], literal_length(self, i));
}

/* A comma stands behind each item of a list: the bracket takes the place of the last one. */
static inline void close_list(char *at, int has_items) {
    if (has_items) at--;
    *at = ']';
}

/* ---- The names that pass ---- */

PyObject *candidates_names(Candidates *self, PyObject *unused) {
    (void)unused;
    if (must_be_judged(self) < 0) return NULL;
    size_t room = self->counts[0] == 0 ? 2 : 1;
    for (size_t i = 0; i < self->count; i++) {
        room += (self->place[i] == 0) * (literal_length(self, i) + 1); /* no jump: see candidates.c */
    }
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)room);
    if (bytes == NULL) return NULL;
    char *at = APPEND(PyBytes_AsString(bytes), "[");
    for (size_t i = 0; i < self->count; i++) {
        if (self->place[i] != 0) continue;
        at = append_literal(at, self, i);
        *at++ = ',';
    }
    close_list(at, self->counts[0] > 0);
    return bytes;
}

/* ---- Those that do not, with why ---- */

/* The candidates to name: those that do not pass, a known row only once. */
static size_t list_refused(const Candidates *self, unsigned char *seen, uint32_t *refused) {
    size_t count = 0;
    for (size_t i = 0; i < self->count; i++) {
        uint32_t row = self->row[i];
        if (self->place[i] == 0 || (row != UNKNOWN && seen[row >> 3] >> (row & 7) & 1)) continue;
        seen[row >> 3] |= (unsigned char)(1u << (row & 7));
        refused[count++] = (uint32_t)i;
    }
    return count;
}

/* The texts of the places that are taken, out of the caller's tuple. */
static int take_texts(const Candidates *self, PyObject *tuple, Text *texts) {
    for (size_t place = 1; place < self->places; place++) {
        if (self->counts[place] == 0) continue;
        PyObject *text = PyTuple_GetItem(tuple, (Py_ssize_t)place);
        if (!PyBytes_Check(text)) return fail(PyExc_TypeError, "bytes are needed");
        texts[place].data = PyBytes_AsString(text);
        texts[place].length = (size_t)PyBytes_Size(text);
    }
    return 0;
}

static PyObject *write_members(const Candidates *self, const Text *texts, const uint32_t *refused,
                               size_t count) {
    uint64_t room = count == 0 ? 0 : count - 1; /* commas */
    for (size_t i = 0; i < count; i++) {
        room += literal_length(self, refused[i]) + 1 + texts[self->place[refused[i]]].length;
        if (room > (uint64_t)PY_SSIZE_T_MAX) return PyErr_NoMemory();
    }
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)room);
    if (bytes == NULL) return NULL;
    char *at = PyBytes_AsString(bytes);
    for (size_t i = 0; i < count; i++) {
        Text text = texts[self->place[refused[i]]];
        if (i > 0) *at++ = ',';
        at = append_literal(at, self, refused[i]);
        *at++ = ':';
        at = append(at, text.data, text.length);
    }
    return bytes;
}

static PyObject *make_members(const Candidates *self, PyObject *tuple) {
    PyObject *bytes = NULL;
    if (must_be_judged(self) < 0) return NULL;
    if ((size_t)PyTuple_Size(tuple) < self->places) {
        fail(PyExc_ValueError, "there must be a text for each place");
        return NULL;
    }
    Text *texts = PyMem_Calloc(self->places, sizeof *texts);
    unsigned char *seen = PyMem_Calloc(self->max_row / 8 + 1, 1);
    uint32_t *refused = PyMem_Malloc((self->count + 1) * sizeof *refused);
    if (texts == NULL || seen == NULL || refused == NULL) {
        PyErr_NoMemory();
    } else if (take_texts(self, tuple, texts) == 0) {
        bytes = write_members(self, texts, refused, list_refused(self, seen, refused));
    }
    PyMem_Free(texts);
    PyMem_Free(seen);
    PyMem_Free(refused);
    return bytes;
}

PyObject *candidates_members(Candidates *self, PyObject *texts) {
    PyObject *tuple = PySequence_Tuple(texts);
    if (tuple == NULL) return NULL;
    PyObject *bytes = make_members(self, tuple);
    Py_DECREF(tuple);
    return bytes;
}

/* ---- Scores ---- */

static int sum_up(const Questions *questions, uint32_t row, uint64_t *total) {
    *total = 0;
    for (size_t i = 0; row != UNKNOWN && i < questions->count; i++) {
        uint32_t code = code_at(&questions->column[i], row);
        if (code >= questions->table[i].length) {
            return fail(PyExc_ValueError, "a code is beyond the end of its table");
        }
        *total += code_at(&questions->table[i], code);
    }
    return 0;
}

/* The score of each candidate. Nothing overflows: 64 questions say less than 2^38 together. */
static int score_all(const Candidates *self, const Questions *questions, uint64_t unit,
                     unsigned char *scores) {
    for (size_t i = 0; i < self->count; i++) {
        uint64_t total;
        if (sum_up(questions, self->row[i], &total) < 0) return -1;
        uint64_t score = (20 * total + unit) / (2 * unit);
        scores[i] = (unsigned char)(score < MAX_SCORE ? score : MAX_SCORE);
    }
    return 0;
}

static void subtract_lowest(unsigned char *scores, size_t count) {
    unsigned char lowest = MAX_SCORE;
    for (size_t i = 0; i < count; i++) lowest = scores[i] < lowest ? scores[i] : lowest;
    for (size_t i = 0; i < count; i++) scores[i] = (unsigned char)(scores[i] - lowest);
}

static PyObject *write_scores(const Candidates *self, const unsigned char *scores) {
    static const size_t around = sizeof "{\"Host\":,\"Score\":1}," - 1;
    size_t room = 1;
    for (size_t i = 0; i < self->count; i++) {
        room += (scores[i] > 0) * (literal_length(self, i) + around + (scores[i] == MAX_SCORE));
    }
    const int has_hosts = room > 1;
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(has_hosts ? room : 2));
    if (bytes == NULL) return NULL;
    char *at = APPEND(PyBytes_AsString(bytes), "[");
    for (size_t i = 0; i < self->count; i++) {
        if (scores[i] == 0) continue;
        at = APPEND(at, "{\"Host\":");
        at = append_literal(at, self, i);
        at = APPEND(at, ",\"Score\":");
        if (scores[i] == MAX_SCORE) *at++ = '1';
        *at++ = (char)('0' + scores[i] % 10);
        at = APPEND(at, "},");
    }
    close_list(at, has_hosts);
    return bytes;
}

PyObject *candidates_score(Candidates *self, PyObject *args) {
    PyObject *columns, *tables, *number, *answer = NULL;
    Questions questions;
    int64_t unit;
    if (!PyArg_ParseTuple(args, "OOO:score", &columns, &tables, &number)) return NULL;
    if (take_number(number, 1, MAX_UNIT, "unit", &unit) < 0) return NULL;
    if (take_questions(self, columns, tables, &questions) < 0) return NULL;
    unsigned char *scores = PyMem_Malloc(self->count + 1);
    if (scores == NULL) {
        PyErr_NoMemory();
    } else if (score_all(self, &questions, (uint64_t)unit, scores) == 0) {
        subtract_lowest(scores, self->count);
        answer = write_scores(self, scores);
    }
    PyMem_Free(scores);
    release_questions(&questions);
    return answer;
}
