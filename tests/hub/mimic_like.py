"""Invented content in MIMIC's form, for the guard's tests: none of it comes from MIMIC."""

import random

_draw = random.Random(20261130)
SUBJECTS = _draw.sample(range(10_000_000, 20_000_000), 200)
ADMISSIONS = _draw.sample(range(20_000_000, 30_000_000), 200)
STAYS = _draw.sample(range(30_000_000, 40_000_000), 200)

SECRET_WORDS = ("marmalade", "trampoline", "zeppelin")
"""Words of the note below: a refusal that shows one of them has quoted the note."""

NOTE = """\
Name:  ___                     Unit No:   ___

Admission Date:  ___              Discharge Date:   ___

Date of Birth:  ___             Sex:   F

Service: MEDICINE

Attending: ___.

Chief Complaint:
Swallowed marmalade jar lid

History of Present Illness:
___ is a ___ year old woman who fell off a trampoline on ___ and was brought in by Dr. ___.

Social History:
___

Brief Hospital Course:
Recovered in view of a zeppelin. Discharged to ___.

Followup Instructions:
___
"""

REPORT = """\
EXAMINATION:  CHEST (PORTABLE AP)

INDICATION:  ___ year old man with marmalade aspiration

COMPARISON:  ___

FINDINGS:
Trampoline-shaped opacity. Discussed with Dr. ___ by phone.

IMPRESSION:
No zeppelin.
"""

CLEAN_NOTE = """\
Service: MEDICINE

Chief Complaint:
Cough for two weeks

History of Present Illness:
An invented 71 year old woman with an invented cough.

Past Medical History:
Hypertension

Brief Hospital Course:
She got better.

Discharge Disposition:
Home
"""
"""The same headings without blanks, as the embedded synthetic sample has them: may leave."""
