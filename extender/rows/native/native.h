/* From the names of a request to the bytes of its answer. `plain.py` is the same in Python, and the
 * two must give the same bytes: change them together.
 *
 * This reads bytes that strangers sent. So every index is checked and every allocation may fail. And
 * what a caller passes may run Python code that calls us again: all of a caller's objects are taken
 * apart before anything of our own is touched.
 *
 * Only the stable ABI of CPython 3.11 is used, so one build serves every later version.
 *
 *   index.c       NameIndex: names to rows
 *   candidates.c  Candidates: the rows of one request, and their place in an answer
 *   questions.c   the columns and tables that a caller passes
 *   answers.c     the bytes of an answer
 *   module.c      whole nodes, and what Python sees
 */
#ifndef LEEWAY_NATIVE_H
#define LEEWAY_NATIVE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdint.h>
#include <string.h>

#define UNKNOWN 0u         /* the row of a name that nobody knows */
#define UNASKED UINT32_MAX /* in a table: this code was not asked about yet */
#define UNKNOWN_NODE 1u    /* the place of a name that nobody knows */

/* The limits are those of plain.py. */
#define MAX_ROW ((1u << 24) - 1)
#define MAX_PLACES (1u << 20)
#define MAX_QUESTIONS 64
#define MAX_NAME 65535
#define MAX_BODY (UINT32_MAX - 15)
#define MAX_UNIT ((int64_t)1 << 60)
#define MAX_SCORE 10

/* Literal i, the JSON text of name i, stands in `data` from starts[i] on, and one byte, a comma,
 * parts it from literal i + 1. So its length is starts[i + 1] - starts[i] - 1, in a request and in
 * what was put together from literals alike. */
typedef struct {
    PyObject_HEAD
    PyObject *text; /* the bytes object that holds `data` */
    const char *data;
    size_t count;
    uint32_t max_row;
    uint32_t *row;
    uint32_t *starts; /* one more than rows */
    uint32_t *place;  /* by candidate; NULL until judged */
    uint32_t *counts; /* by place */
    size_t places;
} Candidates;

/* A buffer of unsigned 32-bit integers. `data` may stand at any address. */
typedef struct {
    Py_buffer buffer;
    const char *data;
    size_t length;
} Codes;

/* Question i looks up what table[i] says of the code that column[i] has for a row. */
typedef struct {
    size_t count;
    Codes column[MAX_QUESTIONS];
    Codes table[MAX_QUESTIONS];
} Questions;

/* ---- Numbers and bytes ---- */

/* Any address: a plain pointer would have to be aligned. */
static inline uint64_t load64(const char *from) {
    uint64_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

static inline uint32_t code_at(const Codes *codes, size_t i) {
    uint32_t code;
    memcpy(&code, codes->data + i * sizeof code, sizeof code);
    return code;
}

static inline uint32_t look_up(const Codes *table, uint32_t code) {
    return code < table->length ? code_at(table, code) : UNASKED;
}

static inline size_t literal_length(const Candidates *self, size_t i) {
    return self->starts[i + 1] - self->starts[i] - 1;
}

/* Set an error; -1. */
int fail(PyObject *kind, const char *message);
/* An int between low and high. */
int take_number(PyObject *object, int64_t low, int64_t high, const char *what, int64_t *number);
/* New and emptied objects of our types. */
void *allocate(PyTypeObject *type);
void release(PyObject *self);
int has_keywords(PyObject *keywords);

/* ---- candidates.c ---- */

extern PyType_Spec candidates_spec;
/* Room for so many candidates, and a start more. */
int resize_candidates(Candidates *self, size_t capacity);
int must_be_judged(const Candidates *self);

/* ---- index.c ---- */

extern PyType_Spec index_spec;
PyObject *count_names(PyObject *module, PyObject *args);

/* ---- questions.c ---- */

/* What was taken must be released. */
int take_column(const Candidates *self, PyObject *object, Codes *codes);
int take_questions(const Candidates *self, PyObject *columns, PyObject *tables, Questions *questions);
void release_questions(Questions *questions);

/* ---- answers.c: methods of Candidates ---- */

PyObject *candidates_names(Candidates *self, PyObject *unused);
PyObject *candidates_members(Candidates *self, PyObject *texts);
PyObject *candidates_score(Candidates *self, PyObject *args);

/* ---- module.c ---- */

/* The type of candidates that belongs to the module of this object. NULL and an error if none. */
PyTypeObject *candidates_type(PyObject *self);

#endif
