/* Candidates: the rows of one request, and the place of each in the answer. */
#include "native.h"

/* ---- Construction ---- */

int resize_candidates(Candidates *self, size_t capacity) {
    uint32_t *row = PyMem_Realloc(self->row, (capacity + 1) * sizeof *row);
    if (row != NULL) self->row = row;
    uint32_t *starts = PyMem_Realloc(self->starts, (capacity + 1) * sizeof *starts);
    if (starts != NULL) self->starts = starts;
    if (row != NULL && starts != NULL) return 0;
    PyErr_NoMemory();
    return -1;
}

/* The text of all literals, with a comma behind each. The starts are known. */
static int join_literals(Candidates *self, PyObject *literals) {
    self->text = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)self->starts[self->count]);
    if (self->text == NULL) return -1;
    char *data = PyBytes_AsString(self->text);
    for (size_t i = 0; i < self->count; i++) {
        const char *literal = PyBytes_AsString(PyTuple_GetItem(literals, (Py_ssize_t)i));
        memcpy(data + self->starts[i], literal, literal_length(self, i));
        data[self->starts[i + 1] - 1] = ',';
    }
    self->data = data;
    return 0;
}

/* Fill it from two tuples of the same size. */
static int fill(Candidates *self, PyObject *rows, PyObject *literals) {
    size_t count = (size_t)PyTuple_Size(rows), at = 0;
    if (resize_candidates(self, count) < 0) return -1;
    for (size_t i = 0; i < count; i++) {
        PyObject *literal = PyTuple_GetItem(literals, (Py_ssize_t)i);
        int64_t row;
        if (take_number(PyTuple_GetItem(rows, (Py_ssize_t)i), 0, MAX_ROW, "row", &row) < 0) return -1;
        if (!PyBytes_Check(literal)) return fail(PyExc_TypeError, "bytes are needed");
        self->row[i] = (uint32_t)row;
        self->starts[i] = (uint32_t)at;
        if (row > self->max_row) self->max_row = (uint32_t)row;
        at += (size_t)PyBytes_Size(literal) + 1;
        if (at > MAX_BODY) return fail(PyExc_ValueError, "the literals are too long");
    }
    self->starts[count] = (uint32_t)at;
    self->count = count;
    return join_literals(self, literals);
}

static Candidates *make(PyTypeObject *type, PyObject *rows, PyObject *literals) {
    if (PyTuple_Size(rows) != PyTuple_Size(literals)) {
        fail(PyExc_ValueError, "there must be a literal for each row");
        return NULL;
    }
    Candidates *self = allocate(type);
    if (self != NULL && fill(self, rows, literals) < 0) Py_CLEAR(self);
    return self;
}

static PyObject *candidates_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    PyObject *rows, *literals;
    Candidates *self = NULL;
    if (has_keywords(keywords)) return NULL;
    if (!PyArg_ParseTuple(args, "OO:Candidates", &rows, &literals)) return NULL;
    PyObject *row_tuple = PySequence_Tuple(rows);
    PyObject *literal_tuple = row_tuple == NULL ? NULL : PySequence_Tuple(literals);
    if (literal_tuple != NULL) self = make(type, row_tuple, literal_tuple);
    Py_XDECREF(row_tuple);
    Py_XDECREF(literal_tuple);
    return (PyObject *)self;
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

static Py_ssize_t candidates_length(Candidates *self) {
    return (Py_ssize_t)self->count;
}

/* ---- Verdicts ---- */

typedef struct {
    Questions questions;
    uint32_t sizes[MAX_QUESTIONS];
    uint32_t base[MAX_QUESTIONS]; /* refusal k of a question has the place base + k */
    uint32_t *place;              /* by candidate */
    uint32_t *counts;             /* by place */
    size_t places;
} Judgement;

static int fill_sizes(Judgement *judgement, PyObject *sizes) {
    size_t count = judgement->questions.count;
    if ((size_t)PyTuple_Size(sizes) != count) {
        return fail(PyExc_ValueError, "there must be a size for each table");
    }
    judgement->places = 2;
    for (size_t i = 0; i < count; i++) {
        int64_t size;
        PyObject *number = PyTuple_GetItem(sizes, (Py_ssize_t)i);
        if (take_number(number, 0, MAX_PLACES, "size", &size) < 0) return -1;
        judgement->sizes[i] = (uint32_t)size;
        judgement->base[i] = (uint32_t)judgement->places - 1;
        judgement->places += (size_t)size;
    }
    if (judgement->places <= MAX_PLACES) return 0;
    return fail(PyExc_ValueError, "there are too many places");
}

static int take_sizes(Judgement *judgement, PyObject *sizes) {
    PyObject *tuple = PySequence_Tuple(sizes);
    if (tuple == NULL) return -1;
    int told = fill_sizes(judgement, tuple);
    Py_DECREF(tuple);
    return told;
}

/* Compilers make vector code of this; a conditional expression becomes a jump. */
static inline uint32_t all_bits_if(int condition) {
    return -(uint32_t)condition;
}

/* Ask one question of some candidates. Not 0 if the table said what is no refusal.
 *
 * It is asked even of those that are refused already: no processor can predict which candidate is
 * refused where, and a wrong guess costs more than a look into a table. The row of an unknown node
 * is 0, so a column has a code for it, too. */
#define CHUNK 512
static uint32_t ask(const Judgement *judgement, size_t question, const uint32_t *row, uint32_t *place,
                    size_t count) {
    const Codes column = judgement->questions.column[question];
    const Codes table = judgement->questions.table[question];
    const uint32_t base = judgement->base[question], size = judgement->sizes[question];
    uint32_t said[CHUNK], odd = 0;
    for (size_t i = 0; i < count; i++) said[i] = look_up(&table, code_at(&column, row[i]));
    for (size_t i = 0; i < count; i++) {
        uint32_t open = all_bits_if(place[i] == 0);
        odd |= open & all_bits_if(said[i] > size);
        place[i] |= open & all_bits_if(said[i] != 0) & (base + said[i]);
    }
    return odd;
}

/* Give each candidate its place. Not 0 if a table said what is no refusal. */
static uint32_t judge_all(const Candidates *self, const Judgement *judgement) {
    size_t questions = self->max_row == 0 ? 0 : judgement->questions.count;
    uint32_t odd = 0;
    for (size_t from = 0; from < self->count; from += CHUNK) {
        size_t count = self->count - from < CHUNK ? self->count - from : CHUNK;
        const uint32_t *row = self->row + from;
        uint32_t *place = judgement->place + from;
        for (size_t i = 0; i < count; i++) place[i] = row[i] == UNKNOWN ? UNKNOWN_NODE : 0;
        for (size_t k = 0; k < questions; k++) odd |= ask(judgement, k, row, place, count);
    }
    return odd;
}

/* Neighbours are counted apart, because to add to a number that was just stored takes long. */
static void count_places(const Judgement *judgement, size_t count) {
    uint32_t *even = judgement->counts, *odd = even + judgement->places;
    for (size_t i = 0; i + 1 < count; i += 2) {
        even[judgement->place[i]]++;
        odd[judgement->place[i + 1]]++;
    }
    if (count % 2 == 1) even[judgement->place[count - 1]]++;
    for (size_t i = 0; i < judgement->places; i++) even[i] += odd[i];
}

/* The first question with an unasked code; -2 and an error if a refusal up to there is beyond the
 * size of its question. */
static int first_unasked(const Candidates *self, const Judgement *judgement) {
    const Questions *questions = &judgement->questions;
    size_t unasked = MAX_QUESTIONS, beyond = MAX_QUESTIONS;
    for (size_t i = 0; i < self->count; i++) {
        uint32_t row = self->row[i], said = 0;
        for (size_t k = 0; row != UNKNOWN && said == 0 && k < questions->count; k++) {
            said = look_up(&questions->table[k], code_at(&questions->column[k], row));
            if (said <= judgement->sizes[k]) continue;
            if (said == UNASKED && k < unasked) unasked = k;
            if (said != UNASKED && k < beyond) beyond = k;
        }
    }
    if (unasked < beyond) return (int)unasked;
    fail(PyExc_ValueError, "a table holds a refusal beyond its size");
    return -2;
}

/* The first question with an unasked code; -1 if there is none; -2 for an error. */
static int judge(const Candidates *self, Judgement *judgement) {
    judgement->place = PyMem_Malloc((self->count + 1) * sizeof *judgement->place);
    judgement->counts = PyMem_Calloc(2 * judgement->places, sizeof *judgement->counts);
    if (judgement->place == NULL || judgement->counts == NULL) {
        PyErr_NoMemory();
        return -2;
    }
    if (judge_all(self, judgement)) return first_unasked(self, judgement);
    count_places(judgement, self->count);
    return -1;
}

static PyObject *candidates_judge(Candidates *self, PyObject *args) {
    PyObject *columns, *tables, *sizes;
    Judgement judgement;
    if (!PyArg_ParseTuple(args, "OOO:judge", &columns, &tables, &sizes)) return NULL;
    if (take_questions(self, columns, tables, &judgement.questions) < 0) return NULL;
    if (take_sizes(&judgement, sizes) < 0) {
        release_questions(&judgement.questions);
        return NULL;
    }
    forget_places(self);
    int told = judge(self, &judgement);
    release_questions(&judgement.questions);
    if (told == -1) {
        forget_places(self); /* of a call from within the release of a buffer */
        self->place = judgement.place;
        self->counts = judgement.counts;
        self->places = judgement.places;
    } else {
        PyMem_Free(judgement.place);
        PyMem_Free(judgement.counts);
    }
    return told == -2 ? NULL : PyLong_FromLong(told);
}

int must_be_judged(const Candidates *self) {
    return self->place != NULL ? 0 : fail(PyExc_ValueError, "the candidates were not judged yet");
}

/* ---- What was said, as numbers ---- */

/* A memoryview of a copy of these numbers. */
static PyObject *make_view(const uint32_t *numbers, size_t count) {
    Py_ssize_t size = (Py_ssize_t)(count * sizeof *numbers);
    PyObject *bytes = PyBytes_FromStringAndSize((const char *)numbers, size);
    if (bytes == NULL) return NULL;
    PyObject *raw = PyMemoryView_FromObject(bytes);
    Py_DECREF(bytes);
    if (raw == NULL) return NULL;
    PyObject *view = PyObject_CallMethod(raw, "cast", "s", "I");
    Py_DECREF(raw);
    return view;
}

static PyObject *candidates_counts(Candidates *self, void *unused) {
    (void)unused;
    return must_be_judged(self) < 0 ? NULL : make_view(self->counts, self->places);
}

static PyObject *candidates_places(Candidates *self, void *unused) {
    (void)unused;
    return must_be_judged(self) < 0 ? NULL : make_view(self->place, self->count);
}

static PyObject *candidates_rows(Candidates *self, PyObject *number) {
    int64_t place;
    size_t found = 0;
    if (must_be_judged(self) < 0) return NULL;
    if (take_number(number, 0, (int64_t)self->places - 1, "place", &place) < 0) return NULL;
    uint32_t *rows = PyMem_Malloc((self->counts[place] + (size_t)1) * sizeof *rows);
    if (rows == NULL) return PyErr_NoMemory();
    for (size_t i = 0; i < self->count; i++) {
        if (self->place[i] == place) rows[found++] = self->row[i];
    }
    PyObject *view = make_view(rows, found);
    PyMem_Free(rows);
    return view;
}

static PyObject *candidates_passing_bits(Candidates *self, PyObject *number) {
    int64_t size;
    if (must_be_judged(self) < 0) return NULL;
    if (take_number(number, 0, (int64_t)MAX_ROW + 1, "size", &size) < 0) return NULL;
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)((size + 7) / 8));
    if (bytes == NULL) return NULL;
    unsigned char *bits = (unsigned char *)PyBytes_AsString(bytes);
    memset(bits, 0, (size_t)((size + 7) / 8));
    for (size_t i = 0; i < self->count; i++) {
        uint32_t row = self->row[i];
        if (self->place[i] == 0 && row < size) bits[row >> 3] |= (unsigned char)(1u << (row & 7));
    }
    return bytes;
}

static int all_pass(const Questions *questions, uint32_t row) {
    for (size_t i = 0; i < questions->count; i++) {
        if (look_up(&questions->table[i], code_at(&questions->column[i], row)) != 0) return 0;
    }
    return 1;
}

static PyObject *count_codes(const Candidates *self, const Questions *questions, const Codes *column,
                             size_t size) {
    uint32_t *counts = PyMem_Calloc(size + 1, sizeof *counts);
    if (counts == NULL) return PyErr_NoMemory();
    for (size_t i = 0; i < self->count; i++) {
        uint32_t row = self->row[i];
        if (row == UNKNOWN || !all_pass(questions, row)) continue;
        uint32_t code = code_at(column, row);
        if (code < size) counts[code]++;
    }
    PyObject *view = make_view(counts, size);
    PyMem_Free(counts);
    return view;
}

static PyObject *candidates_reached(Candidates *self, PyObject *args) {
    PyObject *columns, *tables, *object, *number, *view = NULL;
    Questions questions;
    Codes column;
    int64_t size;
    if (!PyArg_ParseTuple(args, "OOOO:reached", &columns, &tables, &object, &number)) return NULL;
    if (take_number(number, 0, MAX_PLACES, "size", &size) < 0) return NULL;
    if (take_questions(self, columns, tables, &questions) < 0) return NULL;
    if (take_column(self, object, &column) == 0) {
        view = count_codes(self, &questions, &column, (size_t)size);
        PyBuffer_Release(&column.buffer);
    }
    release_questions(&questions);
    return view;
}

/* ---- The type ---- */

static PyMethodDef methods[] = {
    {"judge", (PyCFunction)candidates_judge, METH_VARARGS, NULL},
    {"reached", (PyCFunction)candidates_reached, METH_VARARGS, NULL},
    {"rows", (PyCFunction)candidates_rows, METH_O, NULL},
    {"passing_bits", (PyCFunction)candidates_passing_bits, METH_O, NULL},
    {"names", (PyCFunction)candidates_names, METH_NOARGS, NULL},
    {"members", (PyCFunction)candidates_members, METH_O, NULL},
    {"score", (PyCFunction)candidates_score, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"counts", (getter)candidates_counts, NULL, NULL, NULL},
    {"places", (getter)candidates_places, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "The nodes that a request asks about, in its order."},
    {Py_tp_new, candidates_new},
    {Py_tp_dealloc, candidates_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_sq_length, candidates_length},
    {0, NULL},
};

PyType_Spec candidates_spec = {
    .name = "extender.rows._native.Candidates",
    .basicsize = sizeof(Candidates),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
