// SPDX-License-Identifier: Apache-2.0
// The module fanin._calls: short calls of the C interface, for which ctypes takes longer than the reduction. It uses
// the stable interface of Python 3.11. Without this module all calls are long calls, which the package makes by
// ctypes.
#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include <fanin/fanin.h>

namespace {

/// The functions of the library that the package has loaded. use() sets them.
struct {
  decltype(&fanin_reduce) reduce;
  decltype(&fanin_reduce_batch) reduce_batch;
  decltype(&fanin_context_enqueue) enqueue;
  decltype(&fanin_context_enqueue_batch) enqueue_batch;
  decltype(&fanin_context_enqueue_add_to) enqueue_add_to;
} library;

template <class T>
T* at(unsigned long long address) {
  return reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
}

/// Raises the exception of a status that is not FANIN_OK. Returns None.
PyObject* checked(fanin_status status) {
  if (status == FANIN_OK) Py_RETURN_NONE;
  PyObject* const module = PyImport_ImportModule("fanin._library");
  if (module == nullptr) return nullptr;
  PyObject* const none = PyObject_CallMethod(module, "check", "i", static_cast<int>(status));
  Py_DECREF(module);
  return none;
}

PyObject* not_implemented() { return Py_NewRef(Py_NotImplemented); }

/// A type of objects with methods and without attributes.
template <class T>
void destroy(PyObject* self) {
  reinterpret_cast<T*>(self)->clear();
  PyTypeObject* const type = Py_TYPE(self);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

template <class T>
T* allocated(PyTypeObject* type) {
  return reinterpret_cast<T*>(reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc))(type, 0));
}

// ---- Calls for addresses
// --------------------------------------------------------------------------------------------

/// A call of an operation, of which all but addresses and counts is kept. With a context the call is enqueued there;
/// without one the elements are in host memory. The call is that of a batch if there is one. With `adds` the elements
/// are added to earlier results, which only groups and segments in device memory are.
struct Call {
  PyObject ob_base;
  fanin_operation what;
  fanin_context* context;
  const fanin_options* options;
  fanin_input input;
  const fanin_batch* batch;
  fanin_output output;
  PyObject *acquire, *release;  // methods of the context's lock; a context serves one call at a time
  PyObject* kept;               // what owns the structs
  int adds;

  void clear() {
    Py_XDECREF(acquire);
    Py_XDECREF(release);
    Py_XDECREF(kept);
  }
  fanin_status make(const fanin_input& x, const fanin_batch* many, const fanin_output& results) const {
    if (context == nullptr) {
      return many == nullptr ? library.reduce(what, &x, options, results.data, nullptr)
                             : library.reduce_batch(what, &x, many, options, &results, nullptr);
    }
    if (adds != 0) return library.enqueue_add_to(context, what, &x, many, options, &results);
    return many == nullptr ? library.enqueue(context, what, &x, options, results.data)
                           : library.enqueue_batch(context, what, &x, many, options, &results);
  }
};

/// Call(what, context, lock, input, options, batch, output, adds, kept). Numbers that are not codes are addresses, or
/// 0.
PyObject* new_call(PyTypeObject* type, PyObject* arguments, PyObject*) {
  int what, adds;
  unsigned long long context, input, options, batch, output;
  PyObject *lock, *kept;
  if (!PyArg_ParseTuple(arguments, "iKOKKKKpO", &what, &context, &lock, &input, &options, &batch, &output, &adds,
                        &kept)) {
    return nullptr;
  }
  auto* const self = allocated<Call>(type);
  if (self == nullptr) return nullptr;
  self->what = static_cast<fanin_operation>(what);
  self->context = at<fanin_context>(context);
  self->options = at<const fanin_options>(options);
  self->input = *at<const fanin_input>(input);
  self->batch = at<const fanin_batch>(batch);
  self->output = output == 0 ? fanin_output FANIN_OUTPUT_INIT : *at<const fanin_output>(output);
  self->adds = adds;
  self->kept = Py_NewRef(kept);
  if (lock != Py_None) {
    self->acquire = PyObject_GetAttrString(lock, "acquire");
    self->release = PyObject_GetAttrString(lock, "release");
    if (self->acquire == nullptr || self->release == nullptr) {
      Py_DECREF(self);
      return nullptr;
    }
  }
  return reinterpret_cast<PyObject*>(self);
}

/// run(x, results, count, y, index, index_count, result_count): the addresses and counts of a call. The last ones may
/// be left out: a count is then that of the struct.
PyObject* run(PyObject* object, PyObject* const* arguments, Py_ssize_t number) {
  const auto& self = *reinterpret_cast<const Call*>(object);
  unsigned long long given[7] = {};
  if (number < 2 || number > 7) return PyErr_Format(PyExc_TypeError, "run() takes 2 to 7 numbers");
  for (Py_ssize_t i = 0; i < number; ++i) given[i] = PyLong_AsUnsignedLongLong(arguments[i]);
  if (PyErr_Occurred() != nullptr) return nullptr;
  fanin_input x = self.input;
  fanin_output results = self.output;
  fanin_batch many;
  x.x = at<const void>(given[0]);
  results.data = at<void>(given[1]);
  if (number > 2) x.count = given[2];
  x.y = at<const void>(given[3]);
  if (self.batch != nullptr) many = *self.batch;
  if (number > 4) {
    many.index = at<const void>(given[4]);
    many.index_count = given[5];
    results.count = given[6];
  }
  if (self.acquire != nullptr) {
    PyObject* const done = PyObject_CallNoArgs(self.acquire);
    if (done == nullptr) return nullptr;
    Py_DECREF(done);
  }
  fanin_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = self.make(x, self.batch == nullptr ? nullptr : &many, results);
  Py_END_ALLOW_THREADS;
  if (self.release != nullptr) {
    PyObject* const done = PyObject_CallNoArgs(self.release);
    if (done == nullptr) return nullptr;
    Py_DECREF(done);
  }
  return checked(status);
}

// ---- Calls for buffers
// ----------------------------------------------------------------------------------------------

/// A call for the contiguous buffers of one class and format.
struct BufferCall {
  PyObject ob_base;
  fanin_operation what;
  fanin_type type;
  int shift;                 // the size of an element is 1 << shift
  unsigned long long most;   // buffers of that many bytes or more are for the long call
  std::uintptr_t unaligned;  // the bits that an address may not have
  const fanin_options* options;
  int letter;         // the format of a number that is a result
  int item;           // which number of this size in the result is the value
  PyObject* scalars;  // an array of numpy over 16 bytes, whose items are results; or null
  Py_buffer bytes;    // its memory
  PyObject* kept;

  void clear() {
    if (scalars != nullptr) PyBuffer_Release(&bytes);
    Py_XDECREF(scalars);
    Py_XDECREF(kept);
  }
};

/// BufferCall(what, type, shift, most, unaligned, options, letter, item, scalars, kept). `options` is an address.
PyObject* new_buffer_call(PyTypeObject* type, PyObject* arguments, PyObject*) {
  int what, element, shift, letter, item;
  unsigned long long most, unaligned, options;
  PyObject *scalars, *kept;
  if (!PyArg_ParseTuple(arguments, "iiiKKKCiOO", &what, &element, &shift, &most, &unaligned, &options, &letter, &item,
                        &scalars, &kept)) {
    return nullptr;
  }
  auto* const self = allocated<BufferCall>(type);
  if (self == nullptr) return nullptr;
  self->what = static_cast<fanin_operation>(what);
  self->type = static_cast<fanin_type>(element);
  self->shift = shift;
  self->most = most;
  self->unaligned = static_cast<std::uintptr_t>(unaligned);
  self->options = at<const fanin_options>(options);
  self->letter = letter;
  self->item = item;
  self->kept = Py_NewRef(kept);
  if (scalars != Py_None) {
    if (PyObject_GetBuffer(scalars, &self->bytes, PyBUF_WRITABLE) != 0) {
      Py_DECREF(self);
      return nullptr;
    }
    self->scalars = Py_NewRef(scalars);
  }
  return reinterpret_cast<PyObject*>(self);
}

/// The number of f32 with these bits. If the processor takes subnormal numbers as 0, it would convert them to 0.
double float_of(std::uint32_t bits) {
  if ((bits & 0x7f800000) != 0) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
  }
  const double size = std::ldexp(static_cast<double>(bits & 0x7fffff), -149);
  return bits >> 31 != 0 ? -size : size;
}

template <class T>
T number_at(const std::uint64_t* result, int item) {
  T number;
  std::memcpy(&number, reinterpret_cast<const char*>(result) + item * sizeof(T), sizeof(T));
  return number;
}

PyObject* value_of(const BufferCall& call, const std::uint64_t* result) {
  if (call.scalars != nullptr) {
    std::memcpy(call.bytes.buf, result, 16);
    return PySequence_GetItem(call.scalars, call.item);
  }
  switch (call.letter) {
    case 'd':
      return PyFloat_FromDouble(number_at<double>(result, call.item));
    case 'f':
      return PyFloat_FromDouble(float_of(number_at<std::uint32_t>(result, call.item)));
    case '?':
      return PyBool_FromLong(number_at<std::uint8_t>(result, call.item));
    case 'b':
      return PyLong_FromLong(number_at<std::int8_t>(result, call.item));
    case 'B':
      return PyLong_FromLong(number_at<std::uint8_t>(result, call.item));
    case 'h':
      return PyLong_FromLong(number_at<std::int16_t>(result, call.item));
    case 'H':
      return PyLong_FromLong(number_at<std::uint16_t>(result, call.item));
    case 'i':
      return PyLong_FromLong(number_at<std::int32_t>(result, call.item));
    case 'I':
      return PyLong_FromUnsignedLong(number_at<std::uint32_t>(result, call.item));
    case 'q':
      return PyLong_FromLongLong(number_at<std::int64_t>(result, call.item));
    default:
      return PyLong_FromUnsignedLongLong(number_at<std::uint64_t>(result, call.item));
  }
}

PyObject* reduced(const BufferCall& call, const Py_buffer& buffer) {
  const auto size = static_cast<unsigned long long>(buffer.len);
  if (size >= call.most || (size > 0 && (reinterpret_cast<std::uintptr_t>(buffer.buf) & call.unaligned) != 0)) {
    return not_implemented();
  }
  fanin_input x = FANIN_INPUT_INIT;
  x.x = buffer.buf;
  x.count = size >> call.shift;
  x.type = call.type;
  std::uint64_t result[2] = {};
  fanin_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = library.reduce(call.what, &x, call.options, result, nullptr);
  Py_END_ALLOW_THREADS;
  if (status != FANIN_OK) return checked(status);
  return value_of(call, result);
}

/// The call that `calls` has for the class and the format of a buffer; NotImplemented where there is none.
PyObject* call_for(PyObject* calls, PyObject* x, const char* format, PyObject* choices, PyObject* dtype) {
  PyObject* const text = format == nullptr ? Py_NewRef(Py_None) : PyBytes_FromString(format);
  if (text == nullptr) return nullptr;
  PyObject* const key = PyTuple_Pack(4, Py_TYPE(x), text, choices, dtype);
  Py_DECREF(text);
  if (key == nullptr) return nullptr;
  PyObject* const call = PyObject_GetItem(calls, key);
  Py_DECREF(key);
  return call;
}

/// reduce_buffer(calls, x, axis, choices, dtype): the result for an array that is contiguous and in host memory;
/// NotImplemented for another one. calls[type(x), format, choices, dtype] is a BufferCall or NotImplemented.
PyObject* reduce_buffer(PyObject*, PyObject* const* arguments, Py_ssize_t number) {
  if (number != 5) return PyErr_Format(PyExc_TypeError, "reduce_buffer() takes 5 arguments");
  PyObject* const x = arguments[1];
  if (arguments[2] != Py_None) return not_implemented();
  Py_buffer buffer;
  if (PyObject_GetBuffer(x, &buffer, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
    for (PyObject* const expected : {PyExc_BufferError, PyExc_ValueError, PyExc_TypeError}) {
      if (PyErr_ExceptionMatches(expected) != 0) {
        PyErr_Clear();
        return not_implemented();
      }
    }
    return nullptr;
  }
  PyObject* const call = call_for(arguments[0], x, buffer.format, arguments[3], arguments[4]);
  PyObject* result = nullptr;
  if (call != nullptr) {
    result =
        call == Py_NotImplemented ? not_implemented() : reduced(*reinterpret_cast<const BufferCall*>(call), buffer);
    Py_DECREF(call);
  }
  PyBuffer_Release(&buffer);
  return result;
}

// ---- The module
// -----------------------------------------------------------------------------------------------------

/// use(reduce, reduce_batch, enqueue, enqueue_batch, enqueue_add_to): the addresses of these functions of the
/// library.
PyObject* use(PyObject*, PyObject* arguments) {
  unsigned long long address[5];
  if (!PyArg_ParseTuple(arguments, "KKKKK", &address[0], &address[1], &address[2], &address[3], &address[4])) {
    return nullptr;
  }
  library = {reinterpret_cast<decltype(library.reduce)>(address[0]),
             reinterpret_cast<decltype(library.reduce_batch)>(address[1]),
             reinterpret_cast<decltype(library.enqueue)>(address[2]),
             reinterpret_cast<decltype(library.enqueue_batch)>(address[3]),
             reinterpret_cast<decltype(library.enqueue_add_to)>(address[4])};
  Py_RETURN_NONE;
}

template <class Function>
constexpr PyCFunction as_method(Function function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef methods_of_call[] = {{"run", as_method(run), METH_FASTCALL, nullptr}, {}};
PyType_Slot slots_of_call[] = {{Py_tp_new, reinterpret_cast<void*>(new_call)},
                               {Py_tp_dealloc, reinterpret_cast<void*>(destroy<Call>)},
                               {Py_tp_methods, methods_of_call},
                               {}};
PyType_Spec spec_of_call = {"fanin._calls.Call", sizeof(Call), 0, Py_TPFLAGS_DEFAULT, slots_of_call};
PyType_Slot slots_of_buffer_call[] = {{Py_tp_new, reinterpret_cast<void*>(new_buffer_call)},
                                      {Py_tp_dealloc, reinterpret_cast<void*>(destroy<BufferCall>)},
                                      {}};
PyType_Spec spec_of_buffer_call = {"fanin._calls.BufferCall", sizeof(BufferCall), 0, Py_TPFLAGS_DEFAULT,
                                   slots_of_buffer_call};
PyMethodDef functions[] = {
    {"reduce_buffer", as_method(reduce_buffer), METH_FASTCALL, nullptr}, {"use", use, METH_VARARGS, nullptr}, {}};
PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "fanin._calls", nullptr, -1, functions, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__calls() {
  PyObject* const module = PyModule_Create(&definition);
  if (module == nullptr) return nullptr;
  for (PyType_Spec* const spec : {&spec_of_call, &spec_of_buffer_call}) {
    PyObject* const type = PyType_FromSpec(spec);
    if (type == nullptr || PyModule_AddType(module, reinterpret_cast<PyTypeObject*>(type)) != 0) return nullptr;
    Py_DECREF(type);
  }
  return module;
}
