"""The Space of department_accuracy; a thin face of clinical-evals."""

from clinical_evals.spaces.departments_page import make_page
from clinical_evals.spaces.page import LAUNCH

demo = make_page()

if __name__ == "__main__":
    demo.launch(**LAUNCH)
