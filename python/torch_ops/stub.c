/* A library of the name of torch's, with nothing in it: see CMakeLists.txt. */
extern int hstujit_torch_stub;
int hstujit_torch_stub;
