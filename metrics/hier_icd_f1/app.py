"""The Space of hier_icd_f1; a thin face of clinical-evals."""

from clinical_evals.spaces.codes_page import make_page
from clinical_evals.spaces.page import LAUNCH

demo = make_page()

if __name__ == "__main__":
    demo.launch(**LAUNCH)
