"""The functions and classes of other libraries, under their names and with their arguments, on hstujit's operators.

generative_recommenders  meta-recsys/generative-recommenders
hstu                     the wheel `hstu` of NVIDIA's FBGEMM, which recsys-examples and TorchEasyRec use
hstu_attn                corelib/hstu of NVIDIA/recsys-examples
tzrec                    alibaba/TorchEasyRec
triton_ops               LessUp/triton-fused-ops

Every argument means what it means there, or is ignored where it cannot change the result, or raises hstujit.Error where the
operators have nothing for it: `table.py` says which, and docs/switching shows it. Functions record gradients where their
operators do, and raise NotImplementedError where a gradient is needed that these do not have.
"""
