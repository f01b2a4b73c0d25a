/* The columns and tables that a caller passes. */
#include "native.h"

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

/* A column has a code for each row that is asked about: this is where that is made sure of. */
int take_column(const Candidates *self, PyObject *object, Codes *codes) {
    if (take_codes(object, codes) < 0) return -1;
    if (self->max_row == 0 || self->max_row < codes->length) return 0;
    PyBuffer_Release(&codes->buffer);
    return fail(PyExc_ValueError, "a column is too short");
}

void release_questions(Questions *questions) {
    while (questions->count > 0) {
        questions->count--;
        PyBuffer_Release(&questions->column[questions->count].buffer);
        PyBuffer_Release(&questions->table[questions->count].buffer);
    }
}

static int fill_questions(const Candidates *self, PyObject *columns, PyObject *tables,
                          Questions *questions) {
    Py_ssize_t count = PyTuple_Size(columns);
    if (count != PyTuple_Size(tables)) {
        return fail(PyExc_ValueError, "there must be a table for each column");
    }
    if (count > MAX_QUESTIONS) return fail(PyExc_ValueError, "there are too many questions");
    for (Py_ssize_t i = 0; i < count; i++) {
        if (take_column(self, PyTuple_GetItem(columns, i), &questions->column[i]) < 0) return -1;
        if (take_codes(PyTuple_GetItem(tables, i), &questions->table[i]) < 0) {
            PyBuffer_Release(&questions->column[i].buffer);
            return -1;
        }
        questions->count++;
    }
    return 0;
}

int take_questions(const Candidates *self, PyObject *columns, PyObject *tables, Questions *questions) {
    int told = -1;
    questions->count = 0;
    PyObject *column_tuple = PySequence_Tuple(columns);
    PyObject *table_tuple = column_tuple == NULL ? NULL : PySequence_Tuple(tables);
    if (table_tuple != NULL) told = fill_questions(self, column_tuple, table_tuple, questions);
    if (told < 0) release_questions(questions);
    Py_XDECREF(column_tuple);
    Py_XDECREF(table_tuple);
    return told;
}
