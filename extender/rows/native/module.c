/* Whole nodes, what all of the others need, and what Python sees. */
#include "native.h"

int fail(PyObject *kind, const char *message) {
    PyErr_SetString(kind, message);
    return -1;
}

int take_number(PyObject *object, int64_t low, int64_t high, const char *what, int64_t *number) {
    int overflow;
    if (!PyLong_Check(object)) {
        PyErr_Format(PyExc_TypeError, "the %s must be an int", what);
        return -1;
    }
    long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow || value < low || value > high) {
        PyErr_Format(PyExc_ValueError, "the %s is out of range", what);
        return -1;
    }
    *number = value;
    return 0;
}

void *allocate(PyTypeObject *type) {
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    return alloc(type, 0);
}

void release(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    freefunc give_back = (freefunc)PyType_GetSlot(type, Py_tp_free);
    give_back(self);
    Py_DECREF((PyObject *)type);
}

int has_keywords(PyObject *keywords) {
    if (keywords == NULL || PyDict_Size(keywords) == 0) return 0;
    fail(PyExc_TypeError, "no keywords are taken");
    return 1;
}

/* ---- Whole nodes ---- */

/* The name of the node that begins here, as bytes. NULL without an error if none begins here. */
static PyObject *node_name(const char *text, size_t size) {
    static const char start[] = ",{\"metadata\":{\"name\":\"";
    const size_t before = sizeof start - 1;
    if (size < before || memcmp(text, start, before) != 0) return NULL;
    const char *name = text + before, *quote = memchr(name, '"', size - before);
    return quote == NULL ? NULL : PyBytes_FromStringAndSize(name, quote - name);
}

/* How long the text of a known node is if it stands here; 0 if not; -1 and an error if it has none. */
static Py_ssize_t node_length(PyObject *node, const char *text, size_t size) {
    PyObject *own = PyTuple_Check(node) && PyTuple_Size(node) > 0 ? PyTuple_GetItem(node, 0) : NULL;
    if (own == NULL || !PyBytes_Check(own)) {
        return fail(PyExc_TypeError, "a known node must be a tuple that begins with its text");
    }
    Py_ssize_t length = PyBytes_Size(own);
    if ((size_t)length > size || memcmp(text, PyBytes_AsString(own), (size_t)length) != 0) return 0;
    return length;
}

/* Take one node into `found`: how long it is, 0 if it is not known, -1 for an error. */
static Py_ssize_t take_node(PyObject *known, PyObject *found, const char *text, size_t size) {
    PyObject *name = node_name(text, size);
    if (name == NULL) return PyErr_Occurred() ? -1 : 0;
    PyObject *node = PyDict_GetItemWithError(known, name);
    Py_XINCREF(node);
    Py_DECREF(name);
    if (node == NULL) return PyErr_Occurred() ? -1 : 0;
    Py_ssize_t length = node_length(node, text, size);
    if (length > 0 && PyList_Append(found, node) < 0) length = -1;
    Py_DECREF(node);
    return length;
}

static PyObject *recognise(PyObject *module, PyObject *args) {
    PyObject *text, *number, *known;
    int64_t at;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOO!:recognise", &text, &number, &PyDict_Type, &known)) return NULL;
    if (!PyBytes_Check(text)) {
        fail(PyExc_TypeError, "bytes are needed");
        return NULL;
    }
    if (take_number(number, 0, PY_SSIZE_T_MAX, "at", &at) < 0) return NULL;
    const char *data = PyBytes_AsString(text);
    size_t size = (size_t)PyBytes_Size(text);
    PyObject *found = PyList_New(0);
    Py_ssize_t length = found == NULL ? -1 : 1;
    while (length > 0 && (uint64_t)at < size) {
        length = take_node(known, found, data + at, size - (size_t)at);
        if (length > 0) at += length;
    }
    if (length < 0) {
        Py_XDECREF(found);
        return NULL;
    }
    return Py_BuildValue("(NL)", found, (long long)at);
}

/* ---- The module ---- */

typedef struct {
    PyTypeObject *candidates;
} State;

PyTypeObject *candidates_type(PyObject *self) {
    PyObject *module = PyType_GetModule(Py_TYPE(self));
    return module == NULL ? NULL : ((State *)PyModule_GetState(module))->candidates;
}

static int add_types(PyObject *module) {
    State *state = PyModule_GetState(module);
    PyObject *candidates = PyType_FromModuleAndSpec(module, &candidates_spec, NULL);
    if (candidates == NULL) return -1;
    state->candidates = (PyTypeObject *)candidates;
    PyObject *index = PyType_FromModuleAndSpec(module, &index_spec, NULL);
    if (index == NULL) return -1;
    int told = PyModule_AddObjectRef(module, "NameIndex", index);
    Py_DECREF(index);
    return told < 0 ? -1 : PyModule_AddObjectRef(module, "Candidates", candidates);
}

static int traverse(PyObject *module, visitproc visit, void *arg) {
    State *state = PyModule_GetState(module);
    Py_VISIT((PyObject *)state->candidates);
    return 0;
}

static int clear(PyObject *module) {
    State *state = PyModule_GetState(module);
    Py_CLEAR(state->candidates);
    return 0;
}

static PyMethodDef functions[] = {
    {"count_names", count_names, METH_VARARGS, NULL},
    {"recognise", recognise, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, add_types},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "extender.rows._native",
    .m_doc = "Names to rows, rows to answers, in C.",
    .m_size = sizeof(State),
    .m_methods = functions,
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
};

PyMODINIT_FUNC PyInit__native(void) {
    return PyModuleDef_Init(&definition);
}
