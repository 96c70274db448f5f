"""What the metric Spaces show; `metrics/NAME/app.py` are their thin faces, and `make spaces` runs them here.

    codes, departments              what is asked and what comes out, without any page
    codes_page, departments_page    the pages, for gradio
    page                            what the pages share
    servers, __main__               the Spaces on this machine: `python -m clinical_evals.spaces`

Nothing that is typed is kept: no analytics, no flagging, no history of runs, no log.
"""
